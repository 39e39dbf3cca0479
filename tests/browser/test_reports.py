"""A report as a reader opens it: from a file, with the network blocked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.labwork import LAPTOP, NARROW, ROOT, open_browser, open_page

REPORTS = ["lattice", "season-1", "outage-note"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def written(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    store = f"sqlite:///{folder}/runs.sqlite"

    def evalkit(*words: str) -> None:
        command = [sys.executable, "-m", "evalkit.cli", *words, "--store", store]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)

    evalkit("import", "data/sample")
    for name in REPORTS:
        evalkit("report", name, "-o", str(folder / f"{name}.html"))
    return {name: folder / f"{name}.html" for name in REPORTS}


@pytest.mark.parametrize("width", ["laptop", "narrow"])
@pytest.mark.parametrize("name", REPORTS)
def test_opens_with_no_network(browser: Any, written: dict[str, Path], name: str, width: str) -> None:
    path = written[name]
    assert path.stat().st_size < 2_000_000
    with open_page(browser, size=LAPTOP if width == "laptop" else NARROW) as seen:
        page = seen.page
        page.goto(path.as_uri())
        page.wait_for_function("() => [...document.querySelectorAll('.chart')].every((e) => e.querySelector('svg'))")
        page.wait_for_timeout(1000)
        drawn = page.evaluate(
            "() => [...document.querySelectorAll('.chart')].map((e) => !!e.querySelector('svg path'))"
        )
        assert drawn or name == "outage-note"
        assert all(drawn), "a chart drew nothing"
        sides = page.evaluate("() => [...document.querySelectorAll('td.n')].map((e) => getComputedStyle(e).textAlign)")
        assert set(sides) <= {"right"}, "a number is not aligned right"
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
        seen.picture(f"report-{name}-{width}")
        seen.assert_clean()


def test_a_slider_of_the_board_re_ranks_without_a_kernel(browser: Any, written: dict[str, Path]) -> None:
    with open_page(browser) as seen:
        page = seen.page
        page.goto(written["lattice"].as_uri())
        chart = page.locator(".chart", has=page.locator("input[name=ceiling]"))
        chart.scroll_into_view_if_needed()
        shown = chart.locator("svg .role-mark text").all_text_contents()
        assert any(text.startswith("#1") for text in shown)
        slider = chart.locator("input[name=ceiling]")
        slider.focus()
        page.keyboard.press("Home")  # a ceiling of nothing: nobody is within it
        page.wait_for_timeout(500)
        assert not chart.locator("svg .role-mark text").all_text_contents()
        page.keyboard.press("End")  # the highest: whoever was right on the runway is within it
        page.wait_for_timeout(500)
        assert len(chart.locator("svg .role-mark text").all_text_contents()) > len(shown)
        seen.picture("board-lattice")
        seen.assert_clean()
