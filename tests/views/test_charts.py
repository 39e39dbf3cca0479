"""Charts: each draws every edge case as a valid Vega-Lite document, with its facts in it and no harm from a name."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
import vl_convert

from evalkit.performance.whatif import Setting, what_if
from evalkit.records import PerformanceRun
from evalkit.views import boards, charts, frames, profiles, theme
from tests import made_up_runs as made

FIELDS: dict[str, Callable[[], list[PerformanceRun]]] = {
    "none": list,
    "one": lambda: [made.run("Aster 2")],
    "every outcome": made.every_outcome,
    "forty": made.many,
    "ties": lambda: [made.run(name) for name in ("Aster", "Borealis", "Cobalt")],
    "no pass": lambda: [made.run("Flint", 3.3), made.run("Heron", gate_closed=True)],
    "no reading": lambda: [made.run("Heron", gate_closed=True)],
    "hostile names": made.hostile,
}


def _leaderboard(runs: list[PerformanceRun]) -> charts.AnyChart:
    return charts.leaderboard(made.board(runs))


def _placement(runs: list[PerformanceRun]) -> charts.AnyChart:
    run = frames.chosen_run(runs)
    place = made.place(runs, run.run_id) if run is not None and frames.is_ranked(run) else None
    return charts.placement(made.board(runs), run, place)


CHARTS: dict[str, Callable[[list[PerformanceRun]], charts.AnyChart]] = {
    "leaderboard": _leaderboard,
    "fuel_per_input": lambda runs: charts.fuel_per_input(frames.one_per_model(runs)),
    "worst_overshoots": lambda runs: charts.worst_overshoots(frames.one_per_model(runs)),
    "overshoot": lambda runs: charts.overshoot(frames.chosen_run(runs)),
    "placement": _placement,
    "rank_flow": lambda runs: charts.rank_flow(what_if(runs, Setting(score="ratios"))),
}


@pytest.fixture(params=FIELDS)
def runs(request: pytest.FixtureRequest) -> list[PerformanceRun]:
    return FIELDS[request.param]()


def _rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    layers = [spec, *spec.get("layer", [])]
    named = [row for rows in spec.get("datasets", {}).values() for row in rows]
    return [row for layer in layers for row in layer.get("data", {}).get("values", [])] + named


def test_every_chart_is_covered() -> None:
    assert set(CHARTS) == set(charts.__all__) - {"nothing"}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_of_any_field_is_valid_and_says_what_it_shows(name: str, runs: list[PerformanceRun]) -> None:
    spec = CHARTS[name](runs).to_dict()  # altair validates against the Vega-Lite schema here
    assert spec["description"]
    assert spec["title"]["text"]
    assert "http" not in json.dumps({key: value for key, value in spec.items() if key != "$schema"})


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_of_any_field_draws(name: str, runs: list[PerformanceRun]) -> None:
    svg = vl_convert.vegalite_to_svg(CHARTS[name](runs).to_dict(), vl_version="6.4")
    assert "<text" in svg
    assert "NaN" not in svg
    for bad in ("<script", "<img", "\x1b", "\u202e"):
        assert bad not in svg


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_with_nothing_to_draw_says_what_to_do(name: str) -> None:
    assert "evalkit grade" in json.dumps(CHARTS[name]([]).to_dict())


def test_the_schema_check_is_alive() -> None:
    with pytest.raises((jsonschema.ValidationError, ValueError)):
        charts.nothing("a", "b").properties(width="wide").to_dict()  # type: ignore[arg-type]


def test_the_leaderboard_takes_a_frame_as_well_as_rows() -> None:
    board = made.board(made.every_outcome())
    assert charts.leaderboard(pd.DataFrame(board)).to_dict() == charts.leaderboard(board).to_dict()


def test_a_model_without_a_total_keeps_its_row() -> None:
    rows = [{"rank": None, "model": "Flint", "total_fuel": None, "ratio_to_best": None, "runs": 1, "run_id": None}]
    assert [row["text"] for row in _rows(charts.leaderboard(rows).to_dict())] == ["no passing run"]
    frame = pd.DataFrame([*map(vars, made.board(made.many(2))), rows[0]])  # pandas turns the gaps into NaN
    assert _rows(charts.leaderboard(frame).to_dict())[-1]["total_fuel"] is None


def test_points_over_the_ceiling_have_a_shape_of_their_own() -> None:
    spec = charts.fuel_per_input([made.run("Aster"), made.run("Ember", 2.6)]).to_dict()
    shape = next(layer["encoding"]["shape"] for layer in spec["layer"] if "shape" in layer["encoding"])
    assert shape["scale"] == {"domain": ["pass", "over ceiling"], "range": ["circle", "triangle-up"]}


def test_an_input_without_a_reading_is_a_gap_that_the_subtitle_counts() -> None:
    spec = charts.fuel_per_input([made.run("Garnet", 1.1, "incorrect")]).to_dict()
    assert any("1 of 4 have no reading" in line for line in spec["title"]["subtitle"])
    assert [row["drawn"] for row in _rows(spec) if "drawn" in row and row["fuel"] is None and "text" not in row][
        :1
    ] == [None]


def test_overshoot_is_percent_of_the_ceiling_with_its_sign() -> None:
    rows = _rows(charts.overshoot(made.run("Flint", 3.3)).to_dict())
    last = next(row for row in rows if row.get("input") == "mega-base-16k")
    assert last["overshoot_percent"] == pytest.approx(100 * (last["fuel"] - made.CEILING) / made.CEILING)
    assert last["text"].startswith("+") and last["text"].endswith("▲ over")
    assert all(row["text"].startswith("−") for row in rows if "text" in row and row is not last)


def test_a_run_that_did_not_pass_has_no_placement() -> None:
    spec = charts.placement([], made.run("Ember", 2.6), None).to_dict()
    assert "over ceiling has no placement" in json.dumps(spec)


EYES = {
    "normal": np.eye(3),
    "deuteranope": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "protanope": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}


def _linear(ink: str) -> Any:
    values = np.array([int(ink[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _lab(ink: str, eye: str) -> Any:
    """CIELAB, D65, of what an eye makes of an ink."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = to_xyz @ np.clip(EYES[eye] @ _linear(ink), 0, 1) / [0.9505, 1, 1.089]
    f = [np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_inks_keep_apart_for_every_eye_and_are_seen_on_light_and_dark() -> None:
    for eye in EYES:
        seen = [_lab(ink, eye) for ink in (*theme.PALETTE, theme.GREY)]
        assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2)) > 11
    for ink in theme.PALETTE:
        light = float(_linear(ink) @ [0.2126, 0.7152, 0.0722])
        dark = float(_linear("#111111") @ [0.2126, 0.7152, 0.0722])
        assert 1.05 / (light + 0.05) >= 3 and (light + 0.05) / (dark + 0.05) >= 3
    assert len(set(theme.PALETTE)) == 16


