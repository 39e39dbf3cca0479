"""The console, used without a browser: what each kind of run opens on, the filters, and stores that hold little."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalkit
from evalkit.performance.rank import leaderboard, place
from evalkit.season import load_season, play
from evalkit.season.agents import Action, Observation, Spec
from evalkit.store import Store
from evalkit.views import console_tabs as tabs
from evalkit.views import widgets
from evalkit.views.console import MOST, Console, console
from evalkit.views.reviews import verdicts
from tests import made_up_runs as made
from tests.run_factory import performance
from tests.season.seasonwork import make_season
from tests.season.test_ranking import run as season_run
from tests.views.boards import NASTY, is_inert, keep, marked, season_runs, texts

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "sample"


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        yield opened


@pytest.fixture
def full(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The sample, a made-up case with runs of every outcome, and runs of a season whose folder is not there."""
    monkeypatch.chdir(ROOT)
    store.import_(SAMPLE)
    for one in made.every_outcome():
        store.add(one)
    for one in season_runs():
        keep(store, one)
    return store


def shown(board: Console) -> str:
    return " ".join(texts(board.widget))


def go(board: Console, name: str) -> None:
    value = next(value for _, value in board.place.options if value[1] == name)
    index = [value for _, value in board.place.options].index(value)
    board.place.set_state({"index": index})


def pick(board: Console, run_id: str) -> None:
    board.pick.set_state({"index": [value for _, value in board.pick.options].index(run_id)})


def test_a_performance_run_opens_on_its_results(full: Store) -> None:
    board = console(full)
    go(board, "belts")
    assert board.tabs.get_title(0) == "Results"
    runs = [run for run in full.runs(case="belts") if run.voided is None]
    slower = next(run for run in runs if run.model == "Aster 2" and run.attempt == 2)
    pick(board, slower.run_id)
    assert board.run == slower
    said = shown(board)
    assert "This model already has a better run" in said and "this one burned 1.40× that" in said
    assert "Smoke inputs" in said and "Stress inputs" in said and made.SMOKE[0][1] in said
    placed = place(runs, slower.run_id)
    assert f"{placed.rank} of {placed.field_size}" in said
    assert list(board.results["input"]) == [row.name for row in slower.inputs]
    assert list(board.leaderboard["run_id"]) == [row.run_id for row in leaderboard(runs)]
    for one in runs:
        pick(board, one.run_id)
        assert ("already has a better run" in shown(board)) == (one.model == "Aster 2" and one.attempt != 1)


def test_the_leaderboard_marks_the_row_of_the_picked_run_and_no_other(full: Store) -> None:
    board = console(full)
    go(board, "belts")
    runs = [run for run in full.runs(case="belts") if run.voided is None]
    places = {row.run_id: (row.rank, row.model) for row in leaderboard(runs)}
    assert len(places) > 2
    for run_id, (rank, model) in places.items():
        pick(board, run_id)
        (row,) = marked(" ".join(texts(board.tabs.children[1])))
        assert row.casefold().startswith(f"{rank} | {model} | ".casefold()) and row.endswith(run_id)
    pick(board, next(run.run_id for run in runs if run.run_id not in places))
    assert marked(" ".join(texts(board.tabs.children[1]))) == []
    go(board, "outage-note")
    pick(board, full.runs(case="outage-note", model="example-plain")[0].run_id)
    (row,) = marked(" ".join(texts(board.tabs.children[1])))
    assert "example-plain" in row


