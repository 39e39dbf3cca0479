"""The what-if board, moved without a browser: every control, its frame, its code, its limits, names that do harm."""

from __future__ import annotations

import random
import re
import time
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalkit
from evalkit.errors import UsageError
from evalkit.season.score import Rules
from evalkit.season.whatif import Setting, what_if
from evalkit.store import Store
from evalkit.views.flow import live, rank_flow
from evalkit.views.whatif import whatif
from tests import made_up_runs as made
from tests.season.test_ranking import SEASON, run
from tests.views.boards import NASTY, is_inert, many, season_runs, texts

ROOT = Path(__file__).parents[2]
CASE = evalkit.load_case(ROOT / "cases" / "lattice" / "v1.0.0")
LAST = made.STRESS[-1][0]


def season_board(runs: Any = None) -> Any:
    return whatif(SEASON, runs=season_runs() if runs is None else runs)


def case_board(runs: Any = None) -> Any:
    return whatif(CASE, runs=made.every_outcome() if runs is None else runs)


def test_every_control_of_a_season_changes_what_it_names() -> None:
    runs = season_runs()
    board = whatif(SEASON, runs=runs)
    moves: list[tuple[str, Any, Setting]] = [
        ("objectives", 10.0, Setting(rules=Rules(objectives=10.0))),
        ("completion", 90.0, Setting(rules=Rules(completion=90.0))),
        ("death", 50.0, Setting(rules=Rules(death=50.0))),
        ("exponent", 1.5, Setting(rules=Rules(exponent=1.5))),
        ("anchor dam (agent)", 40.0, Setting(anchors={("dam", "agent"): 40.0})),
        ("anchor runway (agent)", 0.0, Setting(anchors={("runway", "agent"): None})),
        ("entry runway (agent)", False, Setting(without_entries=(("runway", "agent"),))),
        ("seed 1", False, Setting(without_seeds=(1,))),
        ("verified_only", True, Setting(verified_only=True)),
        ("partial_as_zero", True, Setting(partial_as_zero=True)),
    ]
    assert {name for name, _, _ in moves} | {"entry dam (agent)", "seed 0"} == set(board.controls)
    for name, value, setting in moves:
        board.controls[name].set_state({"value": value})
        pd.testing.assert_frame_equal(board.frame, what_if(runs, SEASON, setting))
        names: dict[str, Any] = {"runs": runs, "season": SEASON}
        exec(board.code.partition("# or")[0], names)
        pd.testing.assert_frame_equal(names["frame"], board.frame)
        board.reset_button.click()
        pd.testing.assert_frame_equal(board.frame, what_if(runs, SEASON, Setting()))


def test_every_control_of_a_case_changes_what_it_names() -> None:
    board = case_board()
    assert set(board.controls) == {
        *(f"ceiling {name}" for name, _ in made.STRESS), *(f"input {name}" for name, _ in made.STRESS), "score",
    }  # fmt: skip
    board.controls[f"ceiling {LAST}"].set_state({"value": 150_000_000})
    outcomes = board.frame.set_index("model")["outcome"]
    assert outcomes["garnet"] == "needs a rerun" and outcomes["flint"] == "pass"
    assert any("needs a rerun" in text for text in texts(board.widget))
    board.controls[f"input {LAST}"].set_state({"value": False})
    assert board.frame.set_index("model")["outcome"]["garnet"] == "pass"
    board.controls["score"].set_state({"index": 1})
    assert board.frame["score"].min() == 1
    names: dict[str, Any] = {"runs": made.every_outcome()}
    exec(board.code, names)
    pd.testing.assert_frame_equal(names["frame"], board.frame)
    board.reset_button.click()
    assert board.frame["why"].eq("").all()


def tab(board: Any, name: str) -> str:
    """What a tab of the board shows."""
    (tabs,) = [widget for widget in all_of(board.widget) if type(widget).__name__ == "Tab"]
    titles = [tabs.get_title(place) for place in range(len(tabs.children))]
    return " ".join(texts(tabs.children[titles.index(name)]))


