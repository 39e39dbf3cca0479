"""Charts of growth: any table draws, and says what was held and what was not measured."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import vl_convert

from evalkit.errors import AuthoringError
from evalkit.performance.case import Case
from evalkit.performance.manifest import load_case
from evalkit.performance.scaling import SCALING_FILE, ScalingPoint, read_scaling, write_scaling
from evalkit.views import growth, theme
from tests import made_up_runs as made

NAMES = ["Aster 2", "Borealis", *made.HOSTILE]
POINTS = [
    ScalingPoint(model, along, 10**power, "5 widgets", (place + 1) * 10**power)
    for place, model in enumerate(NAMES)
    for along in ("rounds", "widgets")
    for power in range(2, 5 if model == "Borealis" else 7)
]


def spec_of(points: Any, along: str = "rounds") -> dict[str, Any]:
    return growth.chart(points, along).to_dict()  # altair validates against the Vega-Lite schema here


def rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Of all layers: altair lifts what they share to the top."""
    named = [row for values in spec.get("datasets", {}).values() for row in values]
    return named + [row for part in (spec, *spec["layer"]) for row in part.get("data", {}).get("values", [])]


def test_it_draws_one_kind_of_growth_on_log_axes() -> None:
    spec = spec_of(POINTS)
    assert {row["along"] for row in rows(spec)} == {"rounds"}
    for layer in spec["layer"]:
        assert [layer["encoding"][axis]["scale"]["type"] for axis in "xy"] == ["log", "log"]
    svg = vl_convert.vegalite_to_svg(spec, vl_version="6.4")
    assert "<text" in svg and "NaN" not in svg
    assert not any(bad in svg for bad in ("<script", "<img", "\x1b", "\u202e"))


def test_it_says_what_was_held_and_who_was_not_measured_all_the_way() -> None:
    assert spec_of(POINTS)["title"]["subtitle"] == [
        "Held: 5 widgets.",
        "Borealis was not measured beyond 10,000 rounds.",
    ]


def test_each_model_has_its_own_ink_and_line_as_in_every_chart() -> None:
    color = spec_of(POINTS)["layer"][0]["encoding"]["color"]["scale"]
    inks = dict(zip(color["domain"], color["range"], strict=True))
    assert inks["Aster 2"] == theme.colour("Aster 2")
    assert len(inks) == len(NAMES)


def test_it_takes_a_frame_as_well_as_rows() -> None:
    assert spec_of(pd.DataFrame([asdict(point) for point in POINTS])) == spec_of(POINTS)


def test_there_is_a_chart_for_each_thing_that_grew() -> None:
    heads = [chart.to_dict()["title"]["text"] for chart in growth.charts(POINTS)]
    assert heads == ["Fuel against rounds (log scales)", "Fuel against widgets (log scales)"]
    assert SCALING_FILE in json.dumps(growth.charts(())[0].to_dict())


def test_with_nothing_to_draw_it_says_what_would_give_something() -> None:
    assert SCALING_FILE in json.dumps(spec_of([]))
    assert SCALING_FILE in json.dumps(spec_of(POINTS, "sprockets"))


# The file -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """A case in a folder of its own, with no such file yet."""
    return replace(load_case(Path(__file__).parents[2] / "cases" / "lattice" / "v1.0.0"), root=tmp_path)


def test_a_case_need_not_offer_any(case: Case) -> None:
    assert read_scaling(case) == ()


def test_what_was_written_is_read_again(case: Case) -> None:
    write_scaling(case.root, POINTS)
    assert list(read_scaling(case)) == POINTS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: the columns must be"),
        ("model,fuel\na,1\n", "line 1: the columns must be"),
        ("model,along,amount,held,fuel\na,ticks,1,x,0\nb,ticks,1,x,7\nc,ticks,-1,x,7\n", "line 2: takes"),
        ("model,along,amount,held,fuel\na,ticks,1,x,1e9\n", "line 2: takes"),
        ('model,along,amount,held,fuel\n"a,ticks,1,x,9\n', "cannot be read"),
        ("model,along,amount,held,fuel\na,ticks,1\n", "line 2: takes"),
    ],
)
def test_a_file_that_is_not_so_is_refused_with_its_lines(case: Case, text: str, said: str) -> None:
    (case.root / SCALING_FILE).write_text(text)
    with pytest.raises(AuthoringError) as refused:
        read_scaling(case)
    assert said in "\n".join(map(str, refused.value.faults))