def test_a_reviewed_run_opens_on_its_verdict_and_the_worklist_holds_what_waits(full: Store) -> None:
    board = console(full)
    go(board, "outage-note")
    assert board.tabs.get_title(0) == "Verdict"
    plain = full.runs(case="outage-note", model="example-plain")[0]
    pick(board, plain.run_id)
    assert "Reviewed by" in shown(board) and "rank 1 of 2" in shown(board)
    assert set(board.results["kind"]) == {"rating", "item"}
    case = evalkit.open_case("outage-note", ROOT / "cases")
    (table,) = verdicts(case, [plain])
    assert all(f">{cell.text}<" in shown(board) for row in table.rows for cell in row if "'" not in cell.text)
    assert board.results["of"].sum() == sum(d.points for d in case.domains) + sum(i.points for i in case.review_items)
    assert list(board.worklist["model"]) == ["example-terse"]
    pick(board, board.worklist["run_id"][0])
    assert "It waits for a review" in shown(board)
    assert list(board.leaderboard["model"]) == ["example-plain", "example-guesswork"]


def test_a_season_that_is_not_here_shows_its_facts_and_says_so(full: Store) -> None:
    board = console(full)
    go(board, "s")
    assert board.tabs.get_title(0) == "Score"
    said = shown(board)
    assert "is not in cases/" in said and "recorded facts" in said
    assert "no replay of it was ever recorded as verified here" in said and "2 decisions" in said
    assert board.results["points"].isna().all()
    assert list(board.decisions["action"]) == ["left", "<i>take</i>"] and list(board.decisions["at_tick"]) == [0, 8]
    assert "its runs have no score and no rank" in said and board.leaderboard.empty
    assert is_inert(board.widget)