def test_the_board_says_who_moved_and_why() -> None:
    board = case_board()
    assert "Who moved" not in tab(board, "Ranks")
    board.controls[f"ceiling {LAST}"].set_state({"value": 150_000_000})
    moved = board.frame[board.frame["why"] != ""]
    told = re.findall(r"<li><b>(.*?)</b> (.*?)</li>", tab(board, "Ranks").partition("Who moved, and why")[2])
    assert len(moved) > 1
    assert [(name, unescape(why)) for name, why in told] == list(zip(moved["model"], moved["why"], strict=True))


def test_a_tab_of_the_board_says_how_far_each_constant_can_go() -> None:
    for board in (season_board(), case_board()):
        shown = tab(board, "How far can it go?")
        rows = re.findall(r"<tr>(<td.*?)</tr>", shown)
        assert len(rows) == len(board.limits) > 2
        for row, limit in zip(rows, board.limits.itertuples(index=False), strict=True):
            assert unescape(re.sub(r"<.*?>", "", row.partition("</td>")[0])) in str(limit[0])


def test_a_ceilings_slider_and_its_field_follow_each_other() -> None:
    board = case_board()
    field = board.controls[f"ceiling {LAST}"]
    sliders = [w for w in all_of(board.widget) if type(w).__name__ == "FloatLogSlider"]
    sliders[-1].set_state({"value": 10**0.5})
    assert field.value == round(10**0.5 * made.CEILING)
    field.set_state({"value": made.CEILING // 2})
    snapped = sliders[-1].value
    assert snapped == pytest.approx(0.5, rel=0.02)
    sliders[-1].set_state({"value": snapped * (1 + 1e-9)})  # what the page sends back is no move of anybody
    assert field.value == made.CEILING // 2
    board.controls[f"ceiling {LAST}"].value = 1
    assert sliders[-1].value == pytest.approx(0.01)
    board.reset()
    assert sliders[-1].value == pytest.approx(1.0)


def test_a_constant_between_two_steps_of_its_slider_stays_exact() -> None:
    board = season_board().apply(["completion=52.5", "exponent=0.333", "death=500"])
    sliders = [w for w in all_of(board.widget) if type(w).__name__ == "FloatSlider"]
    for slider in sliders:
        slider.set_state({"value": slider.value})
    values = {name: board.controls[name].value for name in ("completion", "exponent", "death")}
    assert values == {"completion": 52.5, "exponent": 0.333, "death": 500.0}
    assert sliders[2].value == sliders[2].max
    sliders[0].set_state({"value": 61.0})
    assert board.controls["objectives"].value == 61.0


def all_of(widget: Any) -> list[Any]:
    return [widget, *(found for child in getattr(widget, "children", ()) for found in all_of(child))]


def test_leaving_nothing_is_said_in_a_line_and_can_be_undone() -> None:
    board = season_board()
    for seed in (0, 1):
        board.controls[f"seed {seed}"].value = False
    assert board.frame.empty and board.code == ""
    assert any("nothing is left to rank" in text for text in texts(board.widget))
    board.reset()
    assert len(board.frame) == 4
    of_case = case_board()
    for name, _ in made.STRESS:
        of_case.controls[f"input {name}"].value = False
    assert of_case.frame.empty
    assert any("tick at least one input" in text for text in texts(of_case.widget))


def test_the_rank_flow_of_ratios_beside_fuel_keeps_their_decimals_and_moves_sort_by_their_way() -> None:
    board = case_board()
    board.controls["score"].value = "ratios"
    layers = [layer["encoding"].get("tooltip", []) for layer in rank_flow(board.frame).to_dict()["layer"]]
    forms = {tip["field"]: tip.get("format") for tips in layers for tip in tips}
    assert (forms["score_was"], forms["score_now"]) == (",.0f", ",.2f")
    board.controls[f"ceiling {LAST}"].value = 1
    (moved,) = [place for place, column in enumerate(board.table().columns) if column.title == "moved"]
    rows = zip(board.table().rows, board.frame.itertuples(), strict=True)
    assert all(cells[moved].sort == (None if pd.isna(row.moved) else row.moved) for cells, row in rows)


def test_every_panel_opens_and_closes_by_its_button() -> None:
    for board in (season_board(), case_board()):
        left = board.widget.children[1].children[0]
        _, parts = left.children
        heads, panels = parts.children[::2], parts.children[1::2]
        assert [panel.layout.display for panel in panels] == [None, *["none"] * (len(panels) - 1)]
        for head, panel in zip(heads, panels, strict=True):
            head.set_state({"value": True})
            assert panel.layout.display is None and head.description.startswith("▾")
            head.set_state({"value": False})
            assert panel.layout.display == "none" and head.description.startswith("▸")


def test_names_stay_inert_in_table_flow_reasons_limits_and_code() -> None:
    for board in (season_board(), case_board(made.hostile())):
        for name in ("partial_as_zero", f"input {LAST}"):
            if name in board.controls:
                board.controls[name].value = not board.controls[name].value
        assert is_inert(board.widget)
        assert "<img" not in board.finding()._repr_html_() + board.limit_table()._repr_html_()
    runs = [run for run in season_runs() if run.agent == NASTY]
    assert list(season_board(runs).frame["agent"]) == [NASTY]


@pytest.mark.parametrize("runs", [[], season_runs()[:1]])
def test_no_run_and_one_run_of_a_season_are_shown(runs: list[Any]) -> None:
    board = season_board(runs)
    assert len(board.frame) == len(runs)
    assert "Finding: No" in repr(board.finding())
    assert repr(board).endswith(f"{len(runs)} row{'' if len(runs) == 1 else 's'}")


@pytest.mark.parametrize("runs", [[], [made.run("alone")]])
def test_no_run_and_one_run_of_a_case_are_shown(runs: list[Any]) -> None:
    board = case_board(runs)
    assert len(board.frame) == len(board.limits) / 4 == len(runs)
    assert is_inert(board.widget)


def test_changes_can_be_written_down() -> None:
    board = season_board().apply(["completion=50", "entry dam (agent) = no", "verified_only=yes", "seed 1=false"])
    values = {name: control.value for name, control in board.controls.items()}
    assert (values["completion"], values["entry dam (agent)"], values["verified_only"]) == (50.0, False, True)
    assert case_board().apply(["score=ratios", f"ceiling {LAST}=3"]).frame["rank"].isna().all()
    for change, said in (
        ("completoin=5", 'did you mean "completion"'), ("completion=x", "does not fit"), ("death=-1", "does not fit"),
        ("verified_only=maybe", "does not fit"), ("nothing", "no control"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=said):
            board.apply(["objectives=1", change])
    assert board.controls["objectives"].value == 60.0


def test_a_board_opens_by_name_from_a_store_and_its_code_reads_the_same_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    path = tmp_path / "runs.sqlite"
    with Store.open(path) as store:
        store.import_(ROOT / "data" / "sample")
        inside = evalkit.whatif("lattice", store)
    board = evalkit.whatif("lattice", str(path))
    pd.testing.assert_frame_equal(inside.frame, board.frame)
    board.apply(["ceiling large=30000000000", "ceiling medium=20000000000"])
    assert "evalkit-naive" in list(board.frame.loc[board.frame["why"] != "", "model"])
    names: dict[str, Any] = {}
    exec(board.code, names)
    pd.testing.assert_frame_equal(names["frame"], board.frame)
    assert "MimeBundle" not in repr(board) and board._repr_mimebundle_()


def test_what_has_no_constants_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(UsageError, match="a review is its score"):
        evalkit.whatif("outage-note")
    with pytest.raises(UsageError, match='no "latice"'):
        evalkit.whatif("latice")


def test_ten_thousand_runs_redraw_while_a_slider_is_dragged() -> None:
    """The aim is 0.2 s; here only that it is no matter of seconds, for a machine that others use too."""
    frame, wide = many()
    board = whatif(wide, runs=frame)
    began = time.process_time()
    for value in (41.0, 42.0, 43.0):
        board.controls["completion"].set_state({"value": value})
    assert (time.process_time() - began) / 3 < 1
    assert len(board.frame) == 40


def test_a_long_ranking_draws_its_best_rows_and_keeps_all() -> None:
    board = case_board(made.many(150))
    assert len(board.frame) == 150
    assert "The best 60 of 150" in board.table()._repr_html_()
    assert "".join(texts(board.widget)).count("<path") == 20


def _ranked(*rows: tuple[str, int | None, int | None]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["model", "official_rank", "rank"])
    frame[["official_rank", "rank"]] = frame[["official_rank", "rank"]].astype("Int64")
    return frame.assign(official_score=1.0, score=2.0)


def test_the_live_rank_flow_and_the_chart_draw_the_same_rows() -> None:
    for nobody in (_ranked(), _ranked(("x", None, None))):
        assert live(nobody) == ""
        assert "Nobody has a rank" in str(rank_flow(nobody).to_dict())
    frame = _ranked(("a", 1, 2), ("b", 1, 1), ("</svg><img>", None, 3), ("gone", 3, None), ("none", None, None))
    drawn, chart = live(frame), rank_flow(frame).to_dict()
    assert drawn.count("<path") == 4 and "<img" not in drawn
    assert "Ranks, official and what if: 3 of 4 differ" in drawn
    assert "3 of 4 ranks differ" in chart["description"]
    assert chart["title"]["subtitle"][1:] == ["1 more holds a rank on neither side."]
    rows = [row for rows in chart["datasets"].values() for row in rows if "text" in row]
    assert {(row["side"], row["place"], row["name"]) for row in rows} == {
        (0, 0, "b"), (0, 1, "a"), (0, 2, "gone"), (0, 3, "</svg><img>"),
        (1, 0, "b"), (1, 1, "a"), (1, 2, "</svg><img>"), (1, 3, "gone"),
    }  # fmt: skip
    assert {row["name"] for row in rows if row["half"]} == {"gone", "</svg><img>"}


def _changed_rank(board: Any) -> bool:
    now, was = board.frame["rank"].fillna(0), board.frame["official_rank"].fillna(0)
    return not now.equals(was.rename("rank"))


def test_the_nearest_change_of_a_rank_can_be_applied() -> None:
    board = season_board()
    changes = board.nearest()
    assert len(changes) == 1 and not _changed_rank(board)
    assert _changed_rank(board.apply(changes))
    name, _, value = changes[0].rpartition("=")
    nearest = min(
        (abs(limit - row.official) / row.official, row.constant)
        for row in board.limits.itertuples() if row.official
        for limit in (row.below, row.above) if not pd.isna(limit)
    )  # fmt: skip
    assert name == nearest[1]
    assert abs(float(value) - board._official[name]) / board._official[name] == pytest.approx(nearest[0], abs=1e-3)
    of_case = case_board()
    changes = of_case.nearest()
    assert changes[0].startswith("ceiling ")
    assert _changed_rank(of_case.apply(changes))
    for alone in (season_board(season_runs()[:1]), season_board([]), case_board([])):
        assert alone.nearest() == []


def test_a_limit_at_its_own_constant_is_said_to_be_an_edge() -> None:
    runs = [run(agent, level, seed, 2 if seed else 0, died=agent == "dies" and not seed)
            for agent in ("dies", "lives") for level in ("dam", "runway") for seed in (0, 1)]  # fmt: skip
    free = replace(SEASON, rules=Rules(death=0.0))
    assert "at 0 instead of 0" not in repr(whatif(free, runs=runs).finding())
    tied = [
        *(run("a", level, seed, 2) for level, _, seed in SEASON.cells),
        *(run("b", level, seed, 4, died=True) if seed else run("b", level, seed, 1) for level, _, seed in SEASON.cells),
    ]
    even = replace(SEASON, rules=Rules(death=15.0))
    board = whatif(even, runs=tied)
    assert list(board.frame["rank"]) == [1, 1]
    said = repr(board.finding())
    assert "A rank is at its edge now: any other value of " in said and "instead of" not in said
    assert _changed_rank(board.apply(board.nearest()))


def test_figures_are_whole_and_who_differs_is_named() -> None:
    board = case_board(made.many(12))
    assert "e+" not in repr(board.finding()) + board.limit_table()._repr_html_()
    board.controls[f"ceiling {LAST}"].value = 1
    assert "12 of 12 rows differ (" in repr(board.finding()) and " and 9 more)" in repr(board.finding())
    one = season_board().apply(["death=100"])
    moved = list(one.frame.loc[one.frame["why"] != "", "agent"])
    assert all(name in repr(one.finding()) for name in moved[:3] if len(name) < 40)
    assert "`" not in board.limit_table()._repr_html_()
    assert set(season_board().limits["constant"]) <= set(season_board().controls)


def test_everything_switched_off_is_not_called_no_run() -> None:
    board = season_board()
    for seed in (0, 1):
        board.controls[f"seed {seed}"].value = False
    assert repr(board.finding()) == "Finding: Nothing is left to rank: keep at least one entry and one seed."
    assert "No run counts" not in board.table()._repr_html_()


def test_a_control_set_to_no_number_says_so() -> None:
    board = season_board()
    board.controls["completion"].value = float("nan")
    assert any("completion is no number now" in text for text in texts(board.widget))
    assert board.frame.empty
    board.reset()
    assert len(board.frame) == 4


def test_a_control_holds_its_official_value_whatever_it_is() -> None:
    first, *rest = SEASON.entries
    far = replace(SEASON, entries=(replace(first, anchor_s=3e9), *rest), rules=Rules(objectives=5e6))
    board = whatif(far, runs=season_runs())
    assert (board.controls["anchor dam (agent)"].value, board.controls["objectives"].value) == (3e9, 5e6)
    assert "Setting()" in board.code
    board.apply(["anchor dam (agent)=5"]).reset()
    assert "Setting()" in board.code


def test_changes_that_are_none_are_refused_with_the_names_that_there_are() -> None:
    board = season_board()
    for changes in (["nope=1"], ["nope"], [5]):
        with pytest.raises(UsageError, match="there are objectives, completion, death"):
            board.apply(changes)
    for none in (None, 5):
        with pytest.raises(UsageError, match="changes are texts such as"):
            board.apply(none)
    with pytest.raises(UsageError, match='"death" says no value: write death=…'):
        board.apply("death")
    assert board.apply("death=7").controls["death"].value == 7.0


def test_runs_of_another_digest_are_flagged() -> None:
    runs = season_runs()
    other = [replace(runs[0], season_digest="0" * 64), *runs[1:]]
    flag = f"1 of {len(runs)} runs was recorded under another digest of the season"
    for board, is_flagged in ((season_board(runs), False), (season_board(other), True)):
        assert any(flag in text for text in texts(board.widget)) == is_flagged
        assert (flag in repr(board.finding())) == is_flagged
    same = [replace(one, case_digest=CASE.digest()) for one in made.every_outcome()]
    flag = f"1 of {len(same) - 1} runs was recorded under another digest of the case"  # one is voided
    mixed = [made.every_outcome()[0], *same[1:]]
    with Store.open("sqlite://") as store:
        for one in mixed:
            store.add(replace(one, case=CASE.slug))
        for board, is_flagged in ((case_board(same), False), (case_board(mixed), True), (whatif(CASE, store), True)):
            assert any(flag in text for text in texts(board.widget)) == is_flagged
            assert (flag in repr(board.finding())) == is_flagged


def test_reasons_beyond_the_drawn_rows_are_in_the_frame() -> None:
    rng = random.Random(1)
    runs = []
    for place in range(90):
        one = made.run(f"model {place}")
        inputs = tuple(
            replace(row, fuel=rng.randint(1_000, 20_000_000)) if row.kind == "stress" else row for row in one.inputs
        )
        total = sum(row.fuel or 0 for row in inputs if row.kind == "stress")
        runs.append(replace(one, inputs=inputs, total_fuel=total))
    board = case_board(runs)
    board.controls["score"].value = "ratios"
    assert (board.frame["why"] != "").sum() > 60 and not (board.frame["why"] == "…").any()
    assert "".join(texts(board.widget)).count("<li>") == 60
