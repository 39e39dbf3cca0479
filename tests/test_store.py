"""The store: a run goes in once and whole, stays, and comes back as a record or a row of a tidy table."""

from __future__ import annotations

import importlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from evalkit.errors import StoreError, UsageError
from evalkit.records import Outcome, PerformanceRun, ReviewedRun
from evalkit.store import Store, default_path, open_results, rows, tables
from tests.run_factory import (
    HOSTILE_NAMES,
    MODULE,
    incorrect,
    performance,
    performance_runs,
    review,
    reviewed,
    reviewed_runs,
    sha,
    stress,
    ungraded,
)

WHEN = "2026-01-02T03:04:05.678901+00:00"
TESTS = Path(__file__).parent


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "runs.sqlite") as opened:
        yield opened


def python(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Start another process that can import the kit and the run factory."""
    paths = f"import sys; sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]\n"
    command = [sys.executable, "-c", paths + program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def assert_no_driver_traceback(error: BaseException) -> None:
    """What a person sees of an error holds nothing that the driver or SQLAlchemy raised."""
    shown: BaseException | None = error
    while shown is not None:
        assert type(shown).__module__.split(".")[0] not in ("sqlalchemy", "sqlite3"), shown
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)


# Storing


def test_a_stored_run_comes_back_as_it_was(store: Store) -> None:
    run = performance(recorded_at=WHEN, warnings=("slow disk",), provenance={"provider": "x", "n": [1, 2.5, None]})
    assert store.add(run, MODULE) is True
    assert store.get(run.run_id) == run
    assert store.module(sha(MODULE)) == MODULE


def test_the_same_run_again_is_a_no_op(store: Store) -> None:
    run = performance(recorded_at=WHEN)
    store.add(run)
    assert store.add(replace(run, recorded_at=None, build_log="built elsewhere", engine="wasmtime 51")) is False
    assert store.runs() == [run]


def test_the_same_run_again_brings_the_module_that_was_missing(store: Store) -> None:
    store.add(performance())
    assert store.add(performance(), MODULE) is False
    assert store.module(sha(MODULE)) == MODULE


def test_the_same_job_with_other_content_is_refused_and_says_what_differs(store: Store) -> None:
    store.add(performance(recorded_at=WHEN))
    with pytest.raises(StoreError) as refused:
        store.add(performance(inputs=(stress(3, name="tiny", kind="smoke", behaviour="one step"), stress(71))))
    text = str(refused.value)
    assert 'inputs: ["large"]' in text
    assert "total_fuel: 70 there, 71 here" in text
    assert "void it" in text
    assert "another attempt" in text
    assert store.runs() == [performance(recorded_at=WHEN)]


def test_a_run_without_a_time_gets_the_time_of_now(store: Store) -> None:
    store.add(performance())
    kept = store.runs()[0].recorded_at
    assert kept is not None
    assert kept.endswith("+00:00")


def test_a_record_that_contradicts_itself_is_not_stored(store: Store) -> None:
    with pytest.raises(StoreError, match="is not stored: the record does not hold together: total_fuel is 1"):
        store.add(performance(total_fuel=1))
    assert store.runs() == []


@pytest.mark.parametrize("run", [performance(), reviewed()])
def test_a_module_that_is_not_the_runs_own_is_not_stored(store: Store, run: Any) -> None:
    with pytest.raises(StoreError, match="is not its module"):
        store.add(run, b"other")
    assert store.runs() == []


def test_the_widest_fuel_survives_exactly(store: Store) -> None:
    top = 2**63 - 1
    run = performance(fuel_limit=top, inputs=(stress(top, runway_limit=top, name="x"),), recorded_at=WHEN)
    store.add(run)
    store.add(ungraded(attempt=2))
    assert store.get(run.run_id) == run
    assert store.runs_frame().total_fuel.tolist()[0] == top
    assert store.inputs_frame().fuel.tolist() == [top]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=performance_runs() | reviewed_runs)
def test_any_run_that_holds_together_survives_the_store(run: PerformanceRun | ReviewedRun) -> None:
    with Store.open("sqlite://") as memory:
        run = replace(run, recorded_at=run.recorded_at or WHEN)
        assert memory.add(run)
        assert memory.get(run.run_id) == run
        assert not memory.add(run)
        assert len(memory.runs_frame()) == 1
        assert len(memory.inputs_frame()) == len(getattr(run, "inputs", ()))


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_are_harmless(store: Store, name: str) -> None:
    run = performance(case=name, version=name, variant=name, model=name, inputs=(stress(name=name, behaviour=name),))
    store.add(run)
    assert [r.model for r in store.runs(case=name, version=name, variant=name, model=name)] == [name]
    assert store.inputs_frame(model=name).name.tolist() == [name]
    assert store.counts().case.tolist() == [name]
    store.void(run.run_id, name)
    assert store.get(run.run_id).voided == name


@pytest.mark.parametrize("name", ["\0", "\ud800", "a\udcffb"])
def test_what_no_database_can_hold_is_refused_or_finds_nothing(store: Store, name: str) -> None:
    store.add(reviewed())
    for attempt in (
        lambda: store.add(performance(model=name)),
        lambda: store.void(reviewed().run_id, name + " x"),
        lambda: store.get(name),
        lambda: store.module(name),
        lambda: store.review(reviewed().run_id, review(reviewer=name + " x")),
        lambda: Store.open(name + " x"),
    ):
        with pytest.raises((StoreError, UsageError)):
            attempt()
    assert store.find(name) is None
    assert store.runs(model=name) == []
    assert store.module_digests(name) == set()


def test_what_a_solution_printed_is_kept_whatever_it_is(store: Store) -> None:
    run = performance(detail="\0\udc80", build_log="\ud800 \x1b[2J", recorded_at=WHEN)
    store.add(run)
    assert store.get(run.run_id) == run


# Finding


def test_a_run_is_named_by_any_unique_beginning(store: Store) -> None:
    run = performance(recorded_at=WHEN)
    store.add(run)
    assert store.get(run.run_id[:4]) == run
    assert store.get(f" {run.run_id[:9].upper()} ") == run
    assert store.has(run.run_id)
    assert not store.has(run.run_id[:4])


@pytest.mark.parametrize("bad", ["", "abc", "xyzw", "%%%%", "____", "0" * 17, "' OR 1=1"])
def test_what_is_no_run_id_says_what_one_is(store: Store, bad: str) -> None:
    with pytest.raises(UsageError, match="at least four of its sixteen hex digits"):
        store.get(bad)


def test_an_unknown_id_names_near_ones(store: Store) -> None:
    run = performance()
    store.add(run)
    wrong = run.run_id[:-1] + ("0" if run.run_id[-1] != "0" else "1")
    with pytest.raises(UsageError, match=f"there is no run {wrong}: near are {run.run_id}"):
        store.get(wrong)


def test_an_ambiguous_beginning_names_its_runs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalkit.records.cases.digest_id", lambda key: "abcd" + sha("".join(key))[:12])
    one, two = performance(), performance(attempt=2)
    store.add(one)
    store.add(two)
    with pytest.raises(UsageError, match="2 runs start with abcd") as refused:
        store.get("abcd")
    assert one.run_id in str(refused.value)
    assert two.run_id in str(refused.value)


def test_runs_come_in_recorded_order_and_are_filtered(store: Store) -> None:
    late, early = (
        performance(recorded_at="2026-05-01T00:00:00Z"),
        incorrect(attempt=2, recorded_at="2026-04-01T00:00:00.5+00:00"),
    )
    other, prose = performance(variant="hard", model="model-b", recorded_at=WHEN), reviewed(recorded_at=WHEN)
    for run in (late, early, other, prose):
        store.add(run)
    assert store.runs(kind="performance") == [other, early, late]
    assert store.runs(kind="reviewed") == [prose]
    assert store.runs(case="lattice", version="1.0.0", variant="plain", model="model-a") == [early, late]
    assert store.runs(model="MODEL-C") == []
    store.void(late.run_id, "a slip")
    assert store.runs(variant="plain", kind="performance", include_voided=False) == [early]


def test_an_unknown_filter_or_kind_is_named(store: Store) -> None:
    with pytest.raises(
        UsageError, match="filters are agent, case, case_digest, difficulty, kind, level, model, season"
    ):
        store.runs(modle="x")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="kinds are performance, reviewed, season"):
        store.runs_frame(kind="seasons")


def test_the_next_attempt_is_the_first_that_is_free(store: Store) -> None:
    assert store.next_attempt(performance(attempt=9)) == 1
    for attempt in (1, 2, 4):
        store.add(performance(attempt=attempt))
    assert store.next_attempt(performance()) == 3
    assert store.next_attempt(performance(model="model-b")) == 1


def test_the_modules_of_a_solution_are_known(store: Store) -> None:
    store.add(performance())
    store.add(performance(attempt=2, module_digest=sha("another build")))
    store.add(ungraded(attempt=3))
    assert store.module_digests(sha("solution")) == {sha(MODULE), sha("another build")}
    with pytest.raises(UsageError, match="grade the solution to build it"):
        store.module(sha("another build"))


# Voiding and reviewing


def test_a_model_is_looked_for_as_a_leaderboard_folds_its_name(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [
        performance(model=name, attempt=n, recorded_at=WHEN) for n, name in enumerate(("Aster-O1", " ASTER-o1 "), 1)
    ]
    runs += [performance(model="aster", recorded_at=WHEN), performance(model="fern", recorded_at=WHEN)]
    for run in runs:
        store.add(run)
    monkeypatch.chdir(tmp_path)
    assert {run.model for run in store.runs(model="aster-o1 ")} == {"Aster-O1", " ASTER-o1 "}
    (tmp_path / "cases").mkdir()
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "models.toml").write_text('[aliases]\n"Aster" = "Aster-O1"\n')
    for name in ("aster", "ASTER-O1"):
        assert {run.model for run in store.runs(model=name)} == {"aster", "Aster-O1", " ASTER-o1 "}
        assert len(store.runs_frame(model=name)) == 3
        assert set(store.inputs_frame(model=name)["model"]) == {"aster", "Aster-O1", " ASTER-o1 "}
    assert store.runs(model="") == []


def test_several_runs_are_voided_together_or_none_is(store: Store) -> None:
    runs = [performance(attempt=n) for n in (1, 2, 3)]
    for run in runs:
        store.add(run)
    ids = [run.run_id for run in runs]
    store.void(ids[2], "a slip")
    for bad in (ids, [ids[0], "ffff" * 4]):
        with pytest.raises(UsageError):
            store.void_all(bad, "wrong prompt")
    assert [store.get(one).voided for one in ids] == [None, None, "a slip"]
    assert [run.run_id for run in store.void_all([ids[0], ids[0][:6], ids[1]], "wrong prompt")] == ids[:2]
    assert [store.get(one).voided for one in ids] == ["wrong prompt", "wrong prompt", "a slip"]


def test_a_voided_run_stays_and_says_why(store: Store) -> None:
    store.add(performance())
    assert store.void(performance().run_id[:6], "wrong prompt").voided == "wrong prompt"
    assert store.get(performance().run_id).voided == "wrong prompt"
    assert store.add(performance()) is False
    with pytest.raises(UsageError, match="voided already: 'wrong prompt'"):
        store.void(performance().run_id, "again")
    with pytest.raises(UsageError, match="say why"):
        store.void(performance().run_id, "  ")


def test_a_review_is_recorded_once_and_replaced_on_request(store: Store) -> None:
    run = reviewed(recorded_at=WHEN)
    store.add(run)
    first = store.review(run.run_id, review())
    assert isinstance(first, ReviewedRun)
    assert first.review is not None
    assert first.review.recorded_at is not None
    assert store.review(run.run_id, review()) == first == store.get(run.run_id)
    with pytest.raises(UsageError, match="has a review by 'Ada'"):
        store.review(run.run_id, review(score=12.0))
    store.review(run.run_id, review(score=12.0, recorded_at=WHEN), replace=True)
    assert store.get(run.run_id) == replace(run, review=review(score=12.0, recorded_at=WHEN))


def test_what_cannot_be_reviewed_says_so(store: Store) -> None:
    store.add(performance())
    store.add(reviewed())
    with pytest.raises(UsageError, match="fuel is its score"):
        store.review(performance().run_id, review())
    with pytest.raises(UsageError, match=r"review\.score must be a finite number"):
        store.review(reviewed().run_id, review(score=float("nan")))
    store.void(reviewed().run_id, "a slip")
    with pytest.raises(UsageError, match="would count nowhere"):
        store.review(reviewed().run_id, review())


# Tables

RUN_DTYPES = {
    "run_id": "string", "case": "string", "version": "string", "variant": "string", "model": "string",
    "attempt": "int64", "outcome": "string", "reason": "string", "correct": "boolean", "total_fuel": "Int64",
    "fuel_limit": "Int64", "fuel_schedule": "string", "engine": "string", "solution_digest": "string",
    "module_digest": "string", "recorded_at": "datetime64[us, UTC]", "voided": "string",
}  # fmt: skip
INPUT_DTYPES = {
    "run_id": "string", "case": "string", "version": "string", "variant": "string", "model": "string",
    "name": "string", "kind": "string", "behaviour": "string", "outcome": "string", "reason": "string",
    "fuel": "Int64", "fuel_limit": "Int64", "runway_limit": "Int64", "overshoot_percent": "Float64",
    "first_mismatch_tick": "Int64",
}  # fmt: skip
COUNT_DTYPES = {"case": "string", "version": "string", "variant": "string", "outcome": "string", "n": "int64"}


def dtypes(frame: Any) -> dict[str, str]:
    return {name: str(dtype) for name, dtype in frame.dtypes.items()}


@pytest.mark.parametrize("filled", [False, True])
def test_tables_have_their_dtypes_empty_or_not(store: Store, filled: bool) -> None:
    if filled:
        over = stress(150, outcome=Outcome.OVER_CEILING, overshoot_percent=50.0)
        verdict: dict[str, Any] = {"outcome": Outcome.OVER_CEILING, "total_fuel": None, "inputs": (over,)}
        for run in (
            performance(),
            incorrect(attempt=2),
            ungraded(attempt=3),
            performance(attempt=4, **verdict),
            reviewed(),
        ):
            store.add(run)
    assert dtypes(store.runs_frame()) == RUN_DTYPES
    assert dtypes(store.inputs_frame()) == INPUT_DTYPES
    assert dtypes(store.counts()) == COUNT_DTYPES
    assert (len(store.runs_frame()), len(store.inputs_frame())) == ((5, 4) if filled else (0, 0))


def test_the_runs_table_holds_what_the_records_hold(store: Store) -> None:
    store.add(incorrect(recorded_at=WHEN))
    store.void(incorrect().run_id, "a slip")
    row = store.runs_frame().iloc[0]
    assert (row.outcome, row.reason, bool(row.correct), row.voided) == ("incorrect", "wrong_answer", False, "a slip")
    assert row.isna().total_fuel
    assert row.recorded_at.isoformat() == WHEN
    assert store.runs_frame(include_voided=False).empty
    assert store.inputs_frame(include_voided=False).empty


def test_counts_leave_voided_runs_out(store: Store) -> None:
    for run in (performance(), performance(attempt=2), performance(attempt=3), incorrect(attempt=4), reviewed()):
        store.add(run)
    store.void(performance().run_id, "a slip")
    table = store.counts().set_index(["case", "outcome"]).n
    assert table["lattice", "pass"] == 2
    assert table["lattice", "incorrect"] == 1
    assert table["essay"].sum() == 1


# Many processes, and crashes

ADD_MANY = """
from tests.run_factory import performance, MODULE
from evalkit.store import Store
with Store.open(sys.argv[1]) as store:
    print(sum(store.add(performance(attempt=n), MODULE) for n in range(1, 41)))
"""


def test_two_processes_that_add_the_same_runs_lose_none_and_store_none_twice(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "runs.sqlite"
    both = [python(ADD_MANY, path) for _ in range(2)]
    answers = [process.communicate(timeout=60) for process in both]
    assert [errors for _, errors in answers] == ["", ""]
    assert sum(int(stored) for stored, _ in answers) == 40
    with Store.open(path) as store:
        assert {run.attempt for run in store.runs()} == set(range(1, 41))
        assert len(store.inputs_frame()) == 80


def test_threads_share_a_store(store: Store) -> None:
    with ThreadPoolExecutor(4) as pool:
        stored = list(pool.map(lambda n: store.add(performance(attempt=1 + n % 10)), range(40)))
    assert sum(stored) == 10
    assert len(store.runs()) == 10


CRASH = """
import os, sqlalchemy as sa
from tests.run_factory import performance, MODULE
from evalkit.store import Store
store = Store.open(sys.argv[1])
@sa.event.listens_for(sa.Engine, "after_cursor_execute")
def crash(conn, cursor, statement, parameters, context, executemany):
    if statement.startswith("INSERT INTO " + sys.argv[2]):
        os._exit(7)
store.add(performance(), MODULE)
"""


STORE_AND_VANISH = """
import os
from tests.run_factory import performance
from evalkit.store import Store
Store.open(sys.argv[1]).add(performance(attempt=5))
os._exit(0)
"""


@pytest.mark.parametrize("table", ["modules", "runs", "case_runs", "inputs"])
def test_a_crash_in_the_middle_of_a_run_leaves_nothing_of_it(tmp_path: Path, table: str) -> None:
    path = tmp_path / "runs.sqlite"
    process = python(CRASH, path, table)
    assert (process.communicate(timeout=60), process.returncode) == (("", ""), 7)
    with Store.open(path) as store:
        assert store.runs() == []
        assert store.inputs_frame().empty
        with pytest.raises(UsageError):
            store.module(sha(MODULE))
        assert store.add(performance(), MODULE) is True


def test_a_store_that_crossed_a_fork_serves_both_sides(store: Store) -> None:
    store.add(performance())
    child = os.fork()
    if child == 0:
        try:
            store.add(performance(attempt=2))
            store.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    store.add(performance(attempt=3))
    assert {run.attempt for run in store.runs()} == {1, 2, 3}


def test_a_lost_race_for_a_key_is_the_same_run_after_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    # A server lets two writers look before either inserts: here the first look finds nothing, as it would there.
    store.add(performance(recorded_at=WHEN))
    looks: list[str] = []

    def blind_at_first(connection: Any, run_id: str) -> Any:
        looks.append(run_id)
        return None if len(looks) == 1 else find(connection, run_id)

    find = rows.find
    monkeypatch.setattr(rows, "find", blind_at_first)
    assert store.add(performance()) is False
    assert len(looks) == 2
    assert store.runs() == [performance(recorded_at=WHEN)]


def test_a_lock_that_is_let_go_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    Store.open(path).close()
    program = "import sqlite3, time\ndb = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
    program += "db.execute('BEGIN IMMEDIATE'); print('held', flush=True); time.sleep(0.4); db.execute('ROLLBACK')"
    holder = python(program, path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with Store.open(path) as store:
        assert store.add(performance())
    holder.communicate(timeout=60)


# Stores that are bad

VERSION_2 = "UPDATE meta SET value = '2'"


def garbage(path: Path) -> None:
    path.write_bytes(b"no database at all, whatever its name says" * 100)


def of_something_else(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE recipes (name)")


def with_another_meta(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE meta (name, value)")


def of_another_version(path: Path) -> None:
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(VERSION_2)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (garbage, "not a database"),
        (Path.mkdir, "is a folder"),
        (of_something_else, "a database of something else"),
        (with_another_meta, "a database of something else"),
        (of_another_version, "a store of version 2, and this evalkit reads version 1: export it"),
    ],
)
def test_what_is_no_store_is_refused_and_left_as_it_is(tmp_path: Path, make: Callable[[Path], None], what: str) -> None:
    path = tmp_path / "runs.sqlite"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(StoreError) as refused:
        Store.open(path)
    assert what in str(refused.value)
    assert "\n" not in str(refused.value)
    assert_no_driver_traceback(refused.value)
    assert (path.read_bytes() if path.is_file() else b"") == before


@pytest.mark.parametrize("where", ["runs.sqlite", "missing/runs.sqlite"])
def test_a_missing_store_is_made_only_on_request(tmp_path: Path, where: str) -> None:
    with pytest.raises(StoreError, match="there is no store at"):
        Store.open(tmp_path / where, create=False)
    assert list(tmp_path.iterdir()) == []
    Store.open(tmp_path / where).close()
    Store.open(tmp_path / where, create=False).close()


def test_an_empty_file_becomes_a_store_only_on_request(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.touch()
    with pytest.raises(StoreError, match="holds no runs store"):
        Store.open(path, create=False)
    assert path.read_bytes() == b""
    Store.open(path).close()


def test_a_store_gains_the_tables_that_a_later_kind_of_run_brings(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with Store.open(path) as store:
        store.add(performance(recorded_at=WHEN))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DROP TABLE reviews")
    with Store.open(path, create=False) as store:
        assert store.runs() == [performance(recorded_at=WHEN)]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot open the store"):
        Store.open(tmp_path / "file" / "runs.sqlite")


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("://", "is no URL of a database"),
        ("nosuch://host/db", "is no URL of a database"),
        ("postgresql://me:secret@[bad/db", "needs the Python package psycopg"),
        ("postgresql://me:secret@host:port/db", "is no URL of a database"),
        ("sqlite:///x?cache=shared", "only sqlite:///PATH"),
        ("sqlite+aiosqlite:///x", "is no URL of a database|only sqlite:///PATH|needs the Python package"),
        ("postgresql://me:secret@localhost/db", "needs the Python package psycopg"),
        ("mysql://me:secret@localhost/db", "needs the Python package MySQLdb"),
        ("x" * 5000, "cannot open the store"),
        (" ", "is no path and no URL"),
    ],
)
def test_a_url_that_leads_nowhere_is_one_line_without_its_password(url: str, what: str) -> None:
    with pytest.raises(StoreError, match=what) as refused:
        Store.open(url)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert_no_driver_traceback(refused.value)


def test_a_locked_store_says_so_after_its_patience(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with Store.open(path, patience=0.1) as store:
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process is writing; try again"):
            store.add(performance())
        assert store.runs() == []
        holder.execute("ROLLBACK")
        holder.close()
        assert store.add(performance())


def test_a_full_disk_stores_nothing_of_a_run_and_loses_nothing(tmp_path: Path) -> None:
    import sqlalchemy as sa

    path = tmp_path / "runs.sqlite"
    with Store.open(path) as store:
        store.add(performance(recorded_at=WHEN))

    def limit(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # SQLite raises it to the pages in use

    sa.event.listen(sa.Pool, "connect", limit)
    try:
        with Store.open(path) as store, pytest.raises(StoreError, match="full: free some space"):
            store.add(performance(attempt=2, build_log="x" * 1_000_000))
    finally:
        sa.event.remove(sa.Pool, "connect", limit)
    with Store.open(path) as store:
        assert store.runs() == [performance(recorded_at=WHEN)]


def test_a_store_opened_for_reading_is_read_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with Store.open(path) as store:
        store.add(performance(recorded_at=WHEN))
    with Store.open(f"sqlite:///{path}?mode=ro") as store:
        assert store.read_only
        assert store.runs() == [performance(recorded_at=WHEN)]
        assert len(store.runs_frame()) == 1
        with pytest.raises(StoreError, match="can be read here, not written"):
            store.void(performance().run_id, "a slip")
        with pytest.raises(StoreError, match="can be read here, not written"):
            store.add(performance(attempt=2))


def as_somebody(work: Callable[[], str]) -> str:
    """Do `work` in a forked process that file modes bind: root's are bound by none."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            answer = work()
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(write, answer.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


@pytest.fixture
def protected(tmp_path: Path) -> Iterator[Path]:
    """A folder that everybody can reach and nobody but its owner can write; its modes are given back at the end."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    for folder in (tmp_path.parent.parent, tmp_path.parent):
        if os.getuid() == 0:
            folder.chmod(0o755)
    folder = tmp_path / "protected"
    folder.mkdir()
    with Store.open(folder / "runs.sqlite") as store:
        store.add(performance(recorded_at=WHEN))
    tmp_path.chmod(0o755)
    yield folder
    folder.chmod(0o755)


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o555), (0o444, 0o777), (0o666, 0o555)])
def test_a_store_that_may_only_be_read_is_read(protected: Path, file_mode: int, folder_mode: int) -> None:
    path = protected / "runs.sqlite"
    path.chmod(file_mode)
    protected.chmod(folder_mode)

    def work() -> str:
        with Store.open(path) as store:
            read = f"{store.read_only} {len(store.runs())} {len(store.runs_frame())}"
            try:
                store.add(performance(attempt=2))
            except StoreError as error:
                return f"{read} {error}"
        return f"{read} written"

    answer = as_somebody(work)
    assert answer.startswith("True 1 1 cannot store run")
    assert "can be read here, not written" in answer


def test_rows_that_wait_in_a_journal_are_read_or_refused_but_never_missing(protected: Path) -> None:
    path = protected / "runs.sqlite"
    process = python(STORE_AND_VANISH, path)
    assert process.communicate(timeout=60) == ("", "")
    assert path.with_name("runs.sqlite-wal").stat().st_size > 0
    path.with_name("runs.sqlite-shm").unlink()
    protected.chmod(0o555)

    def work() -> str:
        with Store.open(path) as store:
            return str(sorted(run.attempt for run in store.runs()))

    answer = as_somebody(work)
    assert answer == "[1, 5]" or answer.startswith("StoreError: cannot open the store")


def test_a_store_that_may_not_be_read_says_so(protected: Path) -> None:
    (protected / "runs.sqlite").chmod(0o000)
    assert as_somebody(lambda: str(Store.open(protected / "runs.sqlite"))).startswith(
        "StoreError: cannot open the store"
    )


def test_a_store_in_a_folder_that_may_not_be_written_says_so(protected: Path) -> None:
    protected.chmod(0o555)
    assert as_somebody(lambda: str(Store.open(protected / "new.sqlite"))).startswith(
        "StoreError: cannot open the store"
    )


def test_a_damaged_row_is_named_and_the_rest_is_read(store: Store, tmp_path: Path) -> None:
    store.add(performance())
    store.add(performance(attempt=2))
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        database.execute("UPDATE runs SET record = '{}' WHERE run_id = ?", (performance().run_id,))
    with pytest.raises(StoreError, match=f"run {performance().run_id} is damaged in the store"):
        store.get(performance().run_id)
    assert store.get(performance(attempt=2).run_id).attempt == 2


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.runs()


# Where it is


def test_the_store_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALKIT_STORE", f"sqlite:///{tmp_path / 'mine.sqlite'}")
    with Store.open() as store:
        store.add(performance())
    assert (tmp_path / "mine.sqlite").exists()


def test_the_store_is_the_projects_from_anywhere_inside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVALKIT_STORE", raising=False)
    (tmp_path / "cases").mkdir()
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert default_path() == tmp_path / "data" / "runs.sqlite"
    Store.open().close()
    assert (tmp_path / "data" / "runs.sqlite").exists()
    assert default_path(Path("/nowhere/at/all")) == Path("/nowhere/at/all/data/runs.sqlite")


def test_results_are_the_local_store_or_else_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALKIT_STORE", "")  # says nothing, like one that is not set
    (tmp_path / "cases").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="there are no results yet"):
        open_results()
    with Store.open("sqlite://") as store:
        store.add(performance(recorded_at=WHEN))
        store.export(tmp_path / "data" / "sample")
    with open_results() as store:
        assert store.runs() == [performance(recorded_at=WHEN)]
    assert not default_path().exists()
    Store.open().close()
    with open_results() as store:
        assert store.runs() == []


def test_a_path_may_start_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    Store.open("~/runs.sqlite").close()
    assert (tmp_path / "runs.sqlite").exists()


@pytest.mark.parametrize("name", ["a?b#c%41.sqlite", 'it\'s "quoted".sqlite', "ünï 模.sqlite", ":memory:.sqlite"])
def test_a_path_with_odd_characters_is_that_path(tmp_path: Path, name: str) -> None:
    with Store.open(tmp_path / name) as store:
        store.add(performance())
    assert (tmp_path / name).exists()
    assert not list(tmp_path.glob("*-wal"))


def test_a_store_is_in_wal_mode_and_checks_foreign_keys(store: Store, tmp_path: Path) -> None:
    store.add(performance())
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql", "mysql"])
def test_the_tables_can_be_made_on_other_databases(dialect: str) -> None:
    import sqlalchemy as sa

    target = importlib.import_module(f"sqlalchemy.dialects.{dialect}").dialect()
    for table in tables.METADATA.sorted_tables:
        assert "CREATE TABLE" in str(sa.schema.CreateTable(table).compile(dialect=target))


def test_only_the_store_names_sqlalchemy() -> None:
    package = TESTS.parent / "evalkit"
    naming = {p.relative_to(package).parts[0] for p in package.rglob("*.py") if "import sqlalchemy" in p.read_text()}
    assert naming == {"store"}