def test_a_models_colour_and_line_do_not_depend_on_case_space_or_company() -> None:
    assert theme.colour("Aster 2") == theme.colour("  aster 2 ") == theme.colour("ASTER 2")
    assert theme.dash("Aster 2") == theme.dash("aster 2 ")
    alone = _rows(charts.leaderboard(made.board([made.run("Cobalt")])).to_dict())[0]["ink"]
    among = [row for row in _rows(_leaderboard(made.every_outcome()).to_dict()) if row["model"] == "Cobalt"]
    assert alone == among[0]["ink"] == theme.colour("Cobalt")


def test_models_of_one_ink_differ_by_their_second_sign_within_a_chart() -> None:
    inks: dict[str, list[str]] = {}
    for place in range(120):
        inks.setdefault(theme.colour(f"m{place}"), []).append(f"m{place}")
    alike = next(names for names in inks.values() if len({tuple(theme.dash(n)) for n in names[:3]}) < 3)[:4]
    assert len({*map(tuple, theme.dashes(alike))}) == 4 and theme.dashes(alike[:1]) == [theme.dash(alike[0])]
    assert all(len({*theme.shapes(names[:5])}) == min(5, len(names)) for names in inks.values())
    drawn = [made.run(name, 0.5 + 0.2 * place) for place, name in enumerate(alike)]
    for chart in (charts.fuel_per_input(drawn), profiles.ratio_profile(drawn)):
        found = [layer["encoding"].get("strokeDash") for layer in chart.to_dict()["layer"]]
        assert {len({*map(tuple, style["scale"]["range"])}) for style in found if style} == {4}


def test_a_wrong_answer_is_a_cross_that_is_larger_than_a_circle() -> None:
    wrong = made.run("Garnet", 1.1, "incorrect")
    inputs = [replace(row, fuel=9_000_000) if row.outcome == "incorrect" else row for row in wrong.inputs]
    spec = charts.fuel_per_input([made.run("Aster"), replace(wrong, inputs=tuple(inputs))]).to_dict()
    shape = next(layer["encoding"]["shape"] for layer in spec["layer"] if "shape" in layer["encoding"])
    assert shape["scale"] == {"domain": ["pass", "incorrect"], "range": ["circle", theme.FAT_CROSS]}
    assert max(float(number) for number in re.findall(r"-?[\d.]+", theme.FAT_CROSS)) > 1  # a circle's radius


def test_names_that_differ_at_their_end_are_not_cut_again() -> None:
    runs = [made.run("W" * 78 + end, 1 + place / 9) for place, end in enumerate(("01", "02"))]
    for chart in (charts.leaderboard(made.board(runs)), charts.fuel_per_input(runs), boards.case_board(runs)):
        drawn = re.findall(r"<text[^>]*>([^<]*WW[^<]*)<", vl_convert.vegalite_to_svg(chart.to_dict()))
        assert len({*drawn}) == 2 and {text[-2:] for text in drawn} == {"01", "02"}


def test_the_renderer_emits_one_json_mime_type_and_a_sentence() -> None:
    bundle = charts.leaderboard(made.board(made.every_outcome()))._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    assert set(bundle) == {theme.MIME, "text/plain"}
    assert "best: Cobalt" in bundle["text/plain"]


def test_the_same_runs_give_the_same_chart() -> None:
    first, again = (charts.fuel_per_input(made.every_outcome()).to_dict() for _ in range(2))
    assert first == again
