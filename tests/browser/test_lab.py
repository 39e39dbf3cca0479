"""Every notebook in the real JupyterLab: all cells run, nothing complains, nothing leaves the machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.labwork import ROOT, Lab, chromium, open_browser, open_lab, open_page, run_all

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
def test_runs_whole_in_the_real_lab(browser: Any, lab: Lab, notebook: str) -> None:
    with open_page(browser, allowed=lab.host) as seen:
        run_all(seen, lab, notebook)
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
