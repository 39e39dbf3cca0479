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


_OUT = """() => {
  const right = (e) => e.getBoundingClientRect().right;
  const out = (bind) => [...bind.querySelectorAll('*')].some((e) => right(e) > right(bind) + 1);
  return [...document.querySelectorAll('.vega-bind')].filter(out).map((bind) => bind.innerText);
}"""


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
        assert page.evaluate(_OUT) == [], "a control of the board leaves its place"
        seen.picture(f"report-{name}-{width}")
        seen.assert_clean()


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_light_throughout_on_a_dark_system(browser: Any, written: dict[str, Path], name: str) -> None:
    with open_page(browser) as seen:
        page = seen.page
        page.emulate_media(color_scheme="dark")
        page.goto(written[name].as_uri())
        page.wait_for_timeout(2500)
        seen.picture(f"report-{name}-dark")
        grounds = page.evaluate(
            "() => [...document.querySelectorAll('select, input, .dt-container, td, th, caption')].flatMap((e) => {"
            " const s = getComputedStyle(e); return [s.backgroundColor, s.color, s.colorScheme]})"
        )
        dark = {"rgb(33, 37, 41)", "rgb(59, 59, 59)", "rgb(222, 226, 230)", "rgb(255, 255, 255)", "dark", "normal"}
        inks = [ground for place, ground in enumerate(grounds) if place % 3]
        assert not dark & {*inks}, "something of the page is dark, or white on white"
        assert "dark" not in page.evaluate("() => document.documentElement.className")


_LEAST = """() => [...document.querySelectorAll('.chart svg')].map((svg) => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return scale * Math.min(...[...svg.querySelectorAll('text')].map((e) => parseFloat(getComputedStyle(e).fontSize)));
})"""

_CUT = """() => [...document.querySelectorAll('.evk-wrap')].filter((wrap) =>
  [...wrap.querySelectorAll('caption span')].some(
    (e) => e.getBoundingClientRect().right > wrap.getBoundingClientRect().right + 1)).map((e) => e.innerText)"""


@pytest.mark.parametrize("name", ["lattice", "season-1"])
def test_on_a_phone_charts_scroll_instead_of_shrinking_and_captions_wrap(
    browser: Any, written: dict[str, Path], name: str
) -> None:
    with open_page(browser, size={"width": 400, "height": 800}) as seen:
        page = seen.page
        page.goto(written[name].as_uri())
        page.wait_for_timeout(2500)
        assert min(page.evaluate(_LEAST)) >= 9
        assert page.evaluate(_CUT) == []
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
        widths = page.evaluate("() => [...document.querySelectorAll('td.p')].map((e) => e.offsetWidth)")
        assert all(width >= 22 * 13 for width in widths) and (widths or name != "lattice")
        seen.picture(f"report-{name}-phone")
        page.set_viewport_size(NARROW)
        cut = "() => [...document.querySelectorAll('td.p')].filter((e) => e.getBoundingClientRect().right > innerWidth)"
        assert page.evaluate(f"{cut}.length") == 0, "what a run failed by is out of sight in a narrow window"
        seen.assert_clean()


def test_the_controls_are_explained_on_the_screen_alone(browser: Any, written: dict[str, Path]) -> None:
    """A printed page has no controls, and no word about them."""
    with open_page(browser) as seen:
        page = seen.page
        page.goto(written["lattice"].as_uri())
        page.wait_for_timeout(2500)
        told = (
            "() => [...document.querySelectorAll('.vega-bindings')].filter((e) => e.offsetHeight > 0"
            " && getComputedStyle(e, '::before').content.includes('Controls')).length"
        )
        assert page.evaluate(told) == 1
        page.emulate_media(media="print")
        assert page.evaluate(told) == 0
        # A heading is one box with room for the head of a table below it; and no search is printed.
        ends = "() => [...document.querySelectorAll('.text_cell:has(h2)')].map((e) => getComputedStyle(e).breakInside"
        ends += " + ' ' + (parseFloat(getComputedStyle(e, '::after').height) > 150))"
        assert {*page.evaluate(ends)} == {"avoid true"}
        boxes = "() => [...document.querySelectorAll('.dt-container div')].map((e) => getComputedStyle(e).display)"
        assert {*page.evaluate(boxes)} == {"block", "none"}
        assert not page.locator(".dt-search").first.is_visible()
        assert "controls" not in page.evaluate("() => document.body.innerText").lower()


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
        assert chart.locator("svg .role-mark text").all_text_contents() == ["Nobody is right and within the ceiling."]
        page.keyboard.press("End")  # the highest: whoever was right on the runway is within it
        page.wait_for_timeout(500)
        assert len(chart.locator("svg .role-mark text").all_text_contents()) > len(shown)
        seen.picture("board-lattice")
        seen.assert_clean()


def test_the_board_of_a_season_re_sorts_without_a_kernel(browser: Any, written: dict[str, Path]) -> None:
    with open_page(browser, size=NARROW) as seen:
        page = seen.page
        page.goto(written["season-1"].as_uri())
        chart = page.locator(".chart", has=page.locator("input[name=completion]"))
        chart.scroll_into_view_if_needed()

        def shown() -> list[tuple[float, str]]:
            """The agents' names from top to bottom: the order in the page is another."""
            texts = chart.locator("svg .role-axis-label text").all()
            return sorted((text.bounding_box()["y"], text.text_content()) for text in texts)

        def order() -> list[str]:
            return [name for _, name in shown() if not name.replace(".", "").isdigit()]

        assert order() == ["route", "ghost", "gunner", "planner", "walker", "random"]
        scores = chart.locator("svg .role-mark text").all_text_contents()
        chart.locator("input[name=completion]").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(500)
        assert chart.locator("svg .role-mark text").all_text_contents() != scores
        assert order()[1] == "ghost"
        for entry in range(4):  # bunker-1 alone is left, and there another agent leads
            chart.locator(f"input[name=e{entry}]").focus()
            page.keyboard.press("Space")
        page.wait_for_timeout(500)
        assert order()[:2] == ["route", "planner"]
        assert any(text.startswith("#1") for text in chart.locator("svg .role-mark text").all_text_contents())
        seen.picture("board-season-1")
        seen.assert_clean()
