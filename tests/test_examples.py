"""The examples in docstrings are run as they stand, so that none grows old."""

from __future__ import annotations

import doctest
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import evalkit

MODULES = ["evalkit", *sorted(module.name for module in pkgutil.walk_packages(evalkit.__path__, "evalkit."))]
ENTRY = {"evalkit.cli.__main__", "evalkit.sandbox.compiler", "evalkit.building.confine"}  # importing these runs them


def examples(name: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder().find(import_module(name))
    return [test for test in found if test.examples]


WITH = [name for name in MODULES if name not in ENTRY and examples(name)]


def test_there_are_examples_to_run() -> None:
    assert len(WITH) >= 7


@pytest.mark.parametrize("name", WITH)
def test_the_examples_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[1])
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    for test in examples(name):
        runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_the_overview_names_every_public_name_and_no_other() -> None:
    said = re.split(r"\n>>>", evalkit.__doc__ or "")[0]
    listed = set(re.findall(r"^    (\w+) ", said, re.M))
    beside = set(re.findall(r"`(\w+)`", said)) | set(re.findall(r"\b(?:[A-Z]\w+Run|Outcome|Verdict)\b", said))
    assert listed <= set(evalkit.__all__)
    assert set(evalkit.__all__) <= listed | beside


@pytest.mark.parametrize("name", evalkit.__all__)
def test_every_public_name_is_there_and_described(name: str) -> None:
    assert (getattr(evalkit, name).__doc__ or "").strip()