def test_a_damaged_run_says_so_hides_no_other_and_never_leaves_another_runs_page(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.sqlite") as kept:
        kept.import_(SAMPLE)
        board = console(kept)
        go(board, "outage-note")
        whole, damaged = (value for _, value in list(board.pick.options)[:2])
        with sqlite3.connect(tmp_path / "runs.sqlite") as raw:
            raw.execute("UPDATE runs SET record = '{' WHERE run_id = ?", (damaged,))
        raw.close()
        pick(board, whole)
        assert whole in shown(board)
        pick(board, damaged)
        assert "is damaged in the store" in shown(board) and board.run is None and board.results.empty
        board.refresh.click()
        go(board, "outage-note")
        assert board.leaderboard.empty and "So there is no ranking" in shown(board), (
            "no ranking without one of its runs"
        )
        assert set(board.runs.loc[board.runs["run_id"] == damaged, "state"]) == {"damaged"}
        assert f"run {whole}" not in shown(board)
        again = console(kept)
        go(again, "outage-note")
        pick(again, whole)
        assert again.run is not None and again.run.run_id == whole
        with sqlite3.connect(tmp_path / "runs.sqlite") as raw:
            raw.execute("ALTER TABLE runs RENAME TO elsewhere")
        raw.close()
        again.refresh.click()
        assert "cannot" in shown(again) and again.run is None and f"run {whole}" not in shown(again)
        assert again.worklist.empty and again.leaderboard.empty and again.runs.empty and not again.pick.options
        assert "Nothing waits" not in shown(again)


def test_an_empty_store_has_tables_with_their_columns(store: Store) -> None:
    board = console(store)
    assert list(board.runs[["run_id", "state", "recorded_at"]]) == ["run_id", "state", "recorded_at"]
    assert "No run is kept here yet" in shown(board) and repr(board.finding()).startswith("Finding: 0 runs")


def test_a_season_that_cannot_be_read_says_what_is_wrong_with_it(vault: Store) -> None:
    with Path("cases/vault/season.toml").open("a") as file:
        file.write("\n[[[")
    board = console(vault)
    assert "cannot be read" in shown(board) and "season.toml" in shown(board) and "is not in cases/" not in shown(board)


@pytest.fixture
def vault(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Runs of a season that lies in `cases/`."""
    (tmp_path / "cases").mkdir()
    monkeypatch.chdir(tmp_path)
    season = load_season(make_season(tmp_path / "cases"))
    marks = {"season": "vault", "season_version": "1.0", "season_digest": season.digest, "game_digest": "f" * 64}
    for level, difficulty, seed in season.cells:
        for agent, done, time in (("a", 4, 13.0), (NASTY, 2, None)):
            died = time is None
            one = season_run(agent, level, seed, done, difficulty=difficulty, completed=not died, time_s=time,
                             died=died, verified=None, **marks)  # fmt: skip
            keep(store, one)
    return store


def test_a_season_run_shows_its_score_in_parts_its_proof_and_where_it_drifts(vault: Store) -> None:
    board = console(vault)
    first = next(row for row in board.runs.to_dict("records") if row["agent"] == "a" and row["level"] == "hall")
    pick(board, first["run_id"])
    parts = board.results.set_index("part")["points"]
    assert parts["objectives"] == 60 and parts["death"] == 0
    assert parts["completion"] == pytest.approx(40 * (6.5 / 13) ** 0.5)
    assert parts["score"] == pytest.approx(parts[:3].sum()) == pytest.approx(first["score"])
    vault.record_verification(
        first["run_id"], verified=False, engine="e", drift={"decision": 2, "tick": 8, "what": "<b>"}
    )
    board.refresh.click()
    pick(board, first["run_id"])
    assert "not verified: replaying it here did not bear it out at decision 2, tick 8: &lt;b&gt;" in shown(board)
    (drifts,) = marked(" ".join(texts(board.tabs.children[0])))
    assert drifts.startswith("2 | &lt;i&gt;take&lt;/i&gt; |"), "in the list of decisions, the one from which it differs"
    (standing,) = marked(" ".join(texts(board.tabs.children[1])))
    assert " | a | " in standing
    dead = next(row for row in board.runs.to_dict("records") if row["agent"] == NASTY)
    pick(board, dead["run_id"])
    assert board.results.set_index("part")["points"].tolist() == [30, 0, -10, 20]
    assert list(board.leaderboard["agent"]) == ["a", NASTY]
    assert is_inert(board.widget) and all("\n" not in label for label, _ in board.pick.options)


def test_a_season_run_is_watched_by_the_replay_player(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    season = make_season(tmp_path / "cases")
    for agent, reference in ((Waits(), None), ("random", "floor")):
        played = play(season, level="hall", seed=0, agent=agent, reference=reference)
        store.add(played.run, replay=played.replay)
    board = console(store)
    mine = next(row for row in board.runs.to_dict("records") if row["agent"] == "Waits")
    assert board.pick.value == mine["run_id"], "a reference run, though the latest, is not what the console opens on"
    board.watching.button.click()
    player = board.watching.widget.children[-1]
    slider = next(child for child in walk(player) if type(child).__name__ == "IntSlider")
    screen = next(child for child in walk(player) if "<img" in str(getattr(child, "value", "")))
    before = screen.value
    slider.set_state({"value": slider.max})
    assert screen.value != before
    floor = next(row for row in board.runs.to_dict("records") if row["agent"] == "random")
    pick(board, floor["run_id"])
    assert board.watching.widget.children == ()
    assert "A reference run, the floor" in shown(board) and any(
        "random (floor)" in line for line, _ in board.pick.options
    )


def walk(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


class Waits:
    """Does nothing."""

    def reset(self, spec: Spec, seed: int) -> None:
        del spec, seed

    def decide(self, observation: Observation) -> Action:
        return Action("right", observation.legal["right"][0])


def test_filters_narrow_the_runs_and_keep_the_pick_where_they_can(full: Store) -> None:
    board = console(full)
    go(board, "belts")
    kept_run = next(value for label, value in board.pick.options if "Flint" in label)
    pick(board, kept_run)
    states = {value for _, value in board.state.options}
    assert states == {"", "pass", "over ceiling", "incorrect", "ungraded", "voided"}
    board.state.value = "over ceiling"
    assert set(board.runs["model"]) == {"Flint", "Ember-9b"} and board.pick.value == kept_run
    board.who.value = "Ember-9b"
    assert len(board.runs) == 2 and board.run is not None and board.run.model == "Ember-9b"
    board.text.set_state({"value": "no such text"})
    assert board.runs.empty and board.run is None and "No run matches these filters" in shown(board)
    board.text.value, board.who.value, board.state.value = "FLIN", "", ""
    assert list(board.runs["model"]) == ["Flint"]
    go(board, "lattice")
    board.text.value = ""
    assert len(board.runs) == len(full.runs(case="lattice"))


def test_a_run_is_watched_only_when_asked_and_a_failure_is_a_line(full: Store) -> None:
    board = console(full)
    go(board, "lattice")
    best = next(row for row in board.runs.to_dict("records") if row["model"] == "evalkit-transport")
    pick(board, best["run_id"])
    assert board.watching.screen.outputs == () and board.watching.input.value == "small"
    board.watching.last.value = 3
    board.watching.button.click()
    (output,) = board.watching.screen.outputs
    assert "iframe" in output["data"]["text/html"]
    board.watching.first.value = 9
    board.watching.button.click()
    assert board.watching.screen.outputs == () and "no window" in shown(board)
    go(board, "belts")
    assert board.watching.screen.outputs == ()
    board.watching.button.click()
    assert "no &quot;belts" in shown(board)


def test_an_empty_store_and_a_store_of_one_run_are_shown(store: Store) -> None:
    board = console(store)
    assert "No run is kept here yet" in shown(board) and "Nothing waits for a review" in shown(board)
    assert board.runs.empty and board.run is None and board.places.empty
    store.add(performance())
    board.refresh.click()
    assert len(board.runs) == 1 and board.run is not None
    assert len(board.places) == 1 and board._repr_mimebundle_()
    board.refresh.click()
    assert board.place.value is not None


def test_hostile_names_stay_text_everywhere(store: Store) -> None:
    for one in made.hostile():
        if one.model.strip():
            store.add(one)
    board = console(store)
    for _, value in board.pick.options:
        board.pick.value = value
        assert is_inert(board.widget)
    assert len({label for label, _ in board.who.options}) == len(board.who.options) == 8


def test_ten_thousand_runs_are_listed_by_the_latest_and_found_by_filter(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add(made.run("model 7", attempt=1))
    one = store.runs_frame()
    frame = pd.concat([one] * 10_000, ignore_index=True)
    frame["run_id"] = [f"{place:016x}" for place in range(len(frame))]
    frame["model"] = [f"model {place % 40}" for place in range(len(frame))]
    frame["attempt"] = range(1, len(frame) + 1)
    monkeypatch.setattr(store, "runs_frame", lambda **_: frame.copy())
    monkeypatch.setattr(store, "find", lambda _: None)
    board = console(store)
    assert len(board.pick.options) == MOST and "10,000 of 10,000 runs, the latest 500" in shown(board)
    board.who.value = "model 7"
    assert len(board.runs) == 250
    board.text.value = f"{39:016x}"
    assert board.runs.empty


def test_records_from_the_table_rank_as_the_whole_records_do(full: Store) -> None:
    frame = full.runs_frame(case="belts").rename(columns={"case": "name"})
    whole = full.runs(case="belts")
    assert [run.run_id for run in tabs.bare(frame)] == [run.run_id for run in whole]
    assert leaderboard(tabs.bare(frame)) == leaderboard(whole)  # type: ignore[arg-type]


def test_the_console_and_the_board_are_names_of_the_package() -> None:
    assert evalkit.console is console
    assert callable(evalkit.whatif)


def test_every_widget_is_found_under_one_name_and_says_which_tables_it_leaves() -> None:
    assert widgets.console is console and widgets.whatif is evalkit.whatif
    for widget in (widgets.Console, widgets.Board, widgets.ReplayPlayer, widgets.Player):
        assert re.search(r"DataFrame|`frame` is the table", str(widget.__doc__)), widget
