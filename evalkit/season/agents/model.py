"""Why: a language model plays like any agent: it is told the game in words or pictures, and answers with one action.

An answer is `{"note": "…", "action": "NAME TICKS"}`, asked for as a strict schema over the actions legal now and read
as if nobody had promised anything. One that is malformed (none of these actions, no JSON, cut off, a refusal) is asked
for again, `retries` times; then the no-op is played, as for any agent that chooses nothing legal. All of it is counted,
and every turn is kept for the run's record.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import deque
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalkit.errors import UsageError
from evalkit.records import canonical
from evalkit.season.agents.endpoint import Endpoint, Reply
from evalkit.season.agents.modelfile import ModelFile, load_model_file
from evalkit.season.agents.prices import Cost, Prices, Tokens, load_prices
from evalkit.season.agents.protocol import Action, ActionSpec, Observation, Spec, Usage, noop

__all__ = ["ModelAgent", "load_model"]

MOST_KEPT = 8_000
"""Characters of an answer that are kept beside the run."""
MOST_TOLD = 100_000
"""Characters of what it is told at first (its prompt and the game) that are kept, once a run."""
MOST_NOTE = 500
"""Characters of a note that the model is shown again."""
USUAL_NOTE = 200
"""Characters of a note where a request's length is estimated."""
_TOLD = """

You play level {level} at difficulty {difficulty}. Each turn you hold one action for a number of ticks; 60 ticks are \
one second. {limit} The actions, each with the ticks allowed:
{actions}
Each turn you are told the numbers of the game ({variables}){picture}, and which actions are legal now.
Answer with one JSON object and nothing else: {{"note": "what to remember, in one sentence", "action": "NAME TICKS"}}.
"""


def load_model(path: Path | str) -> ModelAgent:
    """Make an agent of a model's file. Raises AuthoringError or UsageError for the file and for the prices."""
    return ModelAgent(load_model_file(path), load_prices())


