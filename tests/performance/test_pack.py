"""A participant's pack: enough to solve a case and to grade at home, and nothing of what is held out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.errors import AuthoringError, UsageError
from evalkit.jobs import job_key
from evalkit.performance import grade
from evalkit.performance.manifest import check_case, load_case
from evalkit.performance.pack import pack_case
from evalkit.records.plain import digest_id
from tests.casework import make_case, make_solution

ROOT = Path(__file__).parents[2]
LATTICE = ROOT / "cases" / "lattice" / "v1.0.0"


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pack") / "out"
    pack_case(load_case(LATTICE), folder)
    return folder / "lattice" / "v1.0.0-practice"


def test_no_file_of_a_pack_holds_a_held_out_input_or_answer(pack: Path) -> None:
    """Searched as bytes, as JSON in any layout, and for every checksum and name of what is held out."""
    files = {path: path.read_bytes() for path in pack.rglob("*") if path.is_file()}
    parsed = {path: json.loads(data) for path, data in files.items() if path.suffix in (".json", ".out")}
    assert len(parsed) > 4
    everything = b"\n".join(files.values())
    for row in load_case(LATTICE).inputs:
        held_input, held_answer = json.loads(row.input.read_bytes()), json.loads(row.expected.read_bytes())
        for held in (held_input, held_answer, held_input["entities"]):
            assert held not in parsed.values(), row.name
        assert all(
            held_input["entities"] != other.get("entities") for other in parsed.values() if isinstance(other, dict)
        )
        for snapshot in held_answer:
            assert snapshot["checksum"].encode() not in everything, row.name
        if row.kind == "stress":
            assert row.input.read_bytes() not in everything


def test_no_reference_solution_but_the_starter_and_no_program_that_makes_inputs_is_in_a_pack(pack: Path) -> None:
    names = {path.relative_to(pack).as_posix() for path in pack.rglob("*") if path.is_file()}
    folders = {name.split("/")[0] for name in names if "/" in name}
    assert folders == {"specs", "schemas", "starter", "training"}
    assert {"README.md", "test-case.toml", "checker.py", "starter/build.sh", "specs/rules.md"} <= names
    assert not any(word in name for name in names for word in ("oracle", "generat", "transport", "smoke", "stress"))


def test_the_starter_grades_at_home_on_the_pack_alone(pack: Path) -> None:
    assert check_case(pack) == ()
    run = grade(pack, pack / "starter")
    assert run.correct, run.detail
    assert len(run.inputs) >= 3


def test_a_run_at_home_is_in_another_cohort_than_the_case_s_own(pack: Path) -> None:
    starter = pack / "starter"
    home, real = (job_key(load_case(folder), starter, None) for folder in (pack, LATTICE))
    assert digest_id((*home, "1")) != digest_id((*real, "1"))
    run = grade(pack, starter)
    assert (run.case, run.version) == ("lattice", "v1.0.0-practice")
    assert run.cohort[1] != load_case(LATTICE).version


def test_an_input_that_slipped_into_the_training_set_stops_the_pack(tmp_path: Path) -> None:
    folder = make_case(tmp_path / "cases")
    (folder / "training").mkdir()
    (folder / "training" / "a.in").write_bytes(b"x")
    (folder / "training" / "a.out").write_bytes(b"other")
    with pytest.raises(AuthoringError, match=r"training/a\.in: has the bytes of inputs/x\.(in|out)"):
        pack_case(load_case(folder), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_pack_never_overwrites_and_needs_training_scenarios(tmp_path: Path) -> None:
    folder = make_case(tmp_path / "cases")
    case = load_case(folder)
    with pytest.raises(AuthoringError, match="holds no scenario"):
        pack_case(case, tmp_path / "out")
    (folder / "training").mkdir()
    (folder / "training" / "a.in").write_bytes(b"a")
    with pytest.raises(AuthoringError, match="has no answer"):
        pack_case(case, tmp_path / "out")
    (folder / "training" / "a.out").write_bytes(b"a")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    with pytest.raises(UsageError, match="is there already"):
        pack_case(case, tmp_path / "out")
    pack_case(case, tmp_path / "new")
    assert grade(tmp_path / "new" / "echo" / "v1-practice", make_solution(tmp_path / "s")).outcome == "pass"


def test_a_reviewed_case_holds_nothing_out(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="reviewed"):
        pack_case(load_case(ROOT / "cases" / "outage-note" / "v1.0.0"), tmp_path / "out")
