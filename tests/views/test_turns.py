"""What a model was shown and answered, beside its replay: in the console, in the player, and as a frame."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalkit.season import load_season, play
from evalkit.season.agents.model import load_model
from evalkit.store import Store
from evalkit.views.console import Console, console
from evalkit.views.seasons.player import show
from evalkit.views.turns import COLUMNS, turn_frame, turn_notes, turn_table
from tests.season.modelwork import KEY, PRICES, Say, model_file, serving
from tests.season.seasonwork import make_season
from tests.season.test_ranking import run as season_run
from tests.views.boards import is_inert, texts

CALL = {
    "request": "0" * 64, "answer": '{"note": "go", "action": "right 16"}', "fault": None, "finish": "stop",
    "model": "m", "tries": 1, "tokens": {"input": 1000, "cached": 400, "output": 50, "reasoning": 20},
    "dollars": 0.0114, "charged": None,
}  # fmt: skip
TURN = {
    "decision": 1, "observation": {"turn": 1, "legal": ["right 16", "wait 4"], "numbers": {"ammo": 5, "x": 12}},
    "picture": None, "calls": [CALL], "action": "right 16", "noop": False,
}  # fmt: skip
EVIL = "<img src=x onerror=alert(1)>\n</div><script>window.pwned=1</script>"


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        yield opened


def shown(widget: Any) -> str:
    return " ".join(texts(widget))


def keep(store: Store, said: bytes) -> Console:
    """A console whose one run has these turns."""
    digest = hashlib.sha256(said).hexdigest()
    one = season_run("model:m", "dam", 1, 2, verified=None)
    store.add(replace(one, ungraded="the endpoint is down", ended_by="agent_error",
                      provenance={"turns": digest}), turns=said)  # fmt: skip
    return console(store)


def test_a_run_of_a_model_shows_its_turns_beside_its_replay(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prices.toml").write_text(PRICES)
    season = load_season(make_season(tmp_path / "cases"))
    with serving() as server:
        server.script = [Say(text=f"I think not {EVIL}")]
        played = play(season, level="hall", seed=0, agent=load_model(model_file(tmp_path / "m", server.url)))
    store.add(played.run, replay=played.replay, turns=played.turns)

    board = console(store)
    assert list(board.turns.columns) == list(COLUMNS)
    assert board.turns["decision"].nunique() == played.run.decisions == len(board.decisions)
    first = board.turns[board.turns["decision"] == 1]
    assert list(first["call"]) == [1, 2] and EVIL in first["answer"].iloc[0] and first["fault"].notna().tolist() == [
        True, False,
    ]  # fmt: skip
    assert first["action"].tolist() == ["take 2", "take 2"] and "ammo 5" in first["observation"].iloc[0]
    assert board.turns["input"].sum() + board.turns["output"].sum() == played.run.tokens
    said = shown(board.widget)
    assert f"{played.run.decisions} turns of the model: {len(board.turns)} calls (1 malformed)" in said
    assert "What the model was told before its first turn" in said and "- right (8, 16 ticks; holds right)" in said
    assert board.turns.attrs["told"].startswith("Play well, and leave by the door.")
    assert "I think not &lt;img" in said and is_inert(board.widget) and "<script>window" not in said

    board.watching.button.click()
    player = board.watching.widget.children[-1]
    slider = next(w for w in walk(player) if type(w).__name__ == "IntSlider")
    assert "Answered" not in shown(player)  # play has not begun
    forward = next(w for w in walk(player) if getattr(w, "tooltip", "") == "one frame on")
    forward.click()
    said = shown(player)
    assert "Shown: ammo 5" in said and "it holds no JSON object" in said and "Played: take 2" in said
    assert "2 calls (1 malformed), 2,000 tokens in, 100 out" in said
    slider.set_state({"value": slider.max})
    assert "Played: take 2" not in shown(player) and "Answered" in shown(player)
    assert "<img src=x" not in shown(player) and "<script" not in shown(player)


def test_what_a_model_was_told_is_cut_with_a_word_and_stays_text(store: Store) -> None:
    told = EVIL + "x" * 30_000
    board = keep(store, json.dumps({**TURN, "system": told}).encode())
    assert f"… {len(told) - 20_000:,} more characters" in shown(board.widget)
    assert is_inert(board.widget) and "<script>window" not in shown(board.widget) and board.turns.attrs["told"] == told


def walk(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


def test_turns_of_a_run_that_left_no_replay_are_shown_too(store: Store) -> None:
    down = {**TURN, "decision": 2, "calls": [], "action": None}
    board = keep(store, b"\n".join(json.dumps(turn).encode() for turn in (TURN, down)))
    assert board.turns["call"].tolist() == [1, 0] and pd.isna(board.turns["action"][1])
    assert "2 turns of the model: 1 call, 1,000 tokens in, 50 out, 0.0114 dollars" in shown(board.widget)
    assert "(not asked)" in shown(board.widget)
    assert "Nothing was asked" in repr(turn_notes(board.turns)[2])


@pytest.mark.parametrize("said", [b"[]", b'{"decision": 1}', b'{"decision": "x"}', b"null", b"{", b"\xff"])
def test_what_is_no_turn_is_said_in_a_line(store: Store, said: bytes) -> None:
    board = keep(store, said)
    assert board.turns.empty and list(board.turns.columns) == list(COLUMNS)
    assert "cannot be read here" in shown(board.widget)


def test_other_runs_have_none(store: Store) -> None:
    store.add(season_run("scripted", "dam", 1, 2, ungraded="x", ended_by="agent_error", verified=None))
    board = console(store)
    assert board.turns.empty and "turns of the model" not in shown(board.widget)
    assert turn_table(board.turns) == [] and turn_notes(board.turns) == {}
    assert "no run" in repr(show(None))


def test_long_and_hostile_answers_are_shortened_and_escaped_and_what_is_unknown_is_no_zero() -> None:
    call = {**CALL, "answer": EVIL + "x" * 8000, "fault": EVIL, "tokens": None, "dollars": None}
    turn = {**TURN, "observation": {"legal": [EVIL]}, "picture": "0" * 64, "action": EVIL, "noop": True}
    frame = turn_frame([{**turn, "decision": n, "calls": [call, CALL]} for n in range(1, 501)])
    assert len(frame) == 1000 and len(frame["answer"][0]) > 8000
    assert frame["input"].isna().sum() == 500 and frame["dollars"].isna().sum() == 500
    (table,) = turn_table(frame)
    markup = table._repr_html_()
    assert "The first 400 of 1,000 calls" in markup and "a picture; 1 legal actions" in markup
    assert "+?" in markup and "500,000 +? tokens in" in markup
    for text in (markup, turn_notes(frame)[7]._repr_html_()):
        assert "<img" not in text and "<script" not in text and "x" * 700 not in text
    assert len(markup) < 600_000