class ModelAgent:
    """An agent backed by a model, as its file says; `turns` and `provenance` are of the run since `reset`."""

    deterministic = False

    def __init__(self, file: ModelFile, prices: Prices) -> None:
        self.file, self._prices = file, prices
        self.name, self.digest = file.name, file.digest
        self._clear(0)
        self._probe = self.cost(Tokens(1, 0, 1, 0), datetime.now(UTC))

    def ready(self) -> None:
        """Raise UsageError where it could not play here and now: no extra, no key, or a key that would be kept."""
        self.file.refuse_key()
        Endpoint(self.file.endpoint).close()

    @property
    def unpriced(self) -> str | None:
        """Why its calls have no price, in a line; None where they have one."""
        if self._probe is not None:
            return None
        return f"no price of {self.file.model} is known: name its provider in [endpoint], or add it to data/prices.toml"

    def cost(self, tokens: Tokens, when: datetime) -> Cost | None:
        """What one such call costs; None where no price is known."""
        place = self.file.endpoint
        return self._prices.cost(tokens, self.file.model, provider=place.provider, base_url=place.base_url, when=when)

    def _clear(self, seed: int) -> None:
        self._when = datetime.now(UTC)
        self._turns: list[dict[str, Any]] = []
        self._calls: list[dict[str, Any]] = []
        self._endpoint: Endpoint | None = None
        self._seed = seed

    def reset(self, spec: Spec, seed: int) -> None:
        """Begin a run: nothing is remembered."""
        self.close()
        self._clear(seed % 2**63)
        self.file.refuse_key()
        if self.file.see != "text" and not spec.picture:
            raise UsageError(f'this game shows agents no picture: set see = "text" in {self.file.name}\'s file')
        self._endpoint = Endpoint(self.file.endpoint, seed)
        self._spec, self._past = spec, deque[tuple[str, str]](maxlen=self.file.memory)
        self._buttons = {action.name: action.buttons for action in spec.actions}
        self._told = self.file.prompt.rstrip() + self._game(spec)

    def close(self) -> None:
        """Let go of the connections; what the run left can still be read."""
        if self._endpoint is not None:
            self._endpoint.close()

    def _game(self, spec: Spec) -> str:
        limit = f"You have {spec.decision_budget} turns." if spec.decision_budget else ""
        lines = [_line(action) for action in spec.actions]
        picture = "" if self.file.see == "text" else " and shown its screen"
        numbers = ", ".join(spec.variables) if self.file.see != "picture" else "none"
        return _TOLD.format(
            level=spec.level, difficulty=spec.difficulty, limit=limit, actions="\n".join(lines),
            variables=numbers, picture=picture,
        )  # fmt: skip

    def decide(self, observation: Observation) -> Action:
        """Ask the model. Raises MachineError where the endpoint stays down."""
        moves = _moves(observation)
        number = len(self._turns) + 1
        shown = self._shown(number, moves, observation)
        png = None if self.file.see == "text" else observation.png()
        turn: dict[str, Any] = {
            "decision": number,
            "observation": shown,
            "picture": None if png is None else hashlib.sha256(png).hexdigest(),
            "calls": [],
            "action": None,
            "noop": False,
        }
        if number == 1:
            turn["system"] = self._told[:MOST_TOLD]
        self._turns.append(turn)  # at once, so that a turn at which the endpoint goes down is kept too
        action, note = self._asked(turn, moves, json.dumps(shown), png)
        if note is None:  # no cap allows another call: the run ends here, whatever is returned
            return noop(observation.legal, self._buttons)
        turn["noop"] = action is None
        action = action or noop(observation.legal, self._buttons)
        turn["action"] = f"{action.name} {action.ticks}"
        self._past.append(_remembered(shown, note, turn["action"]))
        return action

    def length(self, spec: Spec, observation: Observation, remembered: int) -> int:
        """Characters of a request about this with so many turns remembered, but for a picture. Nothing is sent."""
        moves = _moves(observation)
        shown = self._shown(1, moves, observation)
        past = [_remembered(shown, "-" * USUAL_NOTE, next(iter(moves)))] * remembered
        told = self.file.prompt.rstrip() + self._game(spec)
        return len(canonical(self._body(_messages(told, past, json.dumps(shown), None), list(moves))))

    def _shown(self, number: int, moves: Mapping[str, Action], observation: Observation) -> dict[str, Any]:
        shown: dict[str, Any] = {"turn": number, "legal": list(moves)}
        if self.file.see != "picture":
            shown["numbers"] = dict(observation.variables)
        return shown

    def _asked(
        self, turn: dict[str, Any], moves: Mapping[str, Action], shown: str, png: bytes | None
    ) -> tuple[Action | None, str | None]:
        """The action and the note; no action after `retries` malformed answers, no note where a cap forbids more."""
        assert self._endpoint is not None
        messages = _messages(self._told, self._past, shown, png)
        for _ in range(1 + self.file.retries):
            if not self._spec.may_spend(self.usage().dollars):
                return None, None
            body = self._body(messages, list(moves))
            call: dict[str, Any] = {"request": hashlib.sha256(canonical(body)).hexdigest()}
            reply = self._endpoint.ask(body)
            action, note, fault = _read(reply, moves)
            turn["calls"].append(call | self._counted(reply, fault))
            if action is not None:
                return action, note
            said = (reply.text or reply.refusal or "(nothing)")[:MOST_NOTE]
            again = f"That was no answer that can be played: {fault}. Answer with the JSON object alone."
            messages = [*messages, {"role": "assistant", "content": said}, {"role": "user", "content": again}]
        return None, ""

    def _body(self, messages: list[dict[str, Any]], moves: list[str]) -> dict[str, Any]:
        body = {**self.file.options, "model": self.file.model, "messages": messages}
        if self.file.answer == "json_object":
            body["response_format"] = {"type": "json_object"}
        elif self.file.answer == "json_schema":
            properties = {"note": {"type": "string"}, "action": {"type": "string", "enum": moves}}
            schema = {
                "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
            }  # fmt: skip
            strict = {"name": "turn", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": strict}
        return body

    def _counted(self, reply: Reply, fault: str | None) -> dict[str, Any]:
        tokens = reply.tokens
        cost = None if tokens is None else self.cost(tokens, self._when)
        text = reply.text if reply.refusal is None else reply.refusal
        call = {
            "answer": text[:MOST_KEPT] if text is not None else None,
            "fault": fault,
            "finish": reply.finish,
            "model": reply.model,
            "tries": reply.tries,
            "tokens": None if tokens is None else {name: getattr(tokens, name) for name in Tokens.__slots__},
            "dollars": None if cost is None else cost.dollars,
            "charged": reply.charged,
        }
        self._calls.append(call)
        return call

    def usage(self) -> Usage:
        """Tokens and dollars of every call that was answered; None where one did not say, or has no price."""
        known = [Tokens(**call["tokens"]) for call in self._calls if call["tokens"] is not None]
        spent = [call["dollars"] for call in self._calls if call["dollars"] is not None]
        return Usage(
            tokens=sum(tokens.total for tokens in known) if len(known) == len(self._calls) else None,
            dollars=math.fsum(spent) if len(spent) == len(self._calls) and self.unpriced is None else None,
        )

    def turns(self) -> list[dict[str, Any]]:
        """Every decision: what was shown, each call with its answer, tokens and cost, and the action played."""
        return self._turns

    def provenance(self) -> dict[str, Any]:
        """What the run's record says of the model and its calls: counts, tokens by kind, prices, what was charged."""
        tokens = sum((Tokens(**call["tokens"]) for call in self._calls if call["tokens"] is not None), Tokens())
        charged = [call["charged"] for call in self._calls if call["charged"] is not None]
        return {
            "model": self.file.model,
            "answered_by": sorted({call["model"] for call in self._calls if call["model"]}),
            "provider": self._probe.provider if self._probe else self.file.endpoint.provider,
            "calls": len(self._calls),
            "unanswered": self._endpoint.unanswered if self._endpoint else 0,
            "malformed": sum(call["fault"] is not None for call in self._calls),
            "noops": sum(turn["noop"] for turn in self._turns),
            "without_usage": sum(call["tokens"] is None for call in self._calls),
            "usage": {name: getattr(tokens, name) for name in Tokens.__slots__},
            "prices": self._probe.source if self._probe else None,
            "priced_at": self._when.isoformat(timespec="seconds"),
            "charged": math.fsum(charged) if charged and len(charged) == len(self._calls) else None,
        }


def _moves(observation: Observation) -> dict[str, Action]:
    return {f"{name} {n}": Action(name, n) for name, ticks in observation.legal.items() for n in ticks}


def _remembered(shown: Mapping[str, Any], note: str, action: str) -> tuple[str, str]:
    """A past turn as it is shown again: what was legal then is left out, as it is long and holds no more."""
    seen = {name: value for name, value in shown.items() if name != "legal"}
    return json.dumps(seen), json.dumps({"note": note[:MOST_NOTE], "action": action})


def _messages(told: str, past: Iterable[tuple[str, str]], shown: str, png: bytes | None) -> list[dict[str, Any]]:
    now: Any = shown
    if png is not None:
        url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
        now = [{"type": "text", "text": shown}, {"type": "image_url", "image_url": {"url": url}}]
    before = [
        {"role": role, "content": text} for pair in past for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    return [{"role": "system", "content": told}, *before, {"role": "user", "content": now}]


def _line(action: ActionSpec) -> str:
    held = " and ".join(action.buttons) or "nothing"
    words = f": {action.description}" if action.description else ""
    return f"- {action.name} ({', '.join(map(str, action.ticks))} ticks; holds {held}){words}"


def _read(reply: Reply, moves: Mapping[str, Action]) -> tuple[Action | None, str, str | None]:
    """The action, the note, and what is wrong with the answer: one of action and fault is None."""
    if reply.refusal is not None:
        return None, "", "a refusal"
    text = reply.text or ""
    if not text.strip():
        return None, "", "it is empty"
    cut = " (it was cut off)" if reply.finish == "length" else ""
    found = _object(text)
    if found is None:
        return None, "", f"it holds no JSON object{cut}"
    move = found.get("action")
    if isinstance(move, str) and isinstance(found.get("ticks"), int):  # said apart, as the game file has them
        move = f"{move} {found['ticks']}"
    if not isinstance(move, str) or " ".join(move.split()) not in moves:
        return None, "", "its action is none of those that are legal now"
    note = found.get("note")
    return moves[" ".join(move.split())], note if isinstance(note, str) else "", None


def _object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text, as endpoints that know no schema wrap it in words."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(20):
        if start < 0:
            break
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return found if isinstance(found, dict) else None
    return None
