"""Why: an executed notebook becomes one HTML file that opens with no network, interactive, safe and printable.

nbconvert turns the cells into HTML; the page around them is ours. Each chart is drawn by one Vega bundle in the head,
taken from vl-convert; the table bundle that itables put into the notebook is kept, compressed.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import tempfile
from contextlib import suppress
from functools import cache
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evalkit.errors import MachineError, UsageError
from evalkit.notebooks.page import CONFIG, POLICY, STYLE
from evalkit.notebooks.provenance import ORDER

__all__ = ["export_html"]

_VEGA_LITE = "6.4"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_CHART = "application/vnd.vegalite."
_WIDGET = "application/vnd.jupyter.widget-view+json"
_DEAD = "<p><em>A control of the live notebook: open it in JupyterLab to use it.</em></p>"

_PACK_FROM = 40_000
"""Characters of a chart from which it is kept compressed in the page."""

_LEAST = 0.83
"""How far a narrow window shrinks a chart before it scrolls: text of 11 pixels, the smallest, stays above 9."""

_WIDE = (
    'const s=document.querySelector("#chart-%d svg");'
    f"if(s)s.style.minWidth={_LEAST}*parseFloat(s.getAttribute('width'))+'px'"
)

_BASE64 = r'\("([A-Za-z0-9+/=]+)"\)'
_TABLES = re.compile(rf"injectCSS{_BASE64};\s*window\.(_itables_\w+) = injectModule{_BASE64}")
_READY = re.compile(r'new Event\("(itables-[^"]+-ready)"\)')

_INFLATE = (
    "const evkInflate=async s=>await new Response(new Blob([Uint8Array.from(atob(s),c=>c.charCodeAt(0))]).stream()"
    '.pipeThrough(new DecompressionStream("gzip"))).text();'
)


def export_html(notebook: Path | str, html: Path | str, *, title: str | None = None) -> Path:
    """Save an executed notebook as one HTML file and return its absolute path.

    Code is left out; outputs and prose stay. No part of the page can make a request. `title` defaults to the notebook's
    name. Raises UsageError where `notebook` is no notebook, MachineError where the file cannot be written.
    """
    import nbformat

    source, target = Path(notebook), Path(html).absolute()
    try:
        node = nbformat.read(source, as_version=4)  # type: ignore[no-untyped-call]
    except Exception as error:  # nbformat raises JSON, schema and key errors of several libraries
        raise UsageError(f"{source} cannot be read as a notebook: {' '.join(str(error).split())[:200]}") from error
    node.metadata.pop("widgets", None)
    told = node.metadata.get("evalkit", {})
    facts = {name: told[name] for name in (*ORDER, *(set(told) - set(ORDER))) if name in told}
    charts = 0
    for cell in node.cells:
        for output in cell.get("outputs", []):
            charts += _still(output, charts)
    page = _page(title or source.stem, _cells(node), facts, bool(charts))
    _write(target, page.encode("utf-8", "replace"))
    return target


def _still(output: Any, count: int) -> int:
    """Make one output ready for the page, in place; return how many charts it held."""
    data = output.get("data")
    if data is None:
        return 0
    spec = next((data[kind] for kind in data if kind.startswith(_CHART)), None)
    if spec is not None:
        output["data"] = {"text/html": _chart(spec, count + 1)}
        return 1
    if _WIDGET in data:
        output["data"] = {"text/html": _DEAD}
    elif isinstance(data.get("text/html"), str):
        data["text/html"] = _tables(data["text/html"])
    return 0


def _chart(spec: Any, number: int) -> str:
    spec = dict(spec, config=_merged(spec.get("config", {}), CONFIG))  # else a chart's own config outdoes the page's
    label = escape(str(spec.get("description", "chart")), quote=True)
    options = {"mode": "vega-lite", "actions": False, "renderer": "svg"}
    text = _json(spec)
    if len(text) > _PACK_FROM:  # a chart of a thousand runs is a megabyte of rows that are much alike
        text = f'JSON.parse(await evkInflate("{_packed(text.encode())}"))'
    return (
        f'<div class="chart" id="chart-{number}" role="img" aria-label="{label}"></div>'
        f'<script>(async()=>{{await vegaEmbed("#chart-{number}",{text},{_json(options)});{_WIDE % number}}})()'
        ".catch(console.error)</script>"
    )


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _merged(under: Any, over: Any) -> Any:
    if not (isinstance(under, dict) and isinstance(over, dict)):
        return over
    return {**under, **{name: _merged(under.get(name), value) for name, value in over.items()}}


def _json(value: Any) -> str:
    """JSON that cannot end its script element or open a comment in it."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _tables(markup: str) -> str:
    """Compress the table bundle that itables embeds; any other markup stays as it is."""
    found, ready = _TABLES.search(markup), _READY.search(markup)
    if found is None or ready is None:
        return markup
    css, name, code = found.groups()
    packed, style = _packed(base64.b64decode(code)), _packed(base64.b64decode(css))
    return (
        f'<script>window.{name}=(async()=>{{const s=document.createElement("style");'
        f's.textContent=await evkInflate("{style}");document.head.prepend(s);'
        f'const u=URL.createObjectURL(new Blob([await evkInflate("{packed}")],{{type:"text/javascript"}}));'
        f"try{{return await import(u)}}finally{{URL.revokeObjectURL(u)}}}})();window.{name}.then(()=>"
        f'window.dispatchEvent(new Event("{ready[1]}")))</script>'
    )


def _cells(node: Any) -> str:
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="basic", mathjax_url="", require_js_url="", mermaid_js_url="", embed_images=False,
        exclude_input=True, exclude_input_prompt=True, exclude_output_prompt=True,
    )  # fmt: skip
    body, _ = exporter.from_notebook_node(node)
    return str(body)


def _page(title: str, body: str, facts: dict[str, Any], charts: bool) -> str:
    from evalkit.views import prose  # here, because it brings altair: a second that a parameter check can do without

    vega = f"<script>{_vega()}</script>" if charts else ""
    vega = (f"<script>{_INFLATE}</script>" if "evkInflate(" in body else "") + vega
    made = prose.provenance(facts)._repr_html_() if facts else "<p>Not recorded: not run by evalkit.</p>"
    return (
        '<!DOCTYPE html>\n<html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY, quote=True)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>{vega}</head>\n<body><main>\n{body}\n</main>\n"
        f"<footer><h2>How this page was made</h2>{made}</footer></body></html>\n"
    )


@cache
def _vega() -> str:
    """The Vega, Vega-Lite and vega-embed bundle; made once a machine and kept, since making it takes seconds."""
    import vl_convert

    kept = _cache_folder() / f"vega-embed-{version('vl-convert-python')}-{_VEGA_LITE}.js"
    with suppress(OSError, UnicodeDecodeError):
        if (text := kept.read_text(encoding="utf-8")).rstrip().endswith("/* whole */"):
            return text
    text = (
        vl_convert.javascript_bundle(_SNIPPET, vl_version=_VEGA_LITE).replace("</script", "<\\/script")
        + "\n/* whole */\n"
    )
    with suppress(MachineError):  # a read-only home only costs time
        _write(kept, text.encode())
    return text


def _cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evalkit"


def _write(target: Path, data: bytes) -> None:
    """Write whole or not at all."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            file.write(data)
        Path(file.name).chmod(0o644)
        Path(file.name).replace(target)
    except OSError as error:
        raise MachineError(f"cannot write {target}: {error.strerror}") from error
