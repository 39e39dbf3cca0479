"""Why: what the browser tests share: a real JupyterLab on loopback, a real Chromium that may go nowhere else.

Nothing of this is installed by the project's lock alone: Debian's Chromium is needed too, and where it is missing the
tests skip and say so.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "build" / "pictures"
"""Where each test leaves what it saw; git ignores it."""

LAPTOP = {"width": 1366, "height": 900}
NARROW = {"width": 640, "height": 900}

# No sandbox: a container's root cannot have one. The rest keeps the browser from calling home.
_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip


def chromium() -> str:
    """The browser's path; skips the test where there is none."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -r requirements.lock")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium here: on Debian, apt-get install chromium")
    return found


@dataclass
class Seen:
    """A page, what it complained of, and where it tried to go."""

    page: Any
    errors: list[str] = field(default_factory=list)
    strayed: list[str] = field(default_factory=list)

    def picture(self, name: str) -> None:
        """Keep what is on the screen."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(PICTURES / f"{name}.png"))

    def assert_clean(self) -> None:
        """No error in the console, and no request off this machine."""
        assert self.errors == []
        assert self.strayed == []


@contextmanager
def open_browser() -> Iterator[Any]:
    """A headless Chromium."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(browser: Any, *, allowed: str | None = None, size: dict[str, int] | None = None) -> Iterator[Seen]:
    """A fresh page that reaches `allowed` (a host and port) and its own files, and nothing else."""
    context = browser.new_context(viewport=size or LAPTOP)
    page = context.new_page()
    seen = Seen(page)

    def gate(route: Any) -> None:
        url = route.request.url
        parts = urlsplit(url)
        if parts.scheme in ("data", "blob", "file", "about") or (allowed and parts.netloc == allowed):
            route.continue_()
        else:
            seen.strayed.append(url)
            route.abort()

    context.route("**/*", gate)
    page.on("console", lambda said: seen.errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    try:
        yield seen
    finally:
        context.close()


@dataclass(frozen=True)
class Lab:
    """A JupyterLab that serves a copy of the notebooks."""

    host: str
    token: str
    folder: Path

    def url(self, notebook: str) -> str:
        """Where a notebook opens, in a workspace of its own."""
        return f"http://{self.host}/lab/workspaces/w{secrets.token_hex(4)}/tree/notebooks/{notebook}?token={self.token}&reset"

    def with_parameters(self, notebook: str, name: str, **values: Any) -> str:
        """Write a copy of a notebook with these parameters instead of its own; returns its name."""
        document = json.loads((self.folder / "notebooks" / notebook).read_text(encoding="utf-8"))
        (cell,) = [cell for cell in document["cells"] if "parameters" in cell["metadata"].get("tags", [])]
        cell["source"] = [f"{key} = {value!r}\n" for key, value in values.items()]
        (self.folder / "notebooks" / name).write_text(json.dumps(document), encoding="utf-8")
        return name


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def open_lab(folder: Path) -> Iterator[Lab]:
    """Serve a copy of the project's notebooks: Lab saves as it goes, and a test changes nothing that is committed."""
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    for name in ("cases", "data"):
        (folder / name).symlink_to(ROOT / name)
    store = f"sqlite:///{folder}/runs.sqlite"
    subprocess.run(
        [sys.executable, "-m", "evalkit.cli", "import", str(ROOT / "data" / "sample"), "--store", store],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    home = folder / "home"
    home.mkdir()
    own = {f"JUPYTER_{what}_DIR": str(home / what.lower()) for what in ("CONFIG", "DATA", "RUNTIME")}
    environment = {
        **os.environ, **own, "EVALKIT_STORE": store, "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"), "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    environment.pop("PYTEST_CURRENT_TEST", None)
    port, token = free_port(), secrets.token_hex(8)
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--expose-app-in-browser", "--allow-root",
        f"--ServerApp.port={port}", "--ServerApp.ip=127.0.0.1", f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={folder}", "--LabApp.news_url=",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    log = (folder / "lab.log").open("wb")
    with log, subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server, folder / "lab.log")
            yield Lab(f"127.0.0.1:{port}", token, folder)
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 90
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                json.load(answer)
                return
        except (urllib.error.URLError, OSError, ValueError):
            time.sleep(0.3)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text(errors='replace')[-2000:]}")


