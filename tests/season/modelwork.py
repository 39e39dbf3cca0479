"""Why: a model's endpoint on loopback that answers as a test tells it, and remembers what it was asked."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

USAGE = {
    "prompt_tokens": 1000, "completion_tokens": 50,
    "prompt_tokens_details": {"cached_tokens": 400}, "completion_tokens_details": {"reasoning_tokens": 20},
}  # fmt: skip
KEY = "sk-test-0123456789abcdef"
ROUTE = ("take 2", *["right 16"] * 3, "take 2", *["right 16"] * 6, "leave 4")
"""Through the hall, if its guard lets one; then waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """One answer: what the model says, or a body of any kind, and how it is brought."""

    text: str | None = None
    refusal: str | None = None
    finish: str = "stop"
    usage: Mapping[str, Any] | None = field(default_factory=lambda: USAGE)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay_s: float = 0.0
    cut: bool = False
    drip_s: float = 0.0

    def bytes(self) -> bytes:
        """The body."""
        if self.body is not None:
            return self.body
        message = {"role": "assistant", "content": self.text, "refusal": self.refusal}
        found: dict[str, Any] = {"id": "x", "object": "chat.completion", "model": "test-model-2026-01-01"}
        found["choices"] = [{"index": 0, "message": message, "finish_reason": self.finish}]
        return json.dumps(found if self.usage is None else {**found, "usage": self.usage}).encode()


def act(action: str, note: str = "on we go", **more: Any) -> Say:
    """A right answer."""
    return Say(text=json.dumps({"note": note, "action": action}), **more)


def on_route(request: Mapping[str, Any]) -> Say:
    """What gets through the hall, by the number of the turn."""
    shown = told(request)
    turn, legal = shown["turn"], shown["legal"]
    move = ROUTE[turn - 1] if turn <= len(ROUTE) else "wait 30"
    return act(move if move in legal else legal[0])


def told(request: Mapping[str, Any]) -> Any:
    """The observation in a request; of a malformed answer's repeat, that of its turn."""
    for message in reversed(request["messages"]):
        content = message["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        if message["role"] == "user" and text.startswith("{"):
            return json.loads(text)
    raise AssertionError("nothing was shown")


@dataclass(slots=True)
class Server:
    """What is said next (`script`, then `default`), and what was asked: bodies and headers."""

    url: str = ""
    script: list[Say] = field(default_factory=list)
    default: Callable[[Mapping[str, Any]], Say] = on_route
    bodies: list[Any] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: Any, headers: Mapping[str, str]) -> Say:
        """Take the next answer."""
        with self.lock:
            self.bodies.append(body)
            self.headers.append(headers)
            return self.script.pop(0) if self.script else self.default(body)


@contextmanager
def serving() -> Iterator[Server]:
    """An endpoint on a free port of this machine, for as long as the block runs."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            say = state.answer(asked, {k.lower(): v for k, v in self.headers.items()})
            if say.delay_s:
                time.sleep(say.delay_s)
            data = say.bytes()
            try:
                self.send_response(say.status)
                for name, value in say.headers.items():
                    self.send_header(name, value)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                if say.drip_s:
                    for at in range(len(data)):
                        self.wfile.write(data[at : at + 1])
                        time.sleep(say.drip_s)
                else:
                    self.wfile.write(data[: len(data) // 2] if say.cut else data)
            except OSError:  # the other side has gone: it waits no longer, or reads no further
                self.close_connection = True
            self.close_connection = self.close_connection or say.cut

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def model_file(folder: Path, url: str, *, name: str = "careful", more: str = "", endpoint: str = "") -> Path:
    """A model's file and its prompt, as a person would write them, with a back-off that a test can wait for."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prompt.md").write_text("Play well, and leave by the door.\n")
    path = folder / f"{name}.toml"
    path.write_text(
        f'model = "test-model"\nprompt = "prompt.md"\n{more}\n[endpoint]\nbase_url = "{url}"\n'
        f'key_env = "TEST_MODEL_KEY"\nbackoff_s = 0.01\nmost_wait_s = 0.3\ntries = 3\n{endpoint}\n'
    )
    return path


PRICES = '[[price]]\nmodel = "test-model"\ninput = 10.0\ncached = 1.0\noutput = 100.0\n'
A_CALL = (600 * 10 + 400 * 1 + 50 * 100) / 1e6
"""Dollars of a call of USAGE at PRICES."""


def zipped(data: bytes) -> Say:
    """An answer that is small on its way and large when unpacked."""
    return Say(body=gzip.compress(data), headers={"content-encoding": "gzip"})
