"""The report of a season, the report of a reviewed case, and the notebooks of a season, run on a season that is small
and really played.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest

import evalkit
from evalkit.cli import main
from evalkit.errors import UsageError
from evalkit.notebooks import report, run_notebook
from evalkit.season.season import Season
from evalkit.store import Store
from tests.season.seasonplay import leaks, played_season

Played = tuple[Season, str]


@pytest.fixture(autouse=True, scope="module")
def _this_checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels import the package under test, and leave nothing in the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(evalkit.__file__).parents[1]))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return played_season(tmp_path_factory.mktemp("reported"))


@pytest.fixture(scope="module")
def page(played: Played, tmp_path_factory: pytest.TempPathFactory) -> Path:
    season, url = played
    assert season.root is not None
    return report(season.root, url, tmp_path_factory.mktemp("page") / "season.html", kind="season")


class _Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.sources, self.tags, self.skipped = "", [], set[str](), 0
        self.sources: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.skipped += tag in ("script", "style")
        self.sources += [
            value or "" for name, value in attrs if name in ("src", "srcset") or (tag, name) == ("link", "href")
        ]

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        self.text += "" if self.skipped else f"{data} "


def _said(page: Path) -> str:
    return " ".join(_Reader(page.read_text(encoding="utf-8")).text.split())


def test_the_report_asks_for_nothing_and_stays_small(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    read = _Reader(text)
    assert read.sources and all(source.startswith("data:image/png;base64,") for source in read.sources)
    assert not read.tags & {"link", "iframe", "object", "embed", "base"}
    assert "default-src &#x27;none&#x27;" in text and len(text) < 1_800_000
    assert page.with_suffix(".ipynb").is_file()


def test_the_report_states_rules_marks_proof_and_provenance(page: Path, played: Played) -> None:
    said, season = _said(page), played[0]
    for part in (
        "Every result here is the operator's own run on the operator's machine.",
        "60 × objectives done", "40 × the square root of min(1, anchor / T)", "minus 10 where the agent dies",
        "◐ partial 3/4", "✓ verified", "✗ fails", "○ never replayed", "⊘ voided", "Reference rows",
        "On the front of score against decisions", season.digest[:16], season.playable().digest[:16],
        "replayed 30 of 34, last at", "wasmtime", "21_season_report.ipynb, SHA-256",
    ):  # fmt: skip
        assert part in said, part


def test_the_report_has_every_chart_and_a_strip_of_a_run_that_is_no_reference(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    titles = re.findall(r'aria-label="([^":]+)', text)
    for title in ("Season score", "Every run", "Score against decisions", "Score against US dollars", "How long"):
        assert any(found.startswith(title) for found in titles), title
    strip = text[text.index('class="evk-strip"') :]
    assert strip.count("<figure") == 10 and "play begins" in strip
    shown = re.search(r"What does a run look like\?.*?Run ([0-9a-f]{16}), (\w+)", _said(page))
    assert shown is not None and shown[2] == "verified"


def test_no_name_becomes_markup(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<b>& bold" not in text[text.index("<body>") :] and "hasty <b>& bold</b>" in _said(page)


def test_neither_the_report_nor_its_notebook_holds_anything_of_the_anchors_play(page: Path, played: Played) -> None:
    season, url = played
    with Store.open(url) as store:
        assert leaks(page.parent, season, store) == []


def test_a_reference_run_is_not_shown_even_when_it_is_asked_for(played: Played, tmp_path: Path) -> None:
    season, url = played
    with Store.open(url) as store:
        anchor = next(run.run_id for run in store.runs(kind="season") if run.reference == "anchor")
    with pytest.raises(UsageError, match="is a reference run"):
        report(season.root or "", url, tmp_path / "r.html", run_id=anchor, kind="season")
    assert not (tmp_path / "r.html").exists()


def test_the_verb_writes_the_report_of_a_season_that_nobody_has_played(
    played: Played, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Store.open(tmp_path / "empty.sqlite").close()
    words = ["report", str(played[0].root), "-o", str(tmp_path / "r.html"), "--store", str(tmp_path / "empty.sqlite")]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"report": str(tmp_path / "r.html")}
    said = _said(tmp_path / "r.html")
    assert "No run of this season counts yet" in said and "There is no run to show" in said


def test_the_report_of_a_reviewed_case_shows_ranking_verdicts_and_what_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[1])
    store = ["--store", str(tmp_path / "s.sqlite")]
    assert main(["sweep", "outage-note", *store]) == 0
    assert main(["report", "outage-note", "-o", str(tmp_path / "r.html"), *store]) == 0
    said = _said(tmp_path / "r.html")
    for part in ("Ranking by review", "Verdict: ", "by evalkit", "Accuracy", "10 of 10", "✓ met", "✗ not met",
                 "Worklist", "Blames the provider", "Finding:", "operator's own run", "2 of 3 runs that"):  # fmt: skip
        assert part in said, part
    assert said.count("Verdict: ") == 2


@pytest.mark.parametrize(
    ("name", "more"),
    [("04_season_results", {}), ("05_one_run", {}), ("11_sweep_season", {"agents": ["random"], "jobs": 1})],
)
def test_a_notebook_of_a_season_runs(name: str, more: dict[str, Any], played: Played, tmp_path: Path) -> None:
    season, url = played
    if name.startswith("11"):
        url = f"sqlite:///{tmp_path / 'own.sqlite'}"
    values = {"season": str(season.root), "store": url, **more}
    done = nbformat.read(run_notebook(name, values, tmp_path / "out.ipynb"), 4)
    text = json.dumps(done)
    if name.startswith("11"):
        with Store.open(url) as store:
            runs = store.runs(kind="season")
        assert len(runs) == 4 and all(run.verified is True for run in runs)
        assert "4 of 4 replays verified" in text
    if name.startswith("05"):
        assert "Of 2 forgeries of it 2 were found out" in text
    assert "Finding: " in text
