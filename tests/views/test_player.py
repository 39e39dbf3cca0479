"""The player and the still: whole, small, inert whatever the names are, and well-formed."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from evalkit.errors import UsageError
from evalkit.performance.playback import Playback
from evalkit.performance.scene import FORMS
from evalkit.records import Outcome
from evalkit.views import factory, frames, player, stills
from tests import made_up_runs as made
from tests.made_up_runs import HOSTILE
from tests.made_up_scene import scene


def playback(**changes: Any) -> Playback:
    made = Playback(
        case="echo", version="v1", run_id="0123456789abcdef", model="a model", input="small", outcome=Outcome.PASS,
        reason=None, fuel=1000, first=1, last=4, scene=scene(), states={1: "a", 2: "b"}, checked=(2, 1250),
        wrong_from=None, is_recorded=True,
    )  # fmt: skip
    return replace(made, **changes)


def packed(page: str) -> Any:
    """Return the data that a page carries."""
    (found,) = re.findall(r'const PACKED="([A-Za-z0-9+/=]+)"', page)
    return json.loads(gzip.decompress(base64.b64decode(found)))


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def hostile() -> Playback:
    return playback(
        model=HOSTILE[0],
        input=HOSTILE[1],
        reason=HOSTILE[3],
        scene=scene(names=(HOSTILE[0], HOSTILE[2])),
        is_recorded=False,
    )


def test_the_page_carries_the_whole_scene_and_asks_for_nothing() -> None:
    page = player.show(playback()).page()
    data = packed(page)
    assert data["scene"] == scene()
    assert set(data["glyphs"]) == set(FORMS)
    assert (data["marks"], data["wrongFrom"], data["used"]) == ([2], None, [0, 1])
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|//cdn|@import|url\(|\bfetch\(|XMLHttpRequest|import\(", page)
    assert not [attrs for _, attrs in _Tags(page).found if {"src", "href"} & set(attrs)]


def test_a_notebook_gets_a_frame_that_may_run_scripts_and_nothing_else() -> None:
    markup = player.show(playback())._repr_html_()
    (frame,) = [attrs for tag, attrs in _Tags(markup).found if tag == "iframe"]
    assert frame["sandbox"] == "allow-scripts"
    assert frame["title"] == "a model on small, ticks 1 to 4"
    assert frame["srcdoc"] == player.show(playback()).page()


def test_what_was_compared_is_a_table_by_tick() -> None:
    states = {tick: f"s{tick}" for tick in (1, 2, 3, 4, 1250)}
    table = player.show(playback(states=states)).table
    assert table["tick"].tolist() == [1, 2, 3, 4] and table["graded"].tolist() == [False, True, False, False]
    assert not table["wrong"].any() and table["state"].notna().all()
    assert player.show(playback(states=states, wrong_from=3)).table["wrong"].tolist() == [False, False, True, True]


def test_hostile_names_are_inert() -> None:
    markup = player.show(hostile())._repr_html_()
    tags = [tag for tag, _ in _Tags(markup).found]
    assert tags.count("script") == markup.count("<script") == 1 and "img" not in tags
    assert not [name for _, attrs in _Tags(markup).found for name in attrs if name.startswith("on")]
    page = player.show(hostile()).page()
    assert page.count("<script") == page.count("</script>") == 1
    assert "pwned" not in page  # it is in the packed data alone, and gets out of it as text
    assert "pwned" in packed(page)["scene"]["shapes"][0]["title"]
    assert "\x1b" not in json.dumps(packed(page), ensure_ascii=False) and "\u202e" not in markup


def test_the_scripts_put_names_on_the_page_as_text_alone() -> None:
    page = player.show(playback()).page()
    for line in page.splitlines():
        if "innerHTML" in line or "insertAdjacent" in line or "document.write" in line:
            assert "name" not in line and "title" not in line
    assert "eval(" not in page and "new Function" not in page


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "its states are the expected ones at the graded ticks 2; 1,250."),
        ({"wrong_from": 1000, "outcome": Outcome.INCORRECT}, "wrong from tick 1,000 on"),
        ({"is_recorded": False}, "left no answer"),
        ({"outcome": Outcome.OVER_CEILING}, "over ceiling"),
    ],
)
def test_the_page_says_what_was_compared(changes: dict[str, Any], said: str) -> None:
    assert said in repr(player.show(playback(**changes)))


def test_the_frame_is_as_high_as_the_factory_within_reason() -> None:
    low, high = (player.show(playback(scene={**scene(), "height": height})).height for height in (1, 500))
    assert 300 < low < high < 900
    assert player.show(playback(), height=500).height == 500


@pytest.mark.parametrize("inks", [factory.LIGHT, factory.DARK])
@pytest.mark.parametrize("tick", [1, 2, 3, 4])
def test_a_still_is_well_formed_and_needs_nothing_else(tick: int, inks: dict[str, str]) -> None:
    root = ElementTree.fromstring(stills.still(scene(), tick, inks=inks))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [node for node in root.iter() if node.tag.endswith(("script", "image", "use", "style"))]
    texts = [node.text for node in root.iter() if node.tag.endswith("text")]
    assert {"ore", "plate", "12345"} <= set(texts)


def test_a_still_shows_an_item_only_in_the_ticks_in_which_it_is_there() -> None:
    ring = scene()["items"][1]["colour"]
    counts = [stills.still(scene(), tick).count(f'fill="{ring}"') for tick in (1, 2, 3)]
    assert counts[1] == counts[0] + 1 == counts[2]  # in tick 3 it is gone, and the machine holds one instead


def test_a_still_is_of_a_tick_of_its_scene_and_scales_to_its_width() -> None:
    with pytest.raises(UsageError, match="tick 5 is not in this scene: it shows 1 to 4"):
        player.show(playback()).still(5)
    assert 'width="288"' in stills.still(scene(), 1)
    assert 'viewBox="0 0 240 ' in stills.still(scene(), 1, width=240)


def test_hostile_names_are_inert_in_a_still() -> None:
    still = player.show(hostile()).still(2)
    root = ElementTree.fromstring(still.svg)
    assert not [node for node in root.iter() if node.tag.endswith(("script", "img"))]
    assert "<script" not in still._repr_html_() and "\x1b" not in still.svg
    assert "window.pwned" in unescape(still.svg)


def test_two_runs_are_compared_in_a_sentence() -> None:
    said = repr(player.compared(playback(), playback(model="b", fuel=2500)))
    assert "a model and b are in the same state at every tick" in said and "2.5×" in said.replace("2.50×", "2.5×")
    assert "different states at tick 2" in repr(player.compared(playback(), playback(states={2: "z"})))
    assert "no run over the ceiling" in repr(player.compared(playback(), None))


def test_the_run_over_the_ceiling_and_the_input_to_watch_are_found() -> None:
    runs = made.every_outcome()
    over = frames.over_ceiling_run(runs)
    assert over is not None and over.outcome is Outcome.OVER_CEILING
    assert frames.over_ceiling_run([run for run in runs if run.outcome is Outcome.PASS]) is None
    assert frames.input_to_watch(over) == made.STRESS[0][0]
    assert frames.input_to_watch(over, "another") == "another"
    with pytest.raises(UsageError, match="graded on no input"):
        frames.input_to_watch(replace(over, inputs=()))
