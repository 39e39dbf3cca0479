"""A report as a reader opens it: from a file, with the network blocked."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.season.ranking import standings
from evalkit.views import sorting
from evalkit.views.cells import as_html
from evalkit.views.seasons import tables
from tests import made_up_seasons as made
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


def test_on_paper_the_controls_are_gone_and_long_tables_fit_and_repeat_their_head(
    browser: Any, written: dict[str, Path]
) -> None:
    look = "(e) => { const s = getComputedStyle(e); return [s.display, s.fontSize, s.breakInside, s.breakAfter]; }"
    with open_page(browser, size=NARROW) as seen:
        page = seen.page
        page.goto(written["season-1"].as_uri())
        page.get_by_role("searchbox").wait_for()
        page.wait_for_selector(".vega-bindings:has(input)")
        head, row, table = (page.locator(f"table.dataTable {part}").first for part in ("thead", "tbody tr", "tbody"))
        on_screen = table.evaluate(look)
        assert page.locator(".vega-bindings:has(input)").first.is_visible()
        page.emulate_media(media="print")
        for gone in (".dt-search", ".vega-bindings:has(input)", "table.dataTable .dt-column-order"):
            assert page.locator(gone).count() and not page.locator(gone).first.is_visible(), gone
        assert head.evaluate(look)[0] == "table-header-group" and head.evaluate(look)[3] == "avoid"
        assert row.evaluate(look)[2] == "avoid" and page.locator(".chart").first.evaluate(look)[2] == "avoid"
        assert page.locator("table.evk-short").first.evaluate(look)[2] == "avoid"
        assert float(table.evaluate(look)[1].removesuffix("px")) < float(on_screen[1].removesuffix("px"))
        assert page.locator("main").evaluate("(e) => getComputedStyle(e).maxWidth") == "none"
        seen.assert_clean()


def column(table: Any, at: int) -> list[str]:
    """The texts of a column, from top to bottom."""
    return list(table.evaluate("(e, at) => [...e.tBodies[0].rows].map((row) => row.cells[at].innerText.trim())", at))


def value(text: str, is_number: bool) -> Any:
    """What a cell says, read as a person reads it; None for what is missing."""
    if not is_number:
        return None if text in ("", "–") else re.sub(r"^\W+", "", text).casefold()
    said = text.replace(",", "").replace("−", "-").split()
    return float(said[0].rstrip("%×")) if said and said[0][-1] in "0123456789%×" else None


def ordered(texts: list[str], is_number: bool, turned: bool) -> list[Any]:
    """The values of a column as they must stand: what is missing is last, whichever way."""
    values = [value(text, is_number) for text in texts]
    known: list[Any] = [one for one in values if one is not None]
    if is_number:
        known.sort(reverse=turned)
    else:  # digits in a word count as a number: "9 of 10" before "10 of 10"
        known.sort(key=lambda one: [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", one)], reverse=turned)
    return known + [None] * (len(values) - len(known))


def assert_sorts(table: Any, at: int, press: Any) -> None:
    """A heading sorts its column up, then down, and then brings back the order in which the rows came."""
    head = table.locator("thead th").nth(at)
    is_number, came = "n" in (head.get_attribute("class") or "").split(), column(table, at)
    for state, turned in (("ascending", False), ("descending", True)):
        press(head)
        table.locator(f"th[aria-sort={state}]").wait_for(timeout=5_000)  # a long table is drawn a moment later
        found = [value(text, is_number) for text in column(table, at)]
        assert found == ordered(came, is_number, turned), f"{head.inner_text()}, {state}: {column(table, at)}"
        assert head.get_attribute("aria-sort") == state
    press(head)
    table.locator("th[aria-sort]").wait_for(state="detached", timeout=5_000)
    assert column(table, at) == came


def click(head: Any) -> None:
    head.click()


def enter(head: Any) -> None:
    head.locator("[role=button]").focus()
    head.page.keyboard.press("Enter")


@pytest.mark.parametrize("name", ["season-1", "lattice"])
def test_every_table_of_a_report_sorts_by_every_heading_both_ways(
    browser: Any, written: dict[str, Path], name: str
) -> None:
    with open_page(browser) as seen:
        page = seen.page
        page.goto(written[name].as_uri())
        page.wait_for_selector("table.dataTable")
        sorted_by: list[str] = []
        for table in page.locator("table.evk").all():
            assert table.locator("tbody tr").count() < 2 or table.locator("thead [role=button]").count()
            for at in range(table.locator("thead [role=button]").count()):
                assert_sorts(table, at, click)
                sorted_by.append(table.locator("thead th").nth(at).inner_text())
        wanted = {"season-1": {"T, s", "decisions", "score", "proof"}, "lattice": {"fuel", "total fuel", "result"}}
        assert set(sorted_by) >= wanted[name]
        seen.assert_clean()


def test_the_search_of_a_report_leaves_the_rows_that_match_and_they_sort(
    browser: Any, written: dict[str, Path]
) -> None:
    with open_page(browser) as seen:
        page = seen.page
        page.goto(written["season-1"].as_uri())
        table, box = page.locator("table.dataTable"), page.get_by_role("searchbox")
        box.wait_for()
        heads = [head.inner_text() for head in table.locator("thead th").all()]
        whole = column(table, 0)
        assert len(whole) == 90
        box.fill("ghost surface")
        rows = [" ".join(row.split()) for row in table.locator("tbody tr").all_inner_texts()]
        assert len(rows) == 3 and all("ghost" in row and "surface-1" in row for row in rows)
        box.fill("ghost")
        assert column(table, 0) == ["ghost"] * 15
        assert_sorts(table, heads.index("T, s"), click)
        assert_sorts(table, heads.index("decisions"), enter)
        box.fill("no such run")
        assert table.locator("tbody tr").all_inner_texts() == ["No row matches."]
        box.fill("")
        assert column(table, 0) == whole
        seen.assert_clean()


def test_a_table_in_a_widget_sorts_by_pointer_and_by_keyboard_with_no_more_than_a_script(
    browser: Any, tmp_path: Path
) -> None:
    board = standings(made.frame(made.every_kind()), made.SEASON)
    shown = as_html(*tables.standings(board, here="planner"), tables.costs(board, "dollars"))
    assert "<script" not in shown
    (tmp_path / "page.html").write_text(f"<meta charset=utf-8>{sorting.SCRIPT * 2}{shown}", encoding="utf-8")
    with open_page(browser) as seen:
        page = seen.page
        page.goto((tmp_path / "page.html").as_uri())
        for table in page.locator("table.evk").all():
            for at in range(table.locator("thead th").count()):
                assert_sorts(table, at, click)
                assert_sorts(table, at, enter)
        standing = page.locator("table.evk").first
        heads = [head.inner_text() for head in standing.locator("thead th").all()]
        dollars = standing.locator("thead th").nth(heads.index("dollars"))
        for _ in range(2):
            click(dollars)
        assert column(standing, heads.index("dollars"))[-1] == "–", "what is unknown is no more than all that is known"
        assert "planner" in standing.locator("tr.here").inner_text(), "the marked row keeps its mark"
        click(standing.locator("thead th").nth(1))
        assert dollars.get_attribute("aria-sort") is None, "one heading at a time says that it sorts"
        seen.assert_clean()
