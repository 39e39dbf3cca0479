"""Why: a case is only worth its inputs: they have to be what the generator writes, real factories, and held out."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

from evalkit.performance.manifest import runway_for
from tests.lattice.lattice_case import CASE, load

STRESS = ("small", "medium", "large")


def scenario_of(path: str) -> dict[str, Any]:
    return dict(json.loads((CASE / path).read_bytes()))


def test_every_file_is_what_the_generator_writes(generate: ModuleType, case_folder: Path) -> None:
    """All of it is drawn and simulated again. Behind the first period, the reference jumps: see test_oracle.py."""
    written = dict(generate.files())
    present = {
        path.relative_to(case_folder).as_posix(): path.read_bytes()
        for folder in ("smoke", "stress", "training")
        for path in (case_folder / folder).iterdir()
    }
    assert sorted(written) == sorted(present)
    assert [path for path in written if written[path] != present[path]] == []


def test_nothing_held_out_is_in_training(case_folder: Path) -> None:
    held_out = [path for folder in ("smoke", "stress") for path in (case_folder / folder).iterdir()]
    training = list((case_folder / "training").iterdir())
    assert held_out
    assert training
    inputs = [json.loads(path.read_bytes()) for path in training if path.suffix == ".json"]
    layouts = [{json.dumps(entity, sort_keys=True) for entity in scenario["entities"]} for scenario in inputs]
    checksums = {row["checksum"] for path in training if path.suffix == ".out" for row in json.loads(path.read_bytes())}
    for path in held_out:
        content = json.loads(path.read_bytes())
        if path.suffix == ".out":
            assert not checksums & {row["checksum"] for row in content}, path.name
        else:
            assert {json.dumps(entity, sort_keys=True) for entity in content["entities"]} not in layouts, path.name
    assert not {path.read_bytes() for path in held_out} & {path.read_bytes() for path in training}


def test_the_manifest_lists_every_smoke_and_stress_input_with_its_behaviour(
    generate: ModuleType, manifest: dict[str, Any]
) -> None:
    smoke = load("generate").sys.modules["lattice_generator.smoke"]
    rows = [(row["name"], row.get("behaviour"), row["input"], row["expected"]) for row in manifest["case"]]
    expected = [(n, smoke.behaviour(n), f"smoke/{n}.json", f"smoke/{n}.out") for n in smoke.SMOKE]
    assert rows == expected + [(n, None, f"stress/{n}.json", f"stress/{n}.out") for n in STRESS]


def test_the_runways_fall_with_size_as_the_kit_proposes(manifest: dict[str, Any]) -> None:
    sizes = {}
    for name in STRESS:
        scenario = scenario_of(f"stress/{name}.json")
        sizes[name] = len(scenario["entities"]) * scenario["ticks"]
    for row in manifest["case"]:
        size = sizes.get(row["name"], sizes["small"])
        assert row["fuel_runway"] == round(runway_for(size, sizes["small"], sizes["large"]), 1), row["name"]


def test_every_input_and_answer_fits_its_schema(case_folder: Path) -> None:
    for suffix, schema in ((".json", "scenario"), (".out", "state")):
        validator = jsonschema.Draft202012Validator(scenario_of(f"schemas/{schema}.json"))
        validator.check_schema(validator.schema)
        paths = [
            path for folder in ("smoke", "stress", "training") for path in (case_folder / folder).glob(f"*{suffix}")
        ]
        assert len(paths) == 30
        for path in paths:
            assert list(validator.iter_errors(json.loads(path.read_bytes()))) == [], path.name


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "belt", "dir": "E", "tier": "hyper"},
        {"type": "belt", "dir": "E"},
        {"type": "pump", "dir": "E"},
        {"type": "assembler", "recipe": "iron-plate"},
        {"type": "furnace", "recipe": "circuit"},
        {"type": "source", "dir": "E", "item": "gold", "lane": "left", "period": 1},
        {"type": "source", "dir": "E", "item": "coal", "lane": "left", "period": 0},
    ],
)
def test_the_scenario_schema_refuses_what_the_rules_refuse(fields: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(scenario_of("schemas/scenario.json"))
    scenario = scenario_of("smoke/craft-chain.json")
    assert validator.is_valid(scenario)
    scenario["entities"].append({"x": 0, "y": 0, **fields})
    assert not validator.is_valid(scenario)


def test_the_rules_page_states_the_figures_that_the_reference_uses(case_folder: Path, oracle: ModuleType) -> None:
    page = (case_folder / "rules.md").read_text(encoding="utf-8")
    for index, item in enumerate(oracle.ITEMS):
        assert f"{index} `{item}`" in page
    for name, recipe in oracle.RECIPES.items():
        takes = ", ".join(f"{need} {item}" for item, need in recipe.inputs.items())
        item, amount = recipe.output
        assert f"| `{name}` | {recipe.kind} | {takes} | {amount} {item} | {recipe.ticks} |" in page
