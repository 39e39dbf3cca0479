"""Tables and sentences: exact numbers, marks in words, every text escaped, the same with scripts or without."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

from evalkit.records import ReviewedRun
from evalkit.views import frames, grid, prose, tables
from tests import made_up_runs as made

TAGS = set("style div table caption small thead tbody tr th td span p h1 code dl dt dd script".split())  # noqa: SIM905


class _Reader(HTMLParser):
    """Collects tags and the text of each table cell."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: list[str] = []
        self.rows: list[list[str]] = []
        self.align: list[list[str]] = []
        self._in_cell = False
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if tag == "tr":
            self.rows.append([])
            self.align.append([])
        self._in_cell = tag in ("td", "th") or self._in_cell
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.align[-1].append(dict(attrs).get("class") or "")

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data


def _read(shown: Any) -> _Reader:
    return _Reader(shown._repr_html_())


def test_the_leaderboard_groups_thousands_and_aligns_numbers_right() -> None:
    read = _read(tables.leaderboard(made.board(made.every_outcome())))
    assert read.rows[0] == ["rank", "model", "total fuel", "ratio to best", "runs", "best run"]
    assert read.rows[1][:5] == ["1", "Cobalt", "12,136,779", "1.000", "2"]
    assert [row[0] for row in read.rows[1:]] == ["1", "2", "3", "3"]
    assert read.align[1][2] == "n" and read.align[1][1] == "t"  # a browser test sees what that looks like


def test_results_stand_in_two_sections() -> None:
    smoke, stress = tables.results(made.run("Flint", 3.3))
    first, second = _read(smoke), _read(stress)
    assert first.rows[1] == ["A lone item travels the length of a belt and stops at its end.", "smoke-belt", "✓ pass"]
    assert second.rows[-1][:6] == [
        "mega-base-16k",
        "88,479,270",
        "50,000,000",
        "+77.0 %",
        "100,000,000",
        "▲ over ceiling",
    ]


def test_a_closed_gate_shows_the_wrong_behaviour_and_skips_the_rest() -> None:
    smoke, stress = (_read(table) for table in tables.results(made.run("Heron", gate_closed=True)))
    assert smoke.rows[2][2:] == ["✗ incorrect", "17", "wrong_answer · expected 4 items, found 3"]
    assert all(row[1] == "–" and row[3] == "–" and row[5] == "○ skipped" for row in stress.rows[1:])


def test_all_runs_keep_and_mark_what_is_never_ranked() -> None:
    waiting = ReviewedRun(case="c", version="v", variant="base", model="m", solution_digest="s", case_digest="d")
    table = tables.runs([*made.every_outcome(), waiting])
    read = _read(table)
    marks = {row[3] for row in read.rows[1:]}
    assert {"✓ pass", "▲ over ceiling", "✗ incorrect", "? ungraded", "⊘ voided (✓ pass)", "○ unreviewed"} <= marks
    assert "1 ungraded and 1 voided" in table.note
    assert "fuel schedule" in read.rows[0] and "version" in read.rows[0]


def test_columns_in_which_all_runs_agree_are_left_out() -> None:
    assert "variant" not in _read(tables.runs(made.every_outcome())).rows[0]


def test_standing_tells_a_slower_duplicate_of_its_models_best_run() -> None:
    runs = made.every_outcome()
    slower = next(run for run in runs if run.model == "Aster 2" and run.attempt == 2)
    facts = dict(_read(tables.standing(slower, made.place(runs, slower.run_id))).rows[1:])
    assert facts["rank"] == "4 of 4"
    assert facts["this model's best run"] == f"{runs[0].total_fuel:,} fuel"
    assert "only a passing run" in dict(_read(tables.standing(made.run("E", 2.6), None)).rows[1:])["rank"]


