"""Why: an agent backed by a model is a small file: which model, what it is told and shown, and where it answers.

::

    model = "gpt-5-mini"
    prompt = "careful.md"                # beside this file
    see = "both"                         # "text" (the default), "picture" or "both"
    memory = 8                           # past turns that are shown again
    retries = 2                          # a malformed answer is asked for again so often, then the no-op is played
    answer = "json_schema"               # or "json_object" or "text", for an endpoint that knows no schemas
    [options]                            # sent with each request as they stand
    temperature = 0
    [endpoint]                           # how the model is reached: no part of what the agent is
    base_url = "https://api.openai.com/v1"
    key_env = "OPENAI_API_KEY"           # the variable that holds the key; without it no key is sent
    provider = "openai"                  # whose prices hold, where the address does not tell

The digest is over all but `[endpoint]` and `name`, with the prompt's bytes. The key is read from the environment alone,
and goes straight to `base_url`: proxies of the environment (HTTP_PROXY, ALL_PROXY) are not used.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evalkit.errors import UsageError
from evalkit.reading import LINE, Faults, Kind, Table, Unfit, choice, file_in, integer, number, printable, read_toml
from evalkit.records import canonical

__all__ = ["EndpointSettings", "ModelFile", "load_model_file"]

FORM = 2
"""Of what a model is sent beyond its file; raised when its words or its shape change, as that is another agent."""
MOST_PROMPT_BYTES = 1 << 20
MOST_SECONDS = 3600
LEAST_KEY = 8
"""Characters from which a key is looked for elsewhere: a shorter one, such as a local server takes, is no secret."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_OURS = ("model", "messages", "response_format", "stream", "n")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """How a model is reached: `timeout_s` for a whole answer, and `tries` of which each waits longer, in seconds."""

    base_url: str
    key_env: str | None = None
    provider: str | None = None
    timeout_s: float = 120.0
    tries: int = 6
    backoff_s: float = 1.0
    most_wait_s: float = 60.0

    def key(self) -> str | None:
        """The key, from the environment. Raises UsageError where it is not set."""
        if self.key_env is None:
            return None
        key = os.environ.get(self.key_env, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise UsageError(f"{self.key_env} holds no key: set it in the environment to the key of the endpoint")
        return key


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """An agent's file, read: what the docstring of this module shows."""

    name: str
    model: str
    prompt: str
    see: str = "text"
    memory: int = 8
    retries: int = 2
    answer: str = "json_schema"
    options: dict[str, Any] = field(default_factory=dict)
    endpoint: EndpointSettings

    @property
    def digest(self) -> str:
        """Hex SHA-256 of what makes this the agent that it is."""
        names = ("model", "prompt", "see", "memory", "retries", "answer", "options")
        return hashlib.sha256(canonical({"form": FORM, **{name: getattr(self, name) for name in names}})).hexdigest()

    def refuse_key(self) -> None:
        """Raise UsageError where the key stands in the file or its prompt: all of that is sent, kept and exported."""
        key = self.endpoint.key()
        if key is None or len(key) < LEAST_KEY:
            return
        address, escaped = self.endpoint, json.dumps(key)[1:-1]
        held = {
            "its name": self.name, "its model": self.model, "its prompt": self.prompt, "its [options]": self.options,
            "its [endpoint]": (address.base_url, address.provider),
        }  # fmt: skip
        for where, value in held.items():
            if escaped in canonical(value).decode():
                said = f"the key in {address.key_env} stands in a model's file as well, in {where}"
                raise UsageError(f"{said}: take it out, as all but the key is kept with a run")


def load_model_file(path: Path | str) -> ModelFile:
    """Read an agent's file. Raises AuthoringError with all its faults, UsageError where it is none."""
    path = Path(path)
    if path.suffix != ".toml":
        raise UsageError(f"{printable(path)} is no model's file: name a FILE.toml with model, prompt and [endpoint]")
    faults = Faults()
    table = read_toml(path, path.name, faults)
    found = None if table is None else _read(table, path)
    if table is not None:
        table.finish()
    faults.raise_errors()
    assert found is not None  # or there was a fault
    return found


