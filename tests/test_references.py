"""Whatever takes a case or a season takes it opened, by path, or by `slug[@version]`, and says what to do otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evalkit
from evalkit.errors import AuthoringError, UsageError
from tests.casework import make_case, make_solution


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_case(tmp_path / "cases")
    make_solution(folder / "solutions" / "pass" / "a")
    monkeypatch.chdir(tmp_path)
    return folder


REFERENCES = ["echo", "echo@v1", "cases/echo", Path("cases/echo/v1")]


@pytest.mark.parametrize("ref", REFERENCES, ids=str)
def test_a_case_is_named_in_every_way_everywhere(ref: Any, project: Path) -> None:
    assert evalkit.find_case(ref).resolve() == project
    assert evalkit.open_case(ref) == evalkit.load_case(project)
    assert evalkit.check_case(ref) == ()
    assert evalkit.read_scaling(ref) == ()
    (solution,) = evalkit.find_solutions(ref)
    run = evalkit.grade(ref, solution)
    with pytest.raises(UsageError, match="has no input"):
        evalkit.watch(ref, run, b"", "none", 1, 2)


def test_a_path_that_is_none_is_said_to_be_a_slug_perhaps() -> None:
    for load, marker, name in (
        (evalkit.load_case, "test-case.toml", "open_case"),
        (evalkit.load_season, "season.toml", "open_season"),
    ):
        with pytest.raises(
            AuthoringError, match=rf"{marker}: is missing in echo: add the file, or .*`evalkit\.{name}`"
        ):
            load("echo")
