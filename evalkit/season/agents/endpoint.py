"""Why: the one place that talks to a model's endpoint; whatever it does wrong is counted, bounded and said in a line.

A call that times out, breaks off, says nothing that can be read, or is put off (408, 409, 429, 5xx) is made again,
later each time, or when Retry-After says, up to `most_wait_s`. Any other refusal, and the last failed try, raise
MachineError. Such calls are counted as `unanswered`; what a provider may charge for them, nobody here can know.

Of the environment only the key that the agent's file names is sent; no other header, no proxy or netrc of the
environment is used, and no answer over `MOST_BYTES` is read.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from evalkit.errors import MachineError, UsageError
from evalkit.reading import printable
from evalkit.season.agents.modelfile import LEAST_KEY, EndpointSettings
from evalkit.season.agents.prices import Tokens

if TYPE_CHECKING:
    import httpx

__all__ = ["MOST_BYTES", "Endpoint", "Reply"]

MOST_BYTES = 1 << 20
_SENT = ("host", "accept", "content-type", "content-length", "user-agent", "connection", "transfer-encoding")
_AGAIN = (408, 409, 429)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What an endpoint said: text or a refusal, the tokens (None where it does not say), and what it says it charged.

    `finish` is its own word for why the text ends, `model` its own name of what answered, `tries` what it took.
    """

    text: str | None
    refusal: str | None
    finish: str | None
    model: str | None
    tokens: Tokens | None
    charged: float | None
    tries: int


class Endpoint:
    """An endpoint that speaks OpenAI's protocol. `unanswered` counts calls that brought no whole answer."""

    def __init__(self, settings: EndpointSettings, seed: int = 0) -> None:
        try:
            import httpx
            import openai
        except ImportError:
            raise UsageError("an agent backed by a model needs openai: pip install evalkit[models]") from None
        self._settings, self._key, self._chance = settings, settings.key(), random.Random(seed)
        self._faults = (openai.OpenAIError, httpx.HTTPError, httpx.StreamError)
        hooks: Any = {"request": [self._strip], "response": [self._bound]}
        timeout = httpx.Timeout(settings.timeout_s, connect=min(settings.timeout_s, 20.0))
        self._http = openai.DefaultHttpxClient(
            timeout=timeout, follow_redirects=False, event_hooks=hooks, trust_env=False
        )  # no proxy of the environment: to one, a call to this machine goes in the clear, key and all
        self._client = openai.OpenAI(
            api_key=self._key or "none", base_url=settings.base_url, max_retries=0, timeout=timeout,
            http_client=self._http,
        )  # fmt: skip
        self.unanswered = 0
        self._deadline = 0.0

    def close(self) -> None:
        """Let go of its connections."""
        self._http.close()

    def hidden(self, text: str) -> str:
        """The text without the key, should an endpoint say it again."""
        return text.replace(self._key, "***") if self._key and len(self._key) >= LEAST_KEY else text

    def ask(self, body: dict[str, Any]) -> Reply:
        """Make one call, again where that helps. Raises MachineError, in words that hold no key and no address."""
        tries, why = self._settings.tries, ""
        for number in range(1, tries + 1):
            wait: float | None = None
            try:
                return self._once(body, number)
            except _Unread as error:
                why = str(error)
            except self._faults as error:
                status = getattr(error, "status_code", None)
                why = self._said(error, status)
                if status is not None and status not in _AGAIN and status < 500:
                    self.unanswered += 1
                    raise MachineError(f"the endpoint refuses the call: {why}") from None
                wait = _retry_after(getattr(getattr(error, "response", None), "headers", {}))
            self.unanswered += 1
            if number < tries:
                backoff = self._settings.backoff_s * 2 ** (number - 1) * self._chance.uniform(0.5, 1.0)
                time.sleep(min(backoff if wait is None else wait, self._settings.most_wait_s))
        raise MachineError(f"the endpoint gave no answer in {tries} tries: {why}")

    def _once(self, body: dict[str, Any], number: int) -> Reply:
        import httpx

        self._deadline = time.monotonic() + self._settings.timeout_s
        answer = self._client.post("/chat/completions", cast_to=httpx.Response, body=body)
        try:
            found = json.loads(answer.content)
            return _reply(found, number, self.hidden)
        except (ValueError, RecursionError):
            raise _Unread("its answer is not JSON") from None

    def _strip(self, request: httpx.Request) -> None:
        """Before a request leaves: the client would add headers from the environment, and what machine this is."""
        for name in set(request.headers) - set(_SENT):
            del request.headers[name]
        request.headers["accept-encoding"] = "identity"
        if self._key is not None:
            request.headers["authorization"] = f"Bearer {self._key}"

    def _bound(self, response: httpx.Response) -> None:
        """Before an answer is read: it ends at a size and a time, and nothing in it is unpacked."""
        response.headers.pop("content-encoding", None)
        response.stream = _bounded(response.stream, lambda: self._deadline)

    def _said(self, error: Exception, status: int | None) -> str:
        if status is None:
            cause = error.__cause__ or error
            return f"{type(error).__name__} ({printable(self.hidden(str(cause)), 100)})"
        if status in (401, 403):  # such answers like to repeat the key, or a part of it
            return f"status {status}: check the key and what it may do"
        body = getattr(error, "body", None)
        text = body.get("message") if isinstance(body, dict) else None
        return f"status {status}" + (f" ({printable(self.hidden(text), 200)})" if isinstance(text, str) else "")


