"""Every notebook in the real JupyterLab: all cells run, nothing complains, nothing leaves the machine.

And the widgets by keyboard, as a person has them under the hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.labwork import (
    IDLE,
    NARROW,
    ROOT,
    Lab,
    Seen,
    ask,
    chromium,
    command,
    last_cell,
    open_browser,
    open_lab,
    open_page,
    run_all,
)

NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    chromium()
    with open_lab(Path(tmp_path_factory.mktemp("lab"))) as opened:
        yield opened


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_runs_whole_in_the_real_lab_and_ends_with_a_finding(browser: Any, lab: Lab, notebook: str) -> None:
    with open_page(browser, allowed=lab.host) as seen:
        run_all(seen, lab, notebook)
        assert "Finding: " in last_cell(seen.page)
        seen.picture(f"lab-{notebook.removesuffix('.ipynb')}")
        seen.assert_clean()


def test_the_factory_player_plays_and_steps(browser: Any, lab: Lab) -> None:
    with open_page(browser, allowed=lab.host) as seen:
        page = seen.page
        run_all(seen, lab, "03_watch_a_factory.ipynb")
        page.locator("iframe.evk-player").first.scroll_into_view_if_needed()
        player = page.frame_locator("iframe.evk-player").first
        tick = player.locator("#tick")
        begun = tick.inner_text()
        player.locator("#step").click()
        after_a_step = tick.inner_text()
        assert after_a_step != begun
        player.locator("#play").click()
        page.wait_for_timeout(1500)
        assert tick.inner_text() != after_a_step
        seen.picture("factory-player")
        seen.assert_clean()


def changes(page: Any, what: Any, before: str) -> str:
    """Wait until the text of something is another one and stays so, and return that."""
    last, same = before, 0
    for _ in range(300):  # the machine may be busy
        now = str(what.inner_text())
        same = same + 1 if now == last != before and page.query_selector(IDLE) else 0
        if same == 6:
            return now
        last = now
        page.wait_for_timeout(100)
    raise AssertionError(f"it still says {before[:300]}")


def show(seen: Seen, what: Any, name: str) -> None:
    """Keep two pictures of a part of the notebook: at laptop width in the light, in a narrow window in the dark."""
    page, wide = seen.page, seen.page.viewport_size
    ask(page, "() => window.jupyterapp.shell.collapseLeft()")
    for theme, size, called in (("Light", wide, name), ("Dark", NARROW, f"{name}-narrow-dark")):
        command(page, "apputils:change-theme", theme=f"JupyterLab {theme}")
        page.set_viewport_size(size)
        page.wait_for_timeout(400)
        what.evaluate("(e) => e.scrollIntoView({block: 'start'})")
        page.wait_for_timeout(400)
        seen.picture(called)
        cut = what.evaluate("(e) => e.getBoundingClientRect().right - innerWidth")
        assert cut <= 0, f"{called} is cut off at the right by {cut:g} pixels"
    page.set_viewport_size(wide)


def numbers(heading: Any) -> list[float]:
    """The numbers below a heading of a table, from top to bottom; what is missing is left out."""
    script = "(th) => [...th.closest('table').tBodies[0].rows].map((row) => row.cells[th.cellIndex].innerText)"
    return [float(text.replace(",", "")) for text in heading.evaluate(script) if text != "–"]


def press(page: Any, key: str, times: int = 1) -> None:
    for _ in range(times):
        page.keyboard.press(key)


@pytest.mark.parametrize(
    ("what", "handle", "key", "times", "told"),
    [("lattice", 2, "ArrowLeft", 14, "rows differ"), ("season-1", 1, "ArrowRight", 3, "No rank differs")],
)
def test_a_slider_of_what_if_moves_by_keyboard_and_the_reset_button_brings_all_back(
    browser: Any, lab: Lab, what: str, handle: int, key: str, times: int, told: str
) -> None:
    name = "06_what_if.ipynb"
    if what == "season-1":
        name = lab.with_parameters(name, "what_if_season.ipynb", what=what, store=None, changes=["completion=50"])
    with open_page(browser, allowed=lab.host) as seen:
        page = seen.page
        run_all(seen, lab, name)
        board = page.locator(".jp-OutputArea-output .evk-keys").first
        board.scroll_into_view_if_needed()
        ranks, reset = board.locator("table.evk").first, board.get_by_role("button", name="Reset to official")
        changed = ranks.inner_text()  # the notebook itself has changed something
        reset.focus()
        press(page, "Enter")
        official = changes(page, ranks, changed)
        field = board.locator("input[type=number]").nth(handle)
        exact = field.input_value()
        board.locator(".noUi-handle").nth(handle).focus()
        press(page, key, times)
        moved = changes(page, ranks, official)
        assert field.input_value() != exact and board.get_by_text(told).count() == 1
        show(seen, board, f"what-if-{what}")
        reset.focus()
        press(page, "Enter")
        back = changes(page, ranks, moved)
        assert back == official and field.input_value() == exact
        last = "Inputs and score" if what == "lattice" else "Entries and seeds"
        tick = board.get_by_role("checkbox", name="large" if what == "lattice" else "seed 2", include_hidden=True)
        assert not tick.is_visible()
        for _ in range(30):
            if last in page.evaluate("() => document.activeElement.textContent"):
                break
            press(page, "Tab")
        press(page, "Space")
        tick.wait_for(timeout=5_000)
        press(page, "Tab")  # into what has opened
        heading = board.locator("table.evk").first.locator("th", has_text=re.compile(r"^official (score|fuel)$"))
        ways = []
        for _ in range(2):  # by keyboard: Lab does not take the key for its own
            heading.get_by_role("button").focus()
            press(page, "Enter")
            ways.append((heading.get_attribute("aria-sort"), numbers(heading)))
        assert [way for way, _ in ways] == ["ascending", "descending"]
        assert ways[0][1] == sorted(ways[0][1]) and ways[1][1] == ways[0][1][::-1] and len(set(ways[0][1])) > 1
        seen.assert_clean()


def test_a_key_that_is_held_on_a_slider_loses_no_step(browser: Any, lab: Lab) -> None:
    name = lab.with_parameters("06_what_if.ipynb", "held.ipynb", what="season-1", store=None, changes=["death=20"])
    with open_page(browser, allowed=lab.host) as seen:
        run_all(seen, lab, name)
        board = seen.page.locator(".jp-OutputArea-output .evk-keys").first
        field = board.locator("input[type=number]").first
        before = float(field.input_value())
        board.locator(".noUi-handle").first.focus()
        for _ in range(25):
            seen.page.keyboard.press("ArrowLeft")
            seen.page.wait_for_timeout(25)
        seen.page.wait_for_timeout(2500)
        assert float(field.input_value()) == before - 25


def test_a_run_is_picked_in_the_console_and_a_seasons_is_watched_and_stepped(browser: Any, lab: Lab) -> None:
    with open_page(browser, allowed=lab.host) as seen:
        page = seen.page
        run_all(seen, lab, "08_browse.ipynb")
        console = page.locator(".jp-OutputArea-output .evk-keys").first
        console.scroll_into_view_if_needed()
        place, who, _, runs = (console.locator("select").nth(at) for at in range(4))
        own = console.locator(".lm-TabBar-tabLabel").first
        pane = console.locator(".widget-tab-contents")

        place.focus()
        page.keyboard.type("lattice")  # a list goes to what is typed
        changes(page, own, "Score")
        assert own.inner_text() == "Results"
        before = pane.inner_text()
        runs.focus()
        press(page, "ArrowDown")
        assert "Correct" in changes(page, pane, before) or "incorrect" in pane.inner_text()
        show(seen, console, "console-case")

        place.focus()
        page.keyboard.type("season-1")
        changes(page, own, "Results")
        who.focus()
        before = pane.inner_text()
        page.keyboard.type("ghost")
        before = changes(page, pane, before)
        runs.focus()
        press(page, "ArrowDown")
        changes(page, pane, before)
        page.get_by_role("button", name="Watch this run").focus()
        press(page, "Enter")
        screen = console.locator("img[alt^='the screen at tick']")
        screen.wait_for(timeout=60_000)
        begun = screen.get_attribute("src")
        console.get_by_title("one frame on").focus()
        press(page, "Enter", 3)
        page.wait_for_function("(was) => document.querySelector('.evk-keys img').src !== was", arg=begun)
        show(seen, console, "console-season")
        seen.assert_clean()


def test_a_replay_is_scrubbed_by_keyboard_and_plays(browser: Any, lab: Lab) -> None:
    with open_page(browser, allowed=lab.host) as seen:
        page = seen.page
        run_all(seen, lab, "05_one_run.ipynb")
        player = page.locator(".jp-OutputArea-output .evk-keys").first
        player.scroll_into_view_if_needed()
        screen = player.locator("img[alt^='the screen at tick']")
        begun = screen.get_attribute("alt")
        player.locator(".noUi-handle").focus()
        press(page, "ArrowRight", 5)
        changed = "([was]) => document.querySelector('.evk-keys img').alt !== was"
        page.wait_for_function(changed, arg=[begun])
        stepped = screen.get_attribute("alt")
        player.locator("select[size]").focus()  # the list of decisions: arrows are its own, no command of Lab
        press(page, "ArrowDown", 8)
        page.wait_for_function(changed, arg=[stepped])
        stepped = screen.get_attribute("alt")
        player.locator(".widget-play button").first.click()
        page.wait_for_function(changed, arg=[stepped])
        page.wait_for_timeout(1000)
        player.locator(".widget-play button").first.click()
        show(seen, player, "replay-player")
        seen.assert_clean()