@pytest.mark.parametrize("number", [0, 1, 40])
@pytest.mark.parametrize("live", [False, True])
def test_tables_of_any_length_hold_all_their_rows(number: int, live: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "_loaded", live)
    table = tables.runs(made.many(number))
    read = _read(table)
    assert len(read.rows) == 1 + max(1, number)
    assert ("script" in read.tags) == (live and number >= grid.SEARCHABLE_FROM)
    if number == 0:
        assert "evalkit grade" in read.rows[1][0]


@pytest.mark.parametrize("live", [False, True])
def test_no_name_becomes_markup(live: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "_loaded", live)
    runs = made.hostile()
    case = made.case(name=made.HOSTILE[0], summary=made.HOSTILE[1], slug=made.HOSTILE[2])
    shown = [
        tables.leaderboard(made.board(runs)), tables.runs(runs), tables.standing(runs[0], None),
        *tables.results(runs[0]),
        prose.heading(case), prose.rules(case), prose.finding(made.board(runs)), prose.cohort(runs),
        *map(prose.outcome, runs), prose.provenance({made.HOSTILE[0]: made.HOSTILE[1]}),
    ]  # fmt: skip
    for item in shown:
        markup, read = item._repr_html_(), _read(item)
        assert read.tags <= TAGS
        assert read.handlers == []
        assert markup.count("<script") == markup.count("</script>") <= 1
        assert "\x1b" not in markup and "\u202e" not in markup


def test_runs_of_other_files_or_of_another_version_of_the_case_are_named() -> None:
    runs = made.every_outcome()
    digest, old = runs[0].case_digest, [made.run("Elder", version="v0.9.0")]
    assert {run.case_digest for run in runs} == {digest}
    same = repr(prose.cohort(runs, made.case(digest=lambda: digest), runs))
    assert "case belts, version v1.0.0" in same and "other" not in same
    changed = repr(prose.cohort(runs, made.case(digest=lambda: "0" * 64), [*runs, *old]))
    assert f"{len(runs)} runs of them were graded on other files of the case" in changed
    assert "Of other versions, and not here: v0.9.0." in changed
    none = repr(prose.cohort([], made.case(), old))
    assert "No run of belts@v1.0.0 is kept yet" in none and "v0.9.0" in none


def test_every_view_takes_no_run_at_all() -> None:
    for item in (*tables.results(None), tables.standing(None, None), tables.runs([]), tables.leaderboard([])):
        assert "evalkit grade" in item._repr_html_()
    assert "no graded run" in repr(prose.outcome(None))
    assert "no run has passed" in repr(prose.finding([]))
    assert frames.chosen_run([]) is None and frames.latest_cohort([]) == []


def test_one_per_model_prefers_a_pass_then_the_least_overshoot() -> None:
    shown = frames.one_per_model(made.every_outcome())
    assert [run.model for run in shown][:2] == ["Cobalt", "Aster 2"]
    assert shown[0].voided is None
    ember = next(run for run in shown if run.model == "Ember-9b")
    assert ember.attempt == 2
    aliased = frames.one_per_model(made.every_outcome(), {"ember-9b": "Cobalt"})
    assert "Ember-9b" not in {run.model for run in aliased}


def test_a_cohort_never_mixes_what_may_not_be_compared() -> None:
    old = [made.run("Aster 2", fuel_schedule="99" * 32, recorded_at="2020-01-01T00:00:00Z")]
    runs = made.every_outcome()
    assert frames.latest_cohort([*old, *runs]) == runs
    assert frames.latest_cohort(runs, version="v9") == []


def test_the_finding_names_ties_at_the_top() -> None:
    said = repr(prose.finding(made.board([made.run("Aster"), made.run("Borealis")])))
    assert "Aster and Borealis share the lead with" in said
    assert "alone in its field" in repr(prose.finding(made.board([made.run("Aster")])))


def test_the_rules_state_the_cases_own_constants() -> None:
    said = repr(prose.rules(made.case()))
    assert "50,000,000 fuel" in said and "2× to 10× the ceiling" in said and "3 smoke inputs" in said
