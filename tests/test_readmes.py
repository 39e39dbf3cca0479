"""What the READMEs say of the kit is so: links lead somewhere, verbs are there, tables are of the committed sample."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from evalkit.cli.arguments import _VERBS, parse
from evalkit.records import SeasonRun
from evalkit.season import load_season
from evalkit.store import Store
from tests.season_1 import figures

ROOT = Path(__file__).parents[1]
READMES = [ROOT / "README.md", ROOT / "cases" / "season-1" / "README.md"]


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_every_link_leads_to_a_file_and_to_a_heading_of_it(readme: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", readme.read_text())
    assert len(links) > 1
    for name, heading in links:
        target = (readme.parent / name).resolve()
        assert target.exists(), name
        if heading:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.M)
            assert heading in {re.sub(r"[^\w-]", "", head.lower().replace(" ", "-")) for head in headings}


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_before_the_first_command_stands_what_makes_it_one(readme: Path) -> None:
    text = readme.read_text()
    first = re.search(r"^evalkit ", text, re.M)
    assert first and ". .venv/bin/activate" in text[: first.start()]


def test_every_verb_is_named() -> None:
    text = READMES[0].read_text()
    assert [verb for verb in _VERBS if not re.search(rf"evalkit {verb}\b|`{verb}`", text)] == []


def test_every_command_of_season_one_can_be_given() -> None:
    commands = re.findall(r"^evalkit (.*?)(?: +#.*)?$", READMES[1].read_text(), re.M)
    assert len(commands) >= 8
    for command in commands:
        assert parse(shlex.split(command)).verb == command.split()[0]


def test_the_standing_of_season_one_is_that_of_the_sample() -> None:
    """Fails after the game or an agent has changed: `python -m tests.season_1.figures --write` writes it again."""
    with Store.open("sqlite://") as store:
        store.import_(ROOT / "data" / "sample")
        runs = [run for run in store.runs(season="season-1") if isinstance(run, SeasonRun)]
    table = figures.standing(load_season(figures.ROOT), runs)
    assert len(table) > 6
    assert "\n".join(table) in figures.README.read_text()
