"""Why: the README's one picture is taken of the real thing, so that it can be taken again when the thing changes.

`python -m tests.browser.picture` opens the console in JupyterLab on the committed sample, replays every run of it,
picks one of Season One, watches it, and writes `notebooks/pictures/console.png`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.browser.labwork import ROOT, Seen, open_browser, open_lab, run_all

TARGET = ROOT / "notebooks" / "pictures" / "console.png"
WIDTH, SCALE, MARGIN = 1360, 0.75, 10


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser, open_lab(Path(folder)) as lab:
        store = f"sqlite:///{folder}/runs.sqlite"
        verify = [sys.executable, "-m", "evalkit.cli", "verify", "--all", "--store", store]
        subprocess.run(verify, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        size = {"width": WIDTH, "height": 1400}
        page = browser.new_context(viewport=size, device_scale_factor=SCALE).new_page()
        run_all(Seen(page), lab, "08_browse.ipynb")
        page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        console = page.locator(".jp-OutputArea-output .evk-keys").first
        for at, words in ((0, "season-1"), (1, "ghost")):
            console.locator("select").nth(at).focus()
            page.keyboard.type(words)
            page.wait_for_timeout(1500)
        console.locator("select").nth(3).select_option(index=6)
        page.wait_for_timeout(1500)
        page.get_by_role("button", name="Watch this run").click()
        screen = console.locator("img[alt^='the screen at tick']")
        screen.wait_for(timeout=60_000)
        console.locator(".noUi-handle").focus()
        for _ in range(34):
            page.keyboard.press("ArrowRight")
        page.wait_for_timeout(2000)
        console.evaluate("(e) => e.scrollIntoView({block: 'start'})")
        page.wait_for_timeout(500)
        box, seen = console.bounding_box(), screen.bounding_box()
        TARGET.parent.mkdir(exist_ok=True)
        low = seen["y"] + seen["height"] + 35 - box["y"]  # down to what is said of the screen
        clip = {"x": box["x"] - MARGIN, "y": box["y"], "width": box["width"] + MARGIN, "height": low}
        page.screenshot(path=str(TARGET), clip=clip)
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
