"""A case manifest is read whole, or refused with every fault it has."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import AuthoringError, UsageError
from evalkit.performance import manifest
from evalkit.performance.manifest import CaseInput, Spec, check_case, find_case, load_case, runway_for
from evalkit.performance.origin import load_origin

HERE = Path(__file__).parent
VALID = sorted((HERE / "valid").glob("*.toml"))
INVALID = sorted((HERE / "invalid").glob("*.toml"))
SHARED = Path(os.environ.get("EVALKIT_SHARED", HERE.parents[2] / "shared"))

Make = Callable[[str], Path]


def test_the_folders_of_examples_are_not_empty() -> None:
    assert len(VALID) >= 3
    assert len(INVALID) >= 10


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_a_valid_manifest_loads_without_a_fault(path: Path, case_folder: Make) -> None:
    root = case_folder(path.read_text())
    assert check_case(root) == ()
    case = load_case(root, deep=True)
    assert case.version == "v1.0.0"
    assert case.slug == path.stem
    assert load_case(root / "test-case.toml") == load_case(root)


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_an_invalid_manifest_reports_exactly_the_faults_it_states(path: Path, case_folder: Make) -> None:
    expected = [line[3:] for line in path.read_text().splitlines() if line.startswith("#! ")]
    assert expected
    faults = check_case(case_folder(path.read_text()))
    assert [f"{fault.severity}: {fault}" for fault in faults] == expected


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_every_fault_is_one_line_that_no_terminal_acts_on(path: Path, case_folder: Make) -> None:
    for fault in check_case(case_folder(path.read_text())):
        assert str(fault).isprintable()


def test_loading_raises_every_error_at_once_and_no_warning(case_folder: Make) -> None:
    root = case_folder((HERE / "invalid" / "many-faults.toml").read_text())
    with pytest.raises(AuthoringError) as caught:
        load_case(root, deep=True)
    assert caught.value.faults == tuple(fault for fault in check_case(root) if fault.severity == "error")
    assert len(caught.value.faults) > 25
    assert "\n" not in str(caught.value)


def test_every_key_arrives_where_it_belongs(case_folder: Make) -> None:
    root = case_folder((HERE / "valid" / "everything.toml").read_text())
    case = load_case(root)
    assert (case.build.install, case.build.build) == (("pip", "install", "."), "make")  # type: ignore[union-attr]
    assert case.contract.checker == root / "checker.py"  # type: ignore[union-attr]
    assert case.sandbox.wall_limit_s == 1.5  # type: ignore[union-attr]
    assert [row.name for row in case.smoke] == ["a gate"]
    assert [row.name for row in case.stress] == ["small", "large"]
    assert [case.runway_limit(row) for row in case.inputs] == [1_000, 10_000, 2_500]
    assert case.variant().slug == "base"
    assert case.variant("other").spec == (Spec(root / "text.md", "other.md"),)
    assert case.variant("other").name == "Other"
    assert case.summary == "Two lines,\nboth kept."
    assert case.warnings == ()


def test_the_defaults_are_stated(case_folder: Make) -> None:
    case = load_case(case_folder((HERE / "valid" / "smallest.toml").read_text()))
    assert case.is_performance
    assert [variant.slug for variant in case.variants] == ["base"]
    assert (case.inputs[0].kind, case.inputs[0].fuel_runway) == ("stress", 1.0)
    assert (case.sandbox.max_output_bytes, case.sandbox.wall_limit_s) == (67_108_864, 600.0)  # type: ignore[union-attr]


def test_an_unknown_variant_is_refused_with_the_known_ones(case_folder: Make) -> None:
    case = load_case(case_folder((HERE / "valid" / "everything.toml").read_text()))
    with pytest.raises(UsageError, match='has no variant "othr": it has base, other; did you mean "other"'):
        case.variant("othr")


def test_a_reviewed_case_has_no_runway(case_folder: Make) -> None:
    case = load_case(case_folder((HERE / "valid" / "reviewed.toml").read_text()))
    assert (case.build, case.contract, case.sandbox, case.inputs) == (None, None, None, ())
    with pytest.raises(UsageError, match="reviewed case"):
        case.runway_limit(CaseInput(name="a", kind="stress", input=case.root, expected=case.root))


def test_a_case_loads_with_its_warnings(case_folder: Make) -> None:
    text = (HERE / "valid" / "everything.toml").read_text().replace("fuel_runway = 2.5", "fuel_runway = 20")
    case = load_case(case_folder(text))
    assert [str(fault) for fault in case.warnings] == [
        'test-case.toml: case#3.fuel_runway: 20 is wider than the 10 of the smaller input "small": '
        "larger inputs want narrower"
    ]


@pytest.mark.parametrize("name", ["test-case.toml", "small.json", "text.md", "variants/other.toml", "folder/file.md"])
def test_the_digest_covers_every_file_the_manifest_names(name: str, case_folder: Make) -> None:
    root = case_folder((HERE / "valid" / "everything.toml").read_text())
    case = load_case(root)
    before = case.digest()
    (root / "unnamed.txt").write_text("no part of the case")
    assert case.digest() == before
    (root / name).write_bytes((root / name).read_bytes() + b"\n")
    assert case.digest() != before


def test_the_digest_does_not_depend_on_where_the_case_lies(case_folder: Make, tmp_path: Path) -> None:
    root = case_folder((HERE / "valid" / "everything.toml").read_text())
    shutil.copytree(root, tmp_path / "elsewhere" / "v9", symlinks=True)
    assert load_case(tmp_path / "elsewhere" / "v9").digest() == load_case(root).digest()


def test_a_file_that_went_away_is_an_authoring_error(case_folder: Make) -> None:
    root = case_folder((HERE / "valid" / "smallest.toml").read_text())
    case = load_case(root)
    (root / "small.json").unlink()
    with pytest.raises(AuthoringError, match=r"small\.json: cannot be read any more"):
        case.digest()


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = " + b"[" * 100_000, b"a = 1\na = 2", b"\x00", b""])
def test_whatever_stands_in_a_manifest_is_a_fault_and_no_exception(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "test-case.toml").write_bytes(content)
    assert check_case(tmp_path)


@given(st.binary(max_size=200))
def test_random_bytes_are_faults_and_no_exception(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    root = tmp_path_factory.getbasetemp() / "random-manifest"
    root.mkdir(exist_ok=True)
    (root / "test-case.toml").write_bytes(content)
    assert check_case(root)


def test_no_folder_a_folder_for_a_manifest_and_a_file_for_a_folder_are_faults(tmp_path: Path) -> None:
    (tmp_path / "a" / "test-case.toml").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    for path, what in (("none", "is missing"), ("a", "is a folder"), ("file", "Not a directory"), ("nul\0", "null")):
        assert what in str(check_case(tmp_path / path)[0])


@pytest.mark.parametrize(
    "kind", ["perf", "Perf", "perform", "perf-test", "performance-case", "perfomance", " performance"]
)
def test_a_type_that_is_almost_performance_is_asked_about(kind: str, case_folder: Make) -> None:
    text = (HERE / "valid" / "smallest.toml").read_text().replace('type = "performance"', f'type = "{kind}"')
    (fault,) = check_case(case_folder(text))
    assert str(fault) == (
        f'test-case.toml: type: "{kind}" would make this a reviewed case; did you mean "performance"?'
    )


@pytest.mark.parametrize("kind", ["conformance", "per", "writing", "perfect-pitch", "form"])
def test_any_other_type_is_a_reviewed_one(kind: str, case_folder: Make) -> None:
    text = (HERE / "valid" / "reviewed.toml").read_text().replace('type = "illustration"', f'type = "{kind}"')
    assert check_case(case_folder(text)) == ()


def test_the_examples_of_the_format_are_valid_as_they_stand(case_folder: Make, tmp_path: Path) -> None:
    case_text, solution_text = re.findall(r"::\n\n((?:    .*\n|\n)+)", manifest.__doc__ or "")
    root = case_folder(textwrap.dedent(case_text))
    assert check_case(root) == ()
    case = load_case(root)
    assert (case.slug, case.stress[0].fuel_runway, case.is_performance) == ("adder", 2.0, True)
    (tmp_path / "solution.toml").write_text(textwrap.dedent(solution_text))
    assert load_origin(tmp_path).model == "some-model-1"


def test_a_case_is_checked_by_its_slug_its_folder_of_versions_or_its_path(
    case_folder: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = case_folder((HERE / "valid" / "smallest.toml").read_text())
    (tmp_path / "cases").mkdir()
    root.parent.rename(tmp_path / "cases" / "smallest")
    monkeypatch.chdir(tmp_path)
    for ref in ("smallest", "smallest@v1.0.0", "cases/smallest", Path("cases/smallest/v1.0.0/test-case.toml")):
        assert check_case(ref) == ()
    with pytest.raises(UsageError, match=r'no "smalest" in .*; did you mean "smallest"'):
        check_case("smalest")
    (tmp_path / "empty").mkdir()
    assert "is missing: add the file" in str(check_case("empty")[0])
    with pytest.raises(
        AuthoringError, match=r"test-case\.toml: is missing in smallest: .* by its slug to `evalkit\.open_"
    ):
        load_case("smallest")


def test_checking_never_runs_the_checker(case_folder: Make) -> None:
    root = case_folder((HERE / "valid" / "everything.toml").read_text())
    (root / "checker.py").write_text("raise SystemExit\ndef check(): ...\n")
    assert check_case(root) == ()


def test_loading_for_a_grade_parses_no_input_and_imports_no_validator(case_folder: Make) -> None:
    root = case_folder((HERE / "invalid" / "contents-break-their-schemas.toml").read_text())
    code = (
        "import sys\nfrom evalkit.performance.manifest import load_case\n"
        "load_case(sys.argv[1])\nassert 'jsonschema' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(root)], check=True, cwd=HERE.parents[1])


def test_the_published_manifest_loads_unchanged(tmp_path: Path) -> None:
    published = SHARED / "lattice" / "published-manifest.toml"
    if not published.is_file():
        pytest.skip(f"no {published}: set EVALKIT_SHARED to the folder that holds it")
    text = published.read_text()
    root = tmp_path / "lattice" / "v1.0.0"
    for name in re.findall(r'"([\w/-]+\.(?:md|hbs|json|out|toml))"', text):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('slug = "base"\n' if name.endswith(".toml") else json.dumps({}))
    (root / "workspaces" / "base").mkdir(parents=True)
    (root / "test-case.toml").write_text(text)
    assert check_case(root) == ()
    case = load_case(root)
    assert [row.fuel_runway for row in case.stress] == [10.0, 5.0, 2.0]
    assert [case.runway_limit(row) for row in case.stress] == [400_000_000_000, 200_000_000_000, 80_000_000_000]
    assert case.summary == "An engine for a deterministic factory, graded bit for bit, then by fuel."


def test_a_runway_is_proposed_from_ten_down_to_two() -> None:
    assert [runway_for(size, 10, 1000) for size in (10, 100, 1000)] == pytest.approx([10, 6, 2])
    assert runway_for(7, 7, 7) == 10
    for bad in ((0, 0, 1), (1, 2, 3), (4, 2, 3), (1, 1, float("inf")), (float("nan"), 1, 2)):
        with pytest.raises(ValueError, match="need 0 < smallest"):
            runway_for(*bad)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    for name in ("maze/v1.9.0", "maze/v1.10.0", "maze/v1.10.0-rc1", "maze/draft", "mill/v1", "empty/v1"):
        (tmp_path / "cases" / name).mkdir(parents=True)
        if not name.startswith("empty"):
            (tmp_path / "cases" / name / "test-case.toml").write_text("")
    return tmp_path / "cases"


@pytest.mark.parametrize(
    ("ref", "found"),
    [("maze", "maze/v1.10.0"), ("maze@v1.9.0", "maze/v1.9.0"), ("maze@draft", "maze/draft"), ("mill", "mill/v1")],
)
def test_a_slug_finds_its_highest_version_or_the_one_it_names(ref: str, found: str, cases: Path) -> None:
    assert find_case(ref, cases) == cases / found


def test_a_path_finds_a_case_a_manifest_or_a_folder_of_versions(cases: Path) -> None:
    for path in ("mill/v1", "mill/v1/test-case.toml", "mill"):
        assert find_case(str(cases / path), cases / "not here") == cases / "mill/v1"


@pytest.mark.parametrize(
    ("ref", "what"),
    [
        ("maz", 'no "maz" in .*; did you mean "maze"'),
        ("zzz", "there is maze, mill"),
        ("maze@v1.9", 'maze has no version "v1.9": it has draft, v1.9.0, v1.10.0-rc1, v1.10.0; did you mean "v1.9.0"'),
        ("../cases/maze", "is no path here, and no slug"),
        ("..", "holds no test-case.toml"),
        ("", "test-case.toml|no path"),
        ("a\0b", r"a\\x00b"),
        ("\x1b[2J", r"\\x1b"),
        ("empty", 'no "empty"'),
    ],
)
def test_what_cannot_be_found_is_said_with_what_can(ref: str, what: str, cases: Path) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        find_case(ref, cases)
    assert str(caught.value).isprintable()
