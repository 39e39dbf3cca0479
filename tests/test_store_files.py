"""Export and import: plain files that lose nothing, and an import that keeps the good and names the bad."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.errors import StoreError, UsageError
from evalkit.records import PerformanceRun, ReviewedRun, canonical
from evalkit.store import ImportReport, Store
from tests.run_factory import (
    MODULE,
    incorrect,
    performance,
    performance_runs,
    review,
    reviewed,
    reviewed_runs,
    sha,
    stress,
)

WHEN = "2026-01-02T03:04:05.678901+00:00"


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        yield opened


@pytest.fixture
def other() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        yield opened


def fill(store: Store) -> None:
    store.add(performance(recorded_at=WHEN, detail="\0\udc80 \u2028 \n", build_log="\x85"), MODULE)
    store.add(incorrect(attempt=2, recorded_at=WHEN, module_digest=sha("not stored")))
    store.add(reviewed(recorded_at=WHEN, review=review(writeup="Bien écrit.\nVraiment.", recorded_at=WHEN)))
    store.add(reviewed(attempt=2))
    store.void(incorrect(attempt=2).run_id, "wrong prompt")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "runs.jsonl").read_bytes().split(b"\n") if line]


def write_lines(folder: Path, *records: Any) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "runs.jsonl").write_bytes(b"".join(canonical(record) + b"\n" for record in records))


def test_an_export_is_sorted_canonical_lines_and_modules_by_digest(store: Store, tmp_path: Path) -> None:
    fill(store)
    assert store.export(tmp_path / "out") == 4
    assert sorted(files(tmp_path / "out")) == [f"modules/{sha(MODULE)}.wasm", "runs.jsonl"]
    written = lines(tmp_path / "out")
    assert [record["run_id"] for record in written] == sorted(run.run_id for run in store.runs())
    assert (tmp_path / "out" / "runs.jsonl").read_bytes() == b"".join(canonical(r) + b"\n" for r in written)


def test_export_import_export_is_byte_identical(store: Store, other: Store, tmp_path: Path) -> None:
    fill(store)
    store.export(tmp_path / "one")
    assert other.import_(tmp_path / "one") == ImportReport(stored=4, same=0)
    other.export(tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert other.runs() == store.runs()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(runs=st.lists(performance_runs() | reviewed_runs, max_size=4, unique_by=lambda run: run.run_id))
def test_any_runs_survive_plain_files(
    tmp_path_factory: pytest.TempPathFactory, runs: list[PerformanceRun | ReviewedRun]
) -> None:
    folder = tmp_path_factory.mktemp("export")
    with Store.open("sqlite://") as one, Store.open("sqlite://") as two:
        for run in runs:
            one.add(run)
        one.export(folder / "one")
        assert two.import_(folder / "one") == ImportReport(stored=len(runs), same=0)
        two.export(folder / "two")
        assert two.runs() == one.runs()
    assert files(folder / "one") == files(folder / "two")


def test_importing_twice_changes_nothing(store: Store, other: Store, tmp_path: Path) -> None:
    fill(store)
    store.export(tmp_path)
    other.import_(tmp_path)
    before = other.runs()
    assert other.import_(tmp_path) == ImportReport(stored=0, same=4)
    assert other.runs() == before


def test_only_the_named_runs_are_exported(store: Store, tmp_path: Path) -> None:
    fill(store)
    assert store.export(tmp_path / "out", [performance().run_id[:8]], modules=False) == 1
    assert list(files(tmp_path / "out")) == ["runs.jsonl"]
    assert [record["run_id"] for record in lines(tmp_path / "out")] == [performance().run_id]
    with pytest.raises(UsageError, match="there is no run"):
        store.export(tmp_path / "none", ["ffff0000"])
    assert not (tmp_path / "none").exists()


# Onto what is there


def test_an_export_onto_an_export_merges(store: Store, other: Store, tmp_path: Path) -> None:
    store.add(performance(recorded_at=WHEN), MODULE)
    other.add(performance(recorded_at=WHEN))
    other.add(performance(attempt=2, recorded_at=WHEN))
    other.void(performance().run_id, "a slip")
    other.export(tmp_path)
    assert store.export(tmp_path) == 1
    assert {record["attempt"]: record["voided"] for record in lines(tmp_path)} == {1: "a slip", 2: None}
    assert f"modules/{sha(MODULE)}.wasm" in files(tmp_path)
    before = files(tmp_path)
    store.export(tmp_path)
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (performance(inputs=(stress(7),), recorded_at=WHEN).to_json(), "other content"),
        ({"kind": "essay", "run_id": "0" * 16}, "would be lost: unknown kind"),
        ("text", "would be lost: not a record"),
    ],
)
def test_an_export_that_would_lose_a_record_changes_nothing(store: Store, tmp_path: Path, line: Any, what: str) -> None:
    write_lines(tmp_path, line)
    store.add(performance(), MODULE)
    before = files(tmp_path)
    with pytest.raises(StoreError, match=what):
        store.export(tmp_path)
    assert files(tmp_path) == before


def test_a_folder_that_is_no_export_is_left_alone(store: Store, tmp_path: Path) -> None:
    fill(store)
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StoreError, match="is not empty and no export"):
        store.export(tmp_path)
    with pytest.raises(StoreError, match="is a file"):
        store.export(tmp_path / "thesis.tex")
    assert files(tmp_path) == {"thesis.tex": b"years of work"}


def test_an_export_that_was_interrupted_is_done_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(StoreError, match=r"cannot export to .*No space left on device"):
            store.export(tmp_path / "out")
    assert files(tmp_path / "out") == {}
    assert store.export(tmp_path / "out") == 4


# What an import refuses


def test_a_conflicting_record_is_reported_and_not_overwritten(store: Store, tmp_path: Path) -> None:
    kept = performance(recorded_at=WHEN)
    store.add(kept)
    write_lines(tmp_path, performance(inputs=(stress(7),)).to_json(), performance(attempt=2).to_json())
    report = store.import_(tmp_path)
    assert (report.stored, report.same) == (1, 0)
    [(run_id, why)] = report.refused
    assert run_id == kept.run_id
    assert "other content" in why
    assert store.get(kept.run_id) == kept


def test_being_voided_carries_over_and_never_back(store: Store, other: Store, tmp_path: Path) -> None:
    for one in (store, other):
        one.add(performance(recorded_at=WHEN))
    store.void(performance().run_id, "a slip")
    other.export(tmp_path / "plain")
    assert store.import_(tmp_path / "plain") == ImportReport(stored=0, same=1)
    assert store.get(performance().run_id).voided == "a slip"
    store.export(tmp_path / "voided")
    assert other.import_(tmp_path / "voided") == ImportReport(stored=0, same=1)
    assert other.get(performance().run_id).voided == "a slip"


def test_a_review_carries_over_and_another_one_is_refused(store: Store, other: Store, tmp_path: Path) -> None:
    run = reviewed(recorded_at=WHEN)
    other.add(run)
    write_lines(tmp_path, replace(run, review=review(recorded_at=WHEN)).to_json())
    assert other.import_(tmp_path) == ImportReport(stored=0, same=1)
    assert other.get(run.run_id) == replace(run, review=review(recorded_at=WHEN))
    write_lines(tmp_path, replace(run, review=review(score=1.0)).to_json())
    assert "another review, by 'Ada'" in other.import_(tmp_path).refused[0][1]


@pytest.mark.parametrize(
    ("line", "name", "what"),
    [
        (b"{", "line 2", "not JSON"),
        (b"\xff\xfe", "line 2", "not JSON"),
        (b"[" * 100_000, "line 2", "not JSON"),
        (b"1" * 10_000, "line 2", "not JSON"),
        (b"7", "line 2", "not a record"),
        (b"{}", "line 2", "unknown kind of record null"),
        (b'{"kind":["performance"],"run_id":"../../etc"}', "line 2", "unknown kind"),
        (b'{"kind":"essay","run_id":"0123456789abcdef"}', "0123456789abcdef", 'unknown kind of record "essay"'),
        (b'{"kind":"performance","schema":99}', "line 2", "schema 1"),
        (canonical({**performance().to_json(), "run_id": "0" * 16}), "0" * 16, "its job key says"),
        (canonical({**performance().to_json(), "total_fuel": 1}), performance().run_id, "the stress inputs burned 70"),
        (canonical({**performance().to_json(), "module_digest": "../x"}), performance().run_id, "64 lower-case hex"),
    ],
)
def test_a_malformed_line_is_refused_by_name_and_the_rest_is_kept(
    store: Store, tmp_path: Path, line: bytes, name: str, what: str
) -> None:
    good = [canonical(run.to_json()) for run in (performance(attempt=2), reviewed())]
    (tmp_path / "runs.jsonl").write_bytes(b"\n".join([good[0], line, good[1]]))
    report = store.import_(tmp_path)
    assert (report.stored, report.same, len(report.refused)) == (2, 0, 1)
    assert report.refused[0][0] == name
    assert what in report.refused[0][1]
    assert "\n" not in report.refused[0][1]


def test_a_module_that_was_changed_is_refused_with_its_run(store: Store, other: Store, tmp_path: Path) -> None:
    fill(store)
    store.export(tmp_path)
    (tmp_path / "modules" / f"{sha(MODULE)}.wasm").write_bytes(b"another program")
    report = other.import_(tmp_path)
    assert [run_id for run_id, _ in report.refused] == [performance().run_id]
    assert "has another digest" in report.refused[0][1]
    assert report.stored == 3
    assert not other.has(performance().run_id)


def test_an_export_without_its_modules_is_imported_without_them(store: Store, other: Store, tmp_path: Path) -> None:
    fill(store)
    store.export(tmp_path)
    shutil.rmtree(tmp_path / "modules")
    assert other.import_(tmp_path) == ImportReport(stored=4, same=0)
    with pytest.raises(UsageError):
        other.module(sha(MODULE))


def nothing(_: Path) -> None: ...


@pytest.mark.parametrize("make", [nothing, Path.mkdir, Path.touch])
def test_what_is_no_export_is_refused(store: Store, tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "x")
    with pytest.raises(UsageError, match=r"is no export: it has no runs\.jsonl"):
        store.import_(tmp_path / "x")


def test_a_run_named_twice_is_stored_once(store: Store, tmp_path: Path) -> None:
    write_lines(tmp_path, performance().to_json(), performance().to_json(), performance(inputs=(stress(7),)).to_json())
    report = store.import_(tmp_path)
    assert (report.stored, report.same, len(report.refused)) == (1, 1, 1)


def test_a_path_that_cannot_be_is_refused(store: Store) -> None:
    for use in (store.export, store.import_):
        with pytest.raises(UsageError, match="is no path of a folder"):
            use("a\0b")