IDLE = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook-ExecutionIndicator[data-status=idle]"


WIDGETS = """() => {
  const panel = window.jupyterapp && window.jupyterapp.shell.currentWidget;
  const kernel = panel && panel.sessionContext && panel.sessionContext.session && panel.sessionContext.session.kernel;
  return !!kernel && 'jupyter.widget' in kernel._targetRegistry
    && panel.content.rendermime.mimeTypes.includes('application/vnd.jupyter.widget-view+json')
    && window.jupyterapp.commands.hasCommand('notebook:run-all-cells');
}"""
"""Whether a widget that a cell makes now will be shown: its manager listens some time after the kernel is idle."""

AGAIN = 20.0
"""Seconds after which a command that ran nothing, on an idle kernel, is given once more."""


def ask(page: Any, script: str, seconds: float = 60) -> Any:
    """What a function of the page returns; unlike `evaluate`, it ends in time where the page hangs."""
    return page.wait_for_function(f"() => ({{said: ({script})()}})", timeout=1000 * seconds).json_value()["said"]


def command(page: Any, name: str, **options: Any) -> None:
    """Give a command to Lab and wait for nothing: the promise of a command may never be kept."""
    ask(page, f"() => {{void window.jupyterapp.commands.execute({json.dumps(name)}, {json.dumps(options)})}}")


def run_all(seen: Seen, lab: Lab, notebook: str, *, seconds: float = 120) -> None:
    """Open a notebook, run every cell, wait for the last; every cell must have run, none may have failed."""
    page = seen.page
    page.goto(lab.url(notebook), timeout=90_000)
    page.wait_for_selector(IDLE, timeout=90_000)
    page.wait_for_function(WIDGETS, timeout=60_000)
    command(page, "notebook:run-all-cells")
    begun, given = time.monotonic(), 1
    state: Any = None
    while (taken := time.monotonic() - begun) < seconds:
        state = ask(page, _STATE)
        if state["failed"]:
            raise AssertionError(f"{notebook}: {state['failed'][:3]}")
        is_idle = page.query_selector(IDLE) is not None
        if state["ran"] == state["code"] and is_idle:
            page.wait_for_timeout(1500)  # charts draw after their output has arrived
            return
        if state["ran"] == 0 and is_idle and given == 1 and taken > AGAIN:
            command(page, "notebook:run-all-cells")
            given = 2
        page.wait_for_timeout(500)
    raise AssertionError(f"{notebook} was not done after {seconds:g} s, told {given} times to run: {state}")


def last_cell(page: Any) -> str:
    """What the last code cell of the open notebook shows, as text."""
    return str(ask(page, _LAST))


_LAST = """() => {
  const model = window.jupyterapp.shell.currentWidget.content.model;
  const cells = [...Array(model.cells.length).keys()].map((at) => model.cells.get(at)).filter((c) => c.type === 'code');
  const said = (o) => Object.entries(o.data || {}).filter(([kind]) => kind.startsWith('text/')).map(([, text]) => text);
  return cells[cells.length - 1].toJSON().outputs.flatMap(said).join(' ');
}"""

_STATE = """() => {
  const model = window.jupyterapp.shell.currentWidget.content.model;
  const cells = [...Array(model.cells.length).keys()].map((at) => model.cells.get(at)).filter((c) => c.type === 'code');
  const text = cells.map((c) => c.toJSON());
  const outputs = text.flatMap((c) => c.outputs);
  return {
    code: text.filter((c) => c.source.length).length,
    ran: text.filter((c) => c.source.length && c.execution_count).length,
    failed: outputs.filter((o) => o.output_type === 'error').map((o) => o.ename + ': ' + o.evalue),
  };
}"""
