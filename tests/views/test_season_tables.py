"""Season tables and sentences: exact numbers, marks in words, dashes for what does not exist, no name as markup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalkit.performance.manifest import open_case
from evalkit.performance.rank import review_leaderboard
from evalkit.records import Review, ReviewedRun
from evalkit.season.compare import seeds_to_separate
from evalkit.season.ranking import cell_scores, standings
from evalkit.season.score import Rules
from evalkit.season.season import Season
from evalkit.season.wording import rules_in_words
from evalkit.views import grid, reviews
from evalkit.views.cells import as_html
from evalkit.views.grid import Cell, Column, Table
from evalkit.views.seasons import prose, rows, tables
from tests import made_up_seasons as made
from tests.views.test_tables import TAGS, _read

BOARD = standings(made.frame(made.every_kind()), made.SEASON)


def test_reference_rows_stand_apart_and_partial_ones_take_no_rank() -> None:
    field, apart = (_read(table) for table in tables.standings(BOARD))
    names = [row[1] for row in field.rows[1:]]
    assert [row[:2] for row in apart.rows[1:]] == [["anchor", "route"], ["floor", "random"]]
    assert "route" not in names
    partial = field.rows[1 + names.index("half-way")]
    assert partial[0] == "–" and partial[4] == "◐ partial 7/15"
    assert [row[0] for row in field.rows[1:] if row[0] != "–"] == [str(n) for n in range(1, 9)]


def test_unknown_dollars_are_a_dash_and_an_incomplete_sum_says_so() -> None:
    runs = [*made.model("some", 0.5, 100, 0.5), *made.model("none", 0.4, None, None)]
    runs[0]["dollars"] = None
    read = _read(tables.standings(standings(made.frame(runs), made.SEASON))[0])
    head = read.rows[0]
    found = {row[1]: dict(zip(head, row, strict=True)) for row in read.rows[1:]}
    assert found["some"]["dollars"].endswith(" +?") and found["none"]["dollars"] == "–"
    assert found["none"]["tokens"] == "–"


def test_all_runs_are_listed_with_what_makes_them_not_count() -> None:
    frame, counted = made.frame(made.every_kind()), made.runs(made.every_kind())
    table = tables.runs(frame, counted, made.SEASON)
    read = _read(table)
    head = read.rows[0]
    found = [dict(zip(head, row, strict=True)) for row in read.rows[1:]]
    assert len(found) == len(frame) and f"{len(frame)} kept, 2 of which count nowhere" in table.note
    assert {row["proof"] for row in found} == {"✓ verified", "✗ fails", "○ never replayed", "⊘ voided", "? ungraded"}
    voided = next(row for row in found if row["proof"] == "⊘ voided")
    assert voided["score"] == "–" and voided["note"] == "voided: a wrong build"
    order = list(dict.fromkeys(row["agent"] for row in found))
    points = counted.groupby("agent")["score"].mean()
    mean = [points[agent] for agent in order[:-2]]
    assert mean == sorted(mean, reverse=True) and {name.split()[0] for name in order[-2:]} == {"route", "random"}
    assert all("(anchor)" in name or "(floor)" in name for name in order[-2:])
    first = [row["entry"] for row in found if row["agent"] == order[0]]
    assert first == sorted(first, key=[e.level for e in made.SEASON.entries].index)


def test_a_list_that_is_cut_says_so_and_its_marks_can_still_be_counted() -> None:
    rows_ = [
        made.run(f"a{n % 9}", made.LEVELS[n % 5][0], n % 3, attempt=1 + n // 45, verified=(True, None)[n % 2])
        for n in range(2_250)
    ]
    rows_[-1] |= {"verified": False, "run_id": "f" * 16}
    rows_[-2] |= {"voided": "a wrong build", "run_id": "e" * 16}
    table = tables.runs(made.frame(rows_), made.runs(rows_), made.SEASON)
    assert len(table.rows) == 1_000
    assert "1,250 more are listed by: evalkit runs --season spies@1.0. Whole: evalkit export DIR" in table.note
    assert "2,250 kept" in table.note and table.title == "Runs, 1,000 of 2,250"
    assert "ffffffff" in {row[-3].text for row in table.rows} | {row[-2].text for row in table.rows}, "a failing run"
    assert table.above is not None
    head, *body = _read(table.above).rows
    assert head[:2] == ["agent", "runs"] and len(body) == 9
    totals = {mark: sum(int(row[i].replace("–", "0")) for row in body) for i, mark in enumerate(head) if i}
    assert totals == {"runs": 2_250, "✓ verified": 1_124, "✗ fails": 1, "○ never replayed": 1_124, "⊘ voided": 1}
    assert "Proof, run by run" in table._repr_html_()
    whole = tables.runs(made.frame(rows_[:1_000]), made.runs(rows_[:1_000]), made.SEASON)
    assert len(whole.rows) == 1_000 and whole.above is None and whole.title == "All runs"


def test_tokens_and_dollars_stand_only_where_some_were_spent() -> None:
    free = made.frame([*made.model("a", 0.5, 0, 0.0), *made.model("b", 0.4, None, None)])
    field, apart = tables.standings(standings(free, made.SEASON))
    assert not {"tokens", "dollars"} & {*_read(field).rows[0], *_read(apart).rows[0]}
    assert "none is known to have spent" in field.note
    field, apart = tables.standings(BOARD)
    assert {"tokens", "dollars"} <= {*_read(field).rows[0]} and "a dash is unknown" in field.note
    assert not {"tokens", "dollars"} & {*_read(apart).rows[0]}


@pytest.mark.parametrize("number", [0, 1, 40])
def test_tables_of_any_length_hold_all_their_rows(number: int) -> None:
    runs = made.many(number) if number != 1 else [made.run("alone", "dam", 0)]
    field, apart = tables.standings(standings(made.frame(runs), made.SEASON))
    assert len(_read(field).rows) == 1 + max(1, number) and len(_read(apart).rows) == 2
    if not number:
        assert "evalkit sweep" in field._repr_html_()


def test_one_cell_has_no_standard_error() -> None:
    field, _ = tables.standings(standings(made.frame([made.run("alone", "dam", 0)]), made.SEASON))
    assert _read(field).rows[1][3] == "–"


def test_no_name_becomes_markup() -> None:
    runs = made.hostile()
    board, frame = standings(made.frame(runs), made.SEASON), made.frame(runs)
    counted = made.runs(runs)
    named = Season(
        slug="s", version="1", digest="d" * 64, name=made.HOSTILE[0], entries=made.SEASON.entries, seeds={0: 1}
    )
    shown: list[Any] = [
        *tables.standings(board), tables.costs(board), prose.cost_finding(board),
        tables.runs(frame, counted, made.SEASON), tables.entries(named),
        prose.heading(named), prose.finding(board), prose.coverage(board, made.SEASON),
        *(prose.chosen(row) for row in rows.run_rows(counted, made.SEASON)[:6]),
    ]  # fmt: skip
    for item in shown:
        markup = item._repr_html_()
        assert _read(item).tags <= TAGS and "\x1b" not in markup and "\u202e" not in markup
        assert "<script" not in markup and "<img" not in markup


def test_the_rules_are_said_with_the_seasons_own_constants() -> None:
    other = Season(
        slug="s", version="1", digest="d" * 64, entries=made.SEASON.entries[:1], seeds={0: 1, 5: 2},
        rules=Rules(objectives=55, completion=35, death=7, exponent=0.75), tick_limit=4321,
    )  # fmt: skip
    said = " ".join(rules_in_words(other))
    for part in ("55 × objectives", "35 × min(1, anchor / T) to the power 0.75", "minus 7 where", "1 entry and 2 seeds",
                 "2 cells", "4,321 ticks", "may take 150 decisions: 0.4 for each"):  # fmt: skip
        assert part in said, part
    assert "square root" in " ".join(rules_in_words(made.SEASON))


def test_the_finding_says_how_sure_a_lead_is_in_the_words_and_numbers_of_the_comparison() -> None:
    def said(rows: list[dict[str, Any]]) -> str:
        return repr(prose.finding(standings(made.frame(rows), made.SEASON), made.runs(rows)))

    facts: dict[str, Any] = {"objectives_total": 20, "completed": False, "time_s": None, "died": False}
    ours = [row | facts | {"objectives_done": 4 if row["level"] == "dam" else 15} for row in made.whole("a")]
    behind = [row | {"agent": "b", "objectives_done": row["objectives_done"] - 1 - row["seed"] % 2} for row in ours]
    even = [row | {"agent": "b", "objectives_done": row["objectives_done"] - (2, 0, -1)[row["seed"]]} for row in ours]
    for field, word in (([*ours, *behind], "they are apart"), ([*ours, *even], "they are not apart")):
        one, two = cell_scores(made.runs(field))["a"], cell_scores(made.runs(field))["b"]
        apart = seeds_to_separate({key: one[key] - two[key] for key in one})
        assert apart is not None and word in said(field)
        assert f"{abs(apart.difference):.2f} ± {apart.se:.2f} points" in said(field)
        assert f"{apart.needed} in all" in said(field) or f"{apart.needed} seeds of every entry" in said(field)
    assert "how sure" not in said([*made.whole("a", 1.0)]) and "nothing says how sure" in prose.certainty(None)
    assert "no agent has played every cell" in said(made.anchor())


def test_the_cost_of_a_point_is_said_from_each_of_the_front_to_the_next_and_who_beats_whom() -> None:
    runs = [*made.model("cheap", 0.2, 100, 0.1), *made.model("dear", 0.9, 900, 5.0), *made.model("lost", 0.1, 900, 9.0),
            *made.model("unpriced", 0.6, 500, None), *made.anchor()]  # fmt: skip
    board = standings(made.frame(runs), made.SEASON)
    said = repr(prose.cost_finding(board, "dollars"))
    assert "of 3 agents of known cost 2 are on the front" in said and "The other is beaten" in said
    assert "from cheap to dear" in said and "Of unknown cost, and so neither on the front nor off it: unpriced" in said
    read = [[cell.text for cell in row] for row in tables.costs(board, "dollars").rows]
    assert [row[0] for row in read] == ["cheap", "dear", "lost", "unpriced", "route"]
    assert [row[4] for row in read] == ["✓ on it", "✓ on it", "not on it", "? unknown cost", "anchor"]
    assert [row[5] for row in read] == ["–", "–", "dear", "–", "–"] and read[3][3] == "–"
    unknown = standings(made.frame(made.model("u", 0.5, 10, None)), made.SEASON)
    assert "the US dollars of no agent are known" in repr(prose.cost_finding(unknown, "dollars"))
    assert "of no agent" in repr(prose.cost_finding([], "tokens")) and not tables.costs([]).rows
    alone = repr(prose.cost_finding(standings(made.frame(made.whole("one")), made.SEASON)))
    assert "of 1 agents of known cost 1 is on the front" in alone and "a point more" not in alone
    tied = standings(
        made.frame([*made.whole("x", 0.5), *[r | {"agent": "y"} for r in made.whole("x", 0.5)]]), made.SEASON
    )
    assert "2 are on the front" in repr(prose.cost_finding(tied)) and "a point more" not in repr(
        prose.cost_finding(tied)
    )


def test_a_verdict_names_each_domain_and_item_and_no_word_of_a_reviewer_becomes_markup() -> None:
    case = open_case("outage-note", Path(__file__).parents[2] / "cases")
    review = Review(
        reviewer="<b>Ada</b>", ratings={d.slug: 1.0 for d in case.domains}, score=12.5,
        items={item.slug: item.slug == "within-limit" for item in case.review_items},
        writeup="</td><script>x</script>", recorded_at="2026-11-30T10:00:00Z",
    )  # fmt: skip
    common = {"case": case.slug, "version": case.version, "variant": "base", "case_digest": "d" * 64}
    done = ReviewedRun(model=made.HOSTILE[0], solution_digest="a" * 64, review=review, **common)
    waits = ReviewedRun(model="later", solution_digest="b" * 64, **common)
    voided = ReviewedRun(model="gone", solution_digest="c" * 64, review=review, voided="why", **common)
    runs = [done, waits, voided]
    (table,) = reviews.verdicts(case, runs)
    read = _read(table)
    assert read.tags <= TAGS and "<script" not in table._repr_html_()
    assert len(read.rows) == 1 + len(case.domains) + len(case.review_items)
    assert [row[0] for row in read.rows].count("✗ not met") == 3 and read.rows[-1][:2] == ["✓ met", "1 of 1"]
    assert "12.5 of 100 by <b>Ada</b>, 2026-11-30" in table.note
    assert "1 of 2 runs that count have a review" in repr(reviews.rules(case, runs))
    assert "later" in _read(reviews.waiting([waits])).rows[1]
    board = review_leaderboard(runs)
    assert _read(reviews.leaderboard(board)).rows[1][2] == "12.5"
    assert "rests on 1 review." in repr(reviews.finding(board))
    assert "no run has been reviewed yet" in repr(reviews.finding([])) and reviews.verdicts(case, [waits]) == ()


@pytest.mark.parametrize(
    ("text", "number", "key"),
    [
        ("12.50", 12.4987, None), ("1,200", 1200.0, None), ("−3.1 %", -3.14, None), ("+77.0 %", 77.0, None),
        ("3 of 4", 3.0, None), ("0.12 +?", 0.119, None), ("1e-05", 0.00001, None),
        ("12.1M", 12_136_779.0, "12136779"), ("3 of 4", 75.0, "75"), ("best", 1.0, "1"), ("0.00", 0.25, "0.25"),
        ("–", None, None), ("anchor", None, None), ("", None, None), ("2 unknown", None, "–"),
    ],
)  # fmt: skip
def test_a_number_carries_a_key_only_where_its_text_says_another_one(
    text: str, number: float | None, key: str | None
) -> None:
    html = Table("t", (Column("a", "number"),), [(Cell(text, number),)]).to_html()
    assert f"data-key={key!r}".replace("'", '"') in html if key else "data-key" not in html


@pytest.mark.parametrize("searchable", [True, False])
def test_a_table_of_two_rows_sorts_where_scripts_run_and_is_plain_elsewhere(
    searchable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def headings(rows: int) -> int:
        cells = [(Cell(str(at), at), Cell("x")) for at in range(rows)]
        return Table("t", (Column("a", "number"), Column("")), cells, searchable=searchable)._repr_html_().count(button)

    button = '<span class="evk-sort" role="button" tabindex="0">'
    assert headings(2) == 0
    monkeypatch.setattr(grid, "_loaded", True)
    assert headings(1) == 0
    assert headings(2) == (0 if searchable else 1), "DataTables makes its own; a column without a name has none"
    monkeypatch.setattr(grid, "_loaded", False)
    assert as_html(Table("t", (Column("a", "number"),), [(Cell("1", 1),), (Cell("2", 2),)])).count(button) == 1
