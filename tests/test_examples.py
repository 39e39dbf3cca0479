"""The examples in docstrings are run as they stand, so that none grows old."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import evalkit

MODULES = sorted(module.name for module in pkgutil.walk_packages(evalkit.__path__, "evalkit."))
ENTRY = {"evalkit.cli.__main__", "evalkit.sandbox.compiler", "evalkit.building.confine"}  # importing these runs them


def examples(name: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder().find(import_module(name))
    return [test for test in found if test.examples]


WITH = [name for name in MODULES if name not in ENTRY and examples(name)]


def test_there_are_examples_to_run() -> None:
    assert len(WITH) >= 7


@pytest.mark.parametrize("name", WITH)
def test_the_examples_hold(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    for test in examples(name):
        runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)