def _read(table: Table, path: Path) -> ModelFile:
    prompt = table.take("prompt", file_in(path.parent))
    text = ""
    if prompt.is_file():
        data = prompt.read_bytes()[: MOST_PROMPT_BYTES + 1]
        try:
            text = data.decode("utf-8-sig")
            if len(data) > MOST_PROMPT_BYTES or not text.strip():
                table.error("prompt", f"must be of 1 to {MOST_PROMPT_BYTES:,} bytes and not blank")
        except UnicodeDecodeError:
            table.error("prompt", "is not UTF-8 text: save it as UTF-8")
    place = table.table("endpoint")
    if place is None:
        table.error("endpoint", 'is missing: add [endpoint] with base_url = "https://…/v1"')
    return ModelFile(
        name=table.take("name", LINE, path.stem),
        model=table.take("model", LINE),
        prompt=text,
        see=table.take("see", choice("text", "picture", "both"), "text"),
        memory=table.take("memory", integer(0, 200), 8),
        retries=table.take("retries", integer(0, 10), 2),
        answer=table.take("answer", choice("json_schema", "json_object", "text"), "json_schema"),
        options=_options(table),
        endpoint=EndpointSettings(base_url="") if place is None else _endpoint(place),
    )


def _options(table: Table) -> dict[str, Any]:
    row = table.table("options")
    found: dict[str, Any] = {}
    for key in row.keys() if row is not None else ():
        if key in _OURS:
            row.error(key, "is not an option: the kit sets it itself")  # type: ignore[union-attr]
        else:
            found[key] = row.take(key, Kind(_plain, None, "0"))  # type: ignore[union-attr]
    return found


def _plain(value: Any) -> Any:
    try:
        canonical(value)
    except (TypeError, ValueError, RecursionError):
        raise Unfit("must be plain JSON: text, a finite number, true, false, a list or a table") from None
    return value


def _endpoint(row: Table) -> EndpointSettings:
    base_url = row.take("base_url", LINE)
    key_env = row.take("key_env", Kind(_variable, None, '"OPENAI_API_KEY"'), None)
    if base_url and (what := _address_fault(base_url, key_env is not None)):
        row.error("base_url", what)
    default = EndpointSettings(base_url=base_url)
    return EndpointSettings(
        base_url=base_url,
        key_env=key_env,
        provider=row.take("provider", LINE, None),
        timeout_s=row.take("timeout_s", number(above=0, most=MOST_SECONDS), default.timeout_s),
        tries=row.take("tries", integer(1, 20), default.tries),
        backoff_s=row.take("backoff_s", number(0, most=MOST_SECONDS), default.backoff_s),
        most_wait_s=row.take("most_wait_s", number(0, most=MOST_SECONDS), default.most_wait_s),
    )


def _variable(value: Any) -> str:
    # What stands here may be a key that was pasted by mistake: no message repeats it.
    if not isinstance(value, str) or not re.fullmatch(r"[A-Z][A-Z0-9_]{0,99}", value):
        raise Unfit("must be the name of an environment variable, such as OPENAI_API_KEY, and never the key itself")
    return value


def _address_fault(base_url: str, has_key: bool) -> str | None:
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is no address: write one such as https://api.openai.com/v1"
    if parts.scheme not in ("http", "https") or not re.fullmatch(r"[\w.:-]+", host or "") or re.search(r"\s", base_url):
        return "is no address: write one such as https://api.openai.com/v1"
    if parts.username or parts.password or parts.query or parts.fragment:
        return "holds more than an address: a key or a password stands in the environment, named by key_env"
    if has_key and parts.scheme == "http" and host not in LOOPBACK:
        return "would send the key in the clear: use https"
    return None