class _Unread(Exception):
    """An answer came, and is none."""


def _bounded(stream: Any, deadline: Any) -> Any:
    import httpx

    class Bounded(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for chunk in stream:
                size += len(chunk)
                if size > MOST_BYTES:
                    raise httpx.ReadError(f"an answer of more than {MOST_BYTES:,} bytes")
                if time.monotonic() > deadline():
                    raise httpx.ReadTimeout("the answer took too long")
                yield chunk

        def close(self) -> None:
            stream.close()

    return Bounded()


def _retry_after(headers: Any) -> float | None:
    value = headers.get("retry-after", "")
    try:
        return max(0.0, min(float(value), 1e6))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _reply(found: Any, tries: int, hidden: Any) -> Reply:
    if not isinstance(found, dict) or not ("choices" in found or "usage" in found):
        raise _Unread("its answer is no completion")
    choices = found.get("choices")
    choice = _table(choices[0] if isinstance(choices, list) and choices else None)
    message, usage = _table(choice.get("message")), _table(found.get("usage"))
    words = [message.get("content"), message.get("refusal"), choice.get("finish_reason"), found.get("model")]
    text, refusal, finish, model = (hidden(_utf8(word)) if isinstance(word, str) else None for word in words)
    charged = usage.get("cost")
    if isinstance(charged, bool) or not isinstance(charged, int | float) or not 0 <= charged < 1e9:
        charged = None
    return Reply(
        text=text,
        refusal=refusal or None,
        finish=finish and printable(finish, 60),
        model=model and printable(model, 200),
        tokens=_tokens(usage),
        charged=None if charged is None else float(charged),
        tries=tries,
    )


def _utf8(text: str) -> str:
    """JSON can hold halves of characters, which no request could send back."""
    return text.encode("utf-8", "replace").decode()


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _tokens(usage: dict[str, Any]) -> Tokens | None:
    """The four counts; None where input or output is missing or they cannot be."""
    cached = _table(usage.get("prompt_tokens_details")).get("cached_tokens") or 0
    reasoning = _table(usage.get("completion_tokens_details")).get("reasoning_tokens") or 0
    counts = (usage.get("prompt_tokens"), cached, usage.get("completion_tokens"), reasoning)
    if not all(type(count) is int and 0 <= count < 1e12 for count in counts):
        return None
    tokens = Tokens(*counts)  # type: ignore[arg-type]  # all four are
    return tokens if tokens.cached <= tokens.input and tokens.reasoning <= tokens.output else None
