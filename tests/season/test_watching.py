"""Watching: each picture is the game's own, from the replay alone; a reference run is never shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from ipywidgets.widgets.widget import _instances
from ipywidgets.widgets.widget_link import Link

from evalkit.errors import ReplayError, UsageError
from evalkit.records import SeasonRun
from evalkit.season import play, watch_replay
from evalkit.season.agents.protocol import png
from evalkit.season.carts import begin
from evalkit.season.game import BUTTONS
from evalkit.season.season import Season
from evalkit.store import Store
from evalkit.views.seasons import player, rows, strip, tables
from tests.season.forging import chained, closed
from tests.season.seasonplay import Walker
from tests.season.seasonwork import make_season

Played = tuple[Season, Store, str]


@pytest.fixture(scope="module")
def season(played: Played) -> Season:
    return played[0]


@pytest.fixture(scope="module")
def replay(season: Season) -> bytes:
    found = play(season, level="hall", seed=0, agent=Walker).replay
    assert found is not None
    return found


def test_there_is_a_frame_as_play_begins_and_after_each_decision(season: Season, replay: bytes) -> None:
    watched = watch_replay(replay, season)
    decisions = json.loads(replay)["decisions"]
    assert watched.verification.verified is True
    assert [frame.decision for frame in watched.frames] == list(range(len(decisions) + 1))
    assert watched.frames[-1].tick == watched.claims.ticks
    assert watched.frames[-1].seconds == pytest.approx(watched.claims.time_s)


def test_a_frame_is_the_games_own_screen_and_numbers(season: Season, replay: bytes) -> None:
    watched = watch_replay(replay, season, every=4)
    console = begin(season, season.entries[0], 60).console
    for row, frame in zip(json.loads(replay)["decisions"], [watched.frames[1]], strict=False):
        console.run(bytes([season.playable().actions[row["action"]].pad]) * row["ticks"])
        assert frame.png == png(console.picture())
        assert dict(frame.variables) == {n: v.read(console.memory) for n, v in season.playable().variables.items()}


def test_pictures_within_a_decision_lead_to_the_same_end(season: Season, replay: bytes) -> None:
    coarse, fine = watch_replay(replay, season), watch_replay(replay, season, every=1)
    assert len(fine.frames) == 1 + fine.claims.ticks
    assert fine.frames[-1] == coarse.frames[-1]
    ends = {frame.decision: frame for frame in fine.frames}
    assert tuple(ends.values()) == coarse.frames


@pytest.mark.parametrize("reference", ["anchor", "floor"])
def test_a_reference_run_is_never_shown(season: Season, reference: str) -> None:
    kept = play(season, level="hall", seed=0, agent=Walker, reference=reference).replay
    assert kept is not None
    with pytest.raises(UsageError, match="is a reference run"):
        watch_replay(kept, season)


def test_a_drifting_replay_is_shown_and_the_drift_is_marked(season: Season, replay: bytes) -> None:
    parts = json.loads(replay)
    parts["decisions"][4]["hash"] = "0" * 64
    watched = watch_replay(closed(parts), season)
    drift = watched.verification.drift
    assert watched.verification.verified is False and drift is not None and drift.decision == 5
    assert len(watched.frames) == len(parts["decisions"]) + 1
    assert "drifts here" in tables.decisions(watched)._repr_html_()
    assert "after the drift" in strip.strip(watched)._repr_html_()


def test_what_cannot_be_played_is_refused_in_words(season: Season, replay: bytes, tmp_path: Path) -> None:
    with pytest.raises(ReplayError):
        watch_replay(b"{}", season)
    with pytest.raises(UsageError, match="another season's"):
        watch_replay(replay, make_season(tmp_path, slug="other"))
    with pytest.raises(UsageError, match="must be 1 or more"):
        watch_replay(replay, season, every=0)


def test_an_action_that_is_not_legal_ends_the_pictures(season: Season, replay: bytes) -> None:
    parts = json.loads(replay)
    parts["decisions"][2] |= {"action": "leave", "ticks": 4}  # x is not above 100 yet
    watched = watch_replay(chained(parts, season), season)
    assert watched.verification.verified is False and len(watched.frames) == 3


class TestPlayer:
    def test_the_slider_moves_the_screen_the_numbers_and_the_list(self, season: Season, replay: bytes) -> None:
        shown = player.show(watch_replay(replay, season, every=4))
        assert isinstance(shown, player.ReplayPlayer)
        first = shown.screen.value
        shown.slider.set_state({"value": 9})
        frame = shown.watched.frames[9]
        assert shown.frame is frame and shown.screen.value != first
        assert f"tick {frame.tick}" in shown.facts.value and shown.turns.value == frame.decision
        assert str(frame.variables["x"]) in shown.numbers.value
        assert "application/vnd.jupyter.widget-view+json" in shown._repr_mimebundle_()

    def test_steps_and_the_list_of_turns_move_it_and_stop_at_the_ends(self, season: Season, replay: bytes) -> None:
        shown = player.ReplayPlayer(watch_replay(replay, season, every=4))
        shown.back.click()
        assert shown.slider.value == 0
        shown.forward.click()
        assert shown.slider.value == 1 == shown.frame.decision
        shown.turns.value = 5
        ends = [place for place, frame in enumerate(shown.watched.frames) if frame.decision == 5]
        assert shown.slider.value == ends[-1]
        shown.step(10_000)
        assert shown.slider.value == shown.slider.max

    def test_playing_moves_the_slider_in_the_page_with_no_kernel_asked(self, season: Season, replay: bytes) -> None:
        shown = player.ReplayPlayer(watch_replay(replay, season, every=4))
        links = [one for one in _instances.values() if isinstance(one, Link) and one.source[0] is shown.play]
        assert [(one.source[1], one.target) for one in links] == [("value", (shown.slider, "value"))]
        assert (shown.play.min, shown.play.max) == (shown.slider.min, shown.slider.max)

    def test_each_frame_says_what_was_held_and_all_of_it_is_a_table(self, season: Season, replay: bytes) -> None:
        shown = player.ReplayPlayer(watch_replay(replay, season))
        shown.slider.value = 3
        row, rule = shown.watched.decisions[2], season.playable().actions[shown.watched.decisions[2].action]
        held = tuple(name for name, bit in BUTTONS.items() if rule.pad & bit)
        assert held and f"input: {row.action} for {row.ticks} ticks ({' + '.join(held)})" in shown.facts.value
        assert len(shown.table) == len(shown.watched.frames)
        line = shown.table.iloc[3]
        assert (line["decision"], line["action"], line["buttons"]) == (3, row.action, " ".join(held))
        assert line["x"] == shown.frame.variables["x"] and shown.table["action"].isna().tolist()[:2] == [True, False]
        shown.speed.value = 40
        assert shown.play.interval == 40

    def test_drift_is_said_from_its_decision_on(self, season: Season, replay: bytes) -> None:
        parts = json.loads(replay)
        parts["decisions"][4]["hash"] = "0" * 64
        shown = player.ReplayPlayer(watch_replay(closed(parts), season))
        assert "drifts here" in shown.turns.options[5][0] and "not verified" in repr(shown)
        shown.slider.value = 4
        assert "not the recorded run" not in shown.facts.value
        shown.slider.value = 5
        assert "from decision 5 on this is not the recorded run" in shown.facts.value

    def test_without_a_run_there_are_words(self) -> None:
        assert "no run to show" in repr(player.show(None)) and "no run to show" in repr(strip.strip(None))


class TestWhichRun:
    def test_the_best_verified_run_that_is_no_reference_is_chosen(self, played: Played) -> None:
        season, store, _ = played
        from evalkit.season import scored

        runs = scored(store.season_frame(), season)
        best = rows.choose_run(runs, season, has_replay=store.has_replay)
        assert best is not None and best["reference"] is None and best["verified"] is True
        assert best["score"] == max(runs[runs["reference"].isna()]["score"])
        assert rows.choose_run(runs, season, has_replay=lambda run_id: False) is None
        drifted = runs[runs["agent"] == "late"]
        assert drifted["score"].iloc[0] == best["score"] and rows.choose_run(drifted, season) is None
        asked = rows.choose_run(drifted, season, drifted["run_id"].iloc[0])
        assert asked is not None and asked["verified"] is False
        other = rows.choose_run(runs, season, str(runs["run_id"].iloc[12])[:8])
        assert other is not None and other["run_id"] == runs["run_id"].iloc[12]

    def test_a_reference_run_is_refused_by_id_and_so_is_one_that_is_not_there(self, played: Played) -> None:
        season, store, _ = played
        from evalkit.season import scored

        runs = scored(store.season_frame(), season)
        anchor = next(run.run_id for run in store.runs(kind="season") if run.reference == "anchor")
        with pytest.raises(UsageError, match="is a reference run"):
            rows.choose_run(runs, season, anchor)
        with pytest.raises(UsageError, match="no runs that count"):
            rows.choose_run(runs, season, "zzzz")


def test_the_table_of_one_run_adds_its_parts_up_to_its_score(played: Played) -> None:
    season, store, _ = played
    from evalkit.season import scored

    for row in rows.run_rows(scored(store.season_frame(), season), season)[:12]:
        run = store.get(row["run_id"])
        assert isinstance(run, SeasonRun)
        cells = {cells[0].text: cells[1].text for cells in tables.one_run(run, row, season).rows}
        total, *parts = (float(number) for number in re.findall(r"-?\d+\.\d\d", cells["score"]))
        assert total == pytest.approx(row["score"], abs=0.006) == pytest.approx(max(0.0, sum(parts)), abs=0.011)
        assert ("for dying" in cells["score"]) == run.died
