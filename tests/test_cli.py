"""The command line as a script and a person meet it: its documents, its exit statuses, its one clear line."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli import main
from evalkit.records import PerformanceRun
from evalkit.store import Store
from tests.casework import burner, make_case, make_solution, module

RUN = {
    "run_id", "case", "version", "variant", "model", "outcome", "reason", "correct", "total_fuel", "fuel_limit",
    "fuel_schedule", "engine", "module_digest", "solution_digest", "voided", "inputs",
}  # fmt: skip
INPUT = {
    "name", "kind", "behaviour", "outcome", "reason", "fuel", "runway_limit", "overshoot_percent",
    "first_mismatch_tick", "detail",
}  # fmt: skip
HOSTILE = '<script>alert("x")</script>\'; DROP TABLE runs;--\n\x1b[31mred\u202egnp\t' + "n" * 300

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Call a verb in an empty project; gives (status, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVALKIT_STORE", raising=False)
    (tmp_path / "cases").mkdir()

    def call(*words: str | Path) -> tuple[int, str, str]:
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return status, out, err

    return call


@pytest.fixture
def case(tmp_path: Path, cli: Cli) -> Path:
    del cli  # the project comes first
    return make_case(tmp_path / "cases")


def document(answer: tuple[int, str, str]) -> Any:
    return json.loads(answer[1])


def one_line(answer: tuple[int, str, str]) -> str:
    """The line of an answer that could not be given: status 2, nothing on standard output."""
    status, out, err = answer
    assert (status, out, err.count("\n")) == (2, "", 1), answer
    assert err.startswith("evalkit")
    return err


class TestGrade:
    @pytest.mark.parametrize(
        ("wasm", "fuel_limit", "outcome", "status"),
        [
            (module(), 100_000, "pass", 0),
            (burner(100), 300, "over_ceiling", 1),
            (module("unreachable"), 100_000, "incorrect", 1),
        ],
    )
    def test_the_status_says_how_it_ended_and_the_document_what(
        self, cli: Cli, tmp_path: Path, wasm: bytes, fuel_limit: int, outcome: str, status: int
    ) -> None:
        make_case(tmp_path / "cases", fuel_limit=fuel_limit, inputs=[("x", "stress", b"x", b"x", 3.0)])
        answer = cli("grade", "echo", make_solution(tmp_path / "s", wasm), "--json")
        run = document(answer)
        assert (answer[0], run["outcome"]) == (status, outcome)
        assert set(run) == RUN
        assert all(set(row) == INPUT for row in run["inputs"])
        assert document(cli("show", run["run_id"][:6], "--json")) == run

    def test_an_ungraded_run_is_stored_has_status_2_and_one_line(self, cli: Cli, tmp_path: Path) -> None:
        make_case(tmp_path / "cases", fuel_limit=1 << 50, sandbox="wall_limit_s = 0.2")
        slow = make_solution(tmp_path / "s", module("(loop (br 0)) (i64.const 0)"))
        status, out, err = cli("grade", "echo", slow, "--json")
        assert (status, err.count("\n")) == (2, 1)
        assert json.loads(out)["outcome"] == "ungraded"
        assert "is ungraded: s: stopped after 0.2 s" in err
        first = json.loads(out)["run_id"]
        second = document(cli("grade", "echo", slow, "--json"))["run_id"]
        assert {run["run_id"] for run in document(cli("runs", "--json"))} == {first, second}

    def test_grading_again_stores_nothing_twice_and_attempts_ask_for_more(
        self, cli: Cli, case: Path, tmp_path: Path
    ) -> None:
        solution = make_solution(tmp_path / "s")
        first = document(cli("grade", case, solution, "--json"))
        assert document(cli("grade", case, solution, "--json")) == first
        several = document(cli("grade", case, solution, "--attempts", "3", "--json"))
        assert several[0] == first
        assert len(document(cli("runs", "--json"))) == 3

    def test_unlimited_reads_past_the_runway_and_stores_nothing(self, cli: Cli, tmp_path: Path) -> None:
        make_case(tmp_path / "cases", fuel_limit=50, inputs=[("x", "stress", b"x", b"x", 1.0)])
        solution = make_solution(tmp_path / "s", burner(1000))
        assert document(cli("grade", "echo", solution, "--json", "--unlimited"))["inputs"][0]["fuel"] > 5000
        assert not (tmp_path / "data").exists()
        assert document(cli("grade", "echo", solution, "--json"))["reason"] == "exhausted"

    def test_another_result_for_the_same_job_is_refused_and_the_first_stays(
        self, cli: Cli, case: Path, tmp_path: Path
    ) -> None:
        solution = make_solution(tmp_path / "s")
        first = document(cli("grade", case, solution, "--json"))
        (case / "inputs" / "x.out").write_bytes(b"another answer")
        assert first["run_id"] in one_line(cli("grade", case, solution))
        assert document(cli("show", first["run_id"], "--json")) == first


class TestReading:
    @pytest.fixture
    def runs(self, cli: Cli, case: Path, tmp_path: Path) -> dict[str, dict[str, Any]]:
        """Three models: a passes twice, b once with more fuel, c is incorrect."""
        made = {
            "a": make_solution(tmp_path / "a", burner(10), model="Model A"),
            "a2": make_solution(tmp_path / "a2", burner(40), model=" model a "),
            "b": make_solution(tmp_path / "b", burner(20), model="model b"),
            "c": make_solution(tmp_path / "c", module("unreachable"), model="model c"),
        }
        return {name: document(cli("grade", case, folder, "--json")) for name, folder in made.items()}

    def test_the_leaderboard_ranks_each_models_best(self, cli: Cli, runs: dict[str, Any]) -> None:
        rows = document(cli("leaderboard", "echo", "--json"))
        assert [list(row) for row in rows] == [["rank", "model", "total_fuel", "ratio_to_best", "runs", "run_id"]] * 2
        assert [(row["rank"], row["model"], row["runs"]) for row in rows] == [(1, "model a", 2), (2, "model b", 1)]
        assert rows[0]["run_id"] == runs["a"]["run_id"]
        assert rows[1]["ratio_to_best"] == runs["b"]["total_fuel"] / runs["a"]["total_fuel"]

    def test_a_slower_duplicate_is_placed_as_itself_and_told_of_the_better_run(
        self, cli: Cli, runs: dict[str, Any]
    ) -> None:
        placed = document(cli("place", runs["a2"]["run_id"], "--json"))
        assert placed == {
            "run_id": runs["a2"]["run_id"], "rank": 2, "field_size": 2, "efficiency_percentile": 0.0,
            "ratio_to_best": runs["a2"]["total_fuel"] / runs["a"]["total_fuel"], "is_model_best": False,
            "model_best": runs["a"]["total_fuel"],
        }  # fmt: skip
        assert "already has a better run" in cli("place", runs["a2"]["run_id"])[1]

    def test_a_run_that_did_not_pass_has_no_placement(self, cli: Cli, runs: dict[str, Any]) -> None:
        answer = cli("place", runs["c"]["run_id"], "--json")
        assert answer[0] == 1
        assert document(answer)["rank"] is None

    def test_a_voided_run_stays_and_counts_nowhere(self, cli: Cli, runs: dict[str, Any]) -> None:
        assert cli("void", runs["a"]["run_id"], "--reason", "wrong toolchain")[0] == 0
        assert document(cli("leaderboard", "echo", "--json"))[0]["model"] == "model b"
        assert document(cli("show", runs["a"]["run_id"], "--json"))["voided"] == "wrong toolchain"
        assert "wrong toolchain" in one_line(cli("void", runs["a"]["run_id"], "--reason", "again"))
        assert cli("place", runs["a"]["run_id"])[0] == 1

    def test_runs_are_listed_and_filtered(self, cli: Cli, runs: dict[str, Any]) -> None:
        assert len(document(cli("runs", "--json"))) == 4
        assert len(document(cli("runs", "--json", "--outcome", "incorrect"))) == 1
        assert document(cli("runs", "--json", "--case", "nothing")) == []
        assert len(document(cli("runs", "--json", "--case", "echo@v1"))) == 4
        assert "incorrect: trap:unreachable" in cli("runs")[1]
        assert "there are pass" in one_line(cli("runs", "--outcome", "passed"))

    def test_a_model_is_looked_for_in_any_spelling(self, cli: Cli, runs: dict[str, Any]) -> None:
        found = document(cli("runs", "--json", "--model", "MODEL A "))
        assert {run["run_id"] for run in found} == {runs["a"]["run_id"], runs["a2"]["run_id"]}

    def test_several_runs_are_voided_for_one_reason_or_none_is(self, cli: Cli, runs: dict[str, Any]) -> None:
        ids = [runs[name]["run_id"] for name in ("a", "a2")]
        assert "there is no run" in one_line(cli("void", ids[0], "0" * 16, "--reason", "a slip"))
        assert document(cli("show", ids[0], "--json"))["voided"] is None
        answer = document(cli("void", *ids, "--reason", "a slip", "--json"))
        assert [(run["run_id"], run["voided"]) for run in answer] == [(one, "a slip") for one in ids]
        assert document(cli("void", runs["b"]["run_id"], "--reason", "a slip", "--json"))["voided"] == "a slip"
        assert document(cli("leaderboard", "echo", "--json")) == []

    def test_without_a_store_the_sample_is_shown_and_said_to_be_it(
        self, cli: Cli, runs: dict[str, Any], tmp_path: Path
    ) -> None:
        verbs = [("leaderboard", "echo"), ("runs",), ("show", runs["a"]["run_id"]), ("place", runs["a"]["run_id"])]
        before = [cli(*verb, "--json") for verb in verbs]
        cli("export", tmp_path / "data" / "sample")
        (tmp_path / "data" / "runs.sqlite").unlink()
        said = "evalkit: no runs are kept here yet, so this is of the committed sample, data/sample; "
        for verb, (status, out, err) in zip(verbs, before, strict=True):
            assert err == ""
            answer = cli(*verb, "--json")
            assert answer[:2] == (status, out)
            assert answer[2] == f"{said}`make report` makes your own\n"
        assert "there is no store" in one_line(cli("void", runs["a"]["run_id"], "--reason", "a slip"))
        assert not (tmp_path / "data" / "runs.sqlite").exists()

    def test_export_and_import_move_everything_to_another_store(
        self, cli: Cli, runs: dict[str, Any], tmp_path: Path
    ) -> None:
        cli("void", runs["b"]["run_id"], "--reason", "because")
        assert document(cli("export", tmp_path / "out", "--json")) == {"folder": str(tmp_path / "out"), "runs": 4}
        other = tmp_path / "other.sqlite"
        assert document(cli("import", tmp_path / "out", "--json", "--store", other))["stored"] == 4
        assert document(cli("runs", "--json", "--store", other)) == document(cli("runs", "--json"))
        assert document(cli("import", tmp_path / "out", "--json", "--store", other))["same"] == 4
        (tmp_path / "out" / "runs.jsonl").write_text("{}\n")
        assert cli("import", tmp_path / "out", "--store", other)[0] == 1

    def test_regrade_says_what_moved_and_replaces_nothing(
        self, cli: Cli, case: Path, runs: dict[str, Any], tmp_path: Path
    ) -> None:
        answer = cli("regrade", runs["a"]["run_id"], runs["c"]["run_id"], "--json")
        assert answer[0] == 0
        assert [row["changed"] for row in document(answer)] == [False, False]
        make_case(tmp_path / "cases", version="v2", fuel_limit=10)
        answer = cli("regrade", runs["a"]["run_id"], "--json")
        (row,) = document(answer)
        assert answer[0] == 1
        assert (row["old"]["outcome"], row["new"]["outcome"], row["stored"]) == ("pass", "incorrect", True)
        assert document(cli("show", row["new_run_id"], "--json"))["version"] == "v2"
        assert document(cli("show", runs["a"]["run_id"], "--json")) == runs["a"]


class TestReviewedCases:
    def test_unlimited_reads_fuel_and_so_refuses_a_reviewed_case(self, cli: Cli) -> None:
        note = Path(__file__).parents[1] / "cases" / "outage-note"
        solution = next((note / "v1.0.0" / "solutions").rglob("solution.toml")).parent
        assert "--unlimited" in one_line(cli("grade", note, solution, "--unlimited"))

    def test_runs_wait_in_the_worklist_until_they_are_reviewed(
        self, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(Path(__file__).parents[1])
        store = ("--store", str(tmp_path / "s.sqlite"))
        assert document(cli("sweep", "outage-note", "--json", *store))["stored"] == 3
        rows = document(cli("leaderboard", "outage-note", "--json", *store))
        assert [row["rank"] for row in rows] == [1, 2]
        assert rows[0]["score"] > rows[1]["score"]
        (waiting,) = document(cli("worklist", "--json", *store))
        assert waiting["review"] is None
        assert "Verdict" in cli("show", rows[0]["run_id"], *store)[1]
        assert "Verdict" not in cli("show", waiting["run_id"], *store)[1]
        make_case(tmp_path / "cases")
        cli("grade", tmp_path / "cases" / "echo", make_solution(tmp_path / "s"), *store)
        assert document(cli("worklist", "--json", *store)) == [waiting]
        assert "leave out --run" in one_line(cli("report", "outage-note", "--run", "abcd", *store))


class TestCheckAndSweep:
    def test_check_prints_every_fault_at_once(self, cli: Cli, case: Path) -> None:
        assert cli("check", "echo")[0] == 0
        path = case / "test-case.toml"
        text = path.read_text().replace("fuel_limit", "fuel_limt").replace('entry = "go"', "").replace("1.0", "0.5")
        path.write_text(text)
        status, out, _ = cli("check", "echo")
        assert status == 1
        assert "fuel_limt" in out
        assert 'did you mean "fuel_limit"' in out
        assert "contract.entry" in out
        assert out.count("fuel_runway") == 2
        answer = document(cli("check", "echo", "--json"))
        assert not answer["clean"]
        assert len(answer["faults"]) >= 4
        line = one_line(cli("grade", "echo", case))
        assert "more: `evalkit check` lists all" in line

    def test_sweep_says_what_it_did_and_dry_run_what_it_would_do(self, cli: Cli, case: Path) -> None:
        make_solution(case / "solutions" / "pass" / "a")
        broken = case / "solutions" / "broken"
        broken.mkdir()
        (broken / "solution.toml").write_text("?")
        plan = document(cli("sweep", "echo", "--dry-run", "--json"))
        assert (plan["jobs"], plan["stored"], len(plan["failed"])) == (2, 0, 1)
        text = cli("sweep", "echo", "--dry-run")[1]
        assert text.endswith("2 jobs: 1 would run, 0 are stored already, 1 cannot run; nothing was run\n")
        assert not Path("data").exists()
        answer = cli("sweep", "echo", "--json")
        assert answer[0] == 1
        assert set(document(answer)) == {"jobs", "stored", "skipped", "failed"}
        assert document(answer)["stored"] == 1
        assert set(document(answer)["failed"][0]) == {"job", "error"}
        (broken / "solution.toml").unlink()
        assert document(cli("sweep", "echo", "--json")) == {"jobs": 1, "stored": 0, "skipped": 1, "failed": []}


class TestBadInput:
    @pytest.mark.parametrize(
        "words",
        [
            (), ("frobnicate",), ("grade",), ("grade", "nope", "x"), ("show", "zzzz"), ("show", "0123"),
            ("void", "0123"), ("sweep", "echo", "--jobs", "0"), ("grade", "echo", "nowhere"),
            ("grade", "echo", "s", "--variant", "nope"), ("grade", "echo@v9", "s"), ("import", "nowhere"),
            ("leaderboard", "echo", "--schedule", "nope"), ("regrade", "0123"), ("check", "../.."),
            ("check", "\x1b[31m"),
        ],
    )  # fmt: skip
    def test_what_makes_no_sense_is_one_line_and_status_2(
        self, cli: Cli, case: Path, tmp_path: Path, words: tuple[str, ...]
    ) -> None:
        solution = make_solution(tmp_path / "s")
        cli("grade", case, solution)
        status, out, err = cli(*words)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "\x1b" not in err

    @pytest.mark.parametrize(
        ("wasm", "reason"),
        [(module()[:30], "invalid_module"), (module()[:8], "missing_export"), (b"", "invalid_module")],
    )
    def test_truncated_wasm_is_an_incorrect_run(
        self, cli: Cli, case: Path, tmp_path: Path, wasm: bytes, reason: str
    ) -> None:
        answer = cli("grade", case, make_solution(tmp_path / "s", wasm), "--json")
        assert (answer[0], document(answer)["reason"]) == (1, reason)

    def test_a_module_of_200_mb_is_refused_unread(self, cli: Cli, case: Path, tmp_path: Path) -> None:
        solution = make_solution(tmp_path / "s")
        with (solution / "engine.wasm").open("wb") as file:
            file.truncate(200_000_000)
        answer = cli("grade", case, solution, "--json")
        assert (answer[0], document(answer)["reason"]) == (1, "invalid_module")

    def test_an_output_of_4_gib_is_bad_output(self, cli: Cli, case: Path, tmp_path: Path) -> None:
        solution = make_solution(tmp_path / "s", module("(i64.const 0xFFFFFFFF)"))
        answer = cli("grade", case, solution, "--json")
        assert (answer[0], document(answer)["reason"]) == (1, "bad_output")

    @pytest.mark.parametrize("content", [b"\xff\xfe nonsense", b"slug = [", b"\0" * 100, b"# " + b"x" * (5 << 20)])
    def test_a_manifest_that_is_not_toml(self, cli: Cli, case: Path, content: bytes) -> None:
        (case / "test-case.toml").write_bytes(content)
        assert cli("check", "echo")[0] == 1
        assert "test-case.toml" in one_line(cli("grade", "echo", case))

    def test_a_missing_input(self, cli: Cli, case: Path) -> None:
        (case / "inputs" / "x.in").unlink()
        assert cli("check", "echo")[0] == 1
        assert "inputs/x.in" in one_line(cli("grade", "echo", case))

    def test_an_unreadable_input(self, cli: Cli, case: Path) -> None:
        path = case / "inputs" / "x.in"
        path.unlink()
        path.mkdir()  # a folder cannot be read as a file, by root either
        assert cli("check", "echo")[0] == 1
        assert "inputs/x.in" in one_line(cli("grade", "echo", case))

    def test_a_store_that_is_no_database(self, cli: Cli, case: Path, tmp_path: Path) -> None:
        (tmp_path / "bad.sqlite").write_text("this is no database" * 100)
        solution = make_solution(tmp_path / "s")
        for words in (("runs",), ("grade", str(case), str(solution)), ("leaderboard", "echo")):
            assert "not a database" in one_line(cli(*words, "--store", tmp_path / "bad.sqlite"))
        assert (tmp_path / "bad.sqlite").read_text() == "this is no database" * 100

    def test_a_read_only_store_can_be_read_and_refuses_to_store(self, cli: Cli, case: Path, tmp_path: Path) -> None:
        run = document(cli("grade", case, make_solution(tmp_path / "s"), "--json"))
        url = f"sqlite:///{tmp_path}/data/runs.sqlite?mode=ro"
        assert document(cli("show", run["run_id"], "--json", "--store", url)) == run
        line = one_line(cli("grade", case, make_solution(tmp_path / "t", model="other"), "--store", url))
        assert "can only be read" in line
        assert document(cli("runs", "--json")) == [run]

    def test_a_store_that_is_missing_or_of_another_schema(self, cli: Cli, case: Path, tmp_path: Path) -> None:
        for verb in (("runs",), ("leaderboard", "echo"), ("show", "0123"), ("place", "0123"), ("worklist",)):
            line = one_line(cli(*verb))
            assert "there are no results yet" in line and "run `make report`, or name a store with --store" in line
        assert "there is no store" in one_line(cli("export", tmp_path / "out"))
        assert not (tmp_path / "data").exists()
        sqlite3.connect(tmp_path / "other.sqlite").execute("create table x (y)").connection.close()
        one_line(cli("runs", "--store", tmp_path / "other.sqlite"))

    @pytest.mark.parametrize("leave", ["import sys; sys.exit(0)", "raise SystemExit('boom')", "raise GeneratorExit"])
    @pytest.mark.parametrize("where", ["loading", "checking"])
    def test_a_checker_that_leaves_is_an_authoring_error(
        self, cli: Cli, tmp_path: Path, leave: str, where: str
    ) -> None:
        inside = f"{leave}\n" if where == "loading" else ""
        body = f"{inside}def check(data, expected, output):\n    {leave}\n"
        folder = make_case(tmp_path / "cases", checker=body)
        make_solution(folder / "solutions" / "a")
        assert "checker.py" in one_line(cli("grade", folder, folder / "solutions" / "a"))

    def test_a_checker_that_prints_leaves_the_document_alone(self, cli: Cli, tmp_path: Path) -> None:
        body = "print('loading')\nfrom evalkit import Verdict\n"
        body += "def check(a, b, c):\n    print('noise')\n    return Verdict(b == c)\n"
        folder = make_case(tmp_path / "cases", checker=body)
        make_solution(folder / "solutions" / "a")
        answer = cli("grade", folder, folder / "solutions" / "a", "--json")
        assert document(answer)["outcome"] == "pass"
        assert "noise" in answer[2]

    @pytest.mark.parametrize("verb", ["grade", "sweep"])
    def test_a_store_that_cannot_keep_is_refused_before_the_work(
        self, cli: Cli, case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
    ) -> None:
        make_solution(case / "solutions" / "a")
        assert cli("sweep", case, "--solutions", case / "solutions" / "a", "--store", tmp_path / "s.sqlite")[0] == 0
        for name in ("evalkit.performance.grading.grade_solution", "evalkit.jobs.cases.run_jobs"):
            monkeypatch.setattr(name, lambda *_, **__: pytest.fail("it worked for nothing"))
        solutions = [case / "solutions" / "a"] if verb == "grade" else ["--attempts", "2"]
        said = one_line(cli(verb, case, *solutions, "--store", f"sqlite:///{tmp_path}/s.sqlite?mode=ro"))
        assert "can only be read" in said
        assert "is gone when" in one_line(cli(verb, case, *solutions, "--store", "sqlite://"))

    def test_options_of_the_other_kind_are_refused(self, cli: Cli, case: Path) -> None:
        make_solution(case / "solutions" / "a")
        assert cli("sweep", case, "--solutions", case / "solutions" / "a")[0] == 0
        assert "of a season" in one_line(cli("leaderboard", case, "--verified-only"))

    def test_hostile_names_are_harmless_everywhere(self, cli: Cli, case: Path, tmp_path: Path) -> None:
        solution = make_solution(tmp_path / "s", model=HOSTILE, provider=HOSTILE, notes=HOSTILE)
        run = document(cli("grade", case, solution, "--json"))
        assert run["model"] == HOSTILE.strip()
        texts = [
            cli("grade", case, solution)[1], cli("runs")[1], cli("show", run["run_id"])[1],
            cli("leaderboard", "echo")[1],
            cli("place", run["run_id"])[1], cli("void", run["run_id"], "--reason", HOSTILE)[1], cli("runs")[1],
        ]  # fmt: skip
        for text in texts:
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
            assert "<script>" in text
        cli("export", tmp_path / "out")
        assert document(cli("import", tmp_path / "out", "--store", tmp_path / "o.sqlite", "--json"))["stored"] == 1

    def test_a_hostile_export_can_neither_drive_a_terminal_nor_stop_the_good_lines(
        self, cli: Cli, case: Path, tmp_path: Path
    ) -> None:
        cli("grade", case, make_solution(tmp_path / "s"))
        cli("grade", case, make_solution(tmp_path / "t", burner(3), model="other"))
        cli("export", tmp_path / "out")
        good, bad = (json.loads(text) for text in (tmp_path / "out" / "runs.jsonl").read_text().splitlines())
        evil = {**bad, "version": "v\x1b[31m\n1", "variant": "b\x1b", "engine": "e\x1b", "provenance": {"k\x1b": "v"}}
        evil["run_id"] = PerformanceRun(**{f.name: evil[f.name] for f in fields(PerformanceRun)}).run_id
        deep: Any = {}
        for _ in range(600):
            deep = {"d": deep}
        free = {**bad, "total_fuel": 0, "inputs": [{**row, "fuel": 0} for row in bad["inputs"]]}
        lines = [good, evil, {**bad, "provenance": deep}, free]
        (tmp_path / "out" / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        module_file = tmp_path / "out" / "modules" / f"{bad['module_digest']}.wasm"
        module_file.unlink()
        os.mkfifo(module_file)
        other = ("--store", str(tmp_path / "other.sqlite"))
        answer = cli("import", tmp_path / "out", "--json", *other)
        assert answer[0] == 1
        assert (document(answer)["stored"], len(document(answer)["refused"])) == (1, 3)
        module_file.unlink()
        cli("import", tmp_path / "out", *other)
        texts = [cli("runs", *other)[1], cli("show", evil["run_id"], *other)[1]]
        for text in texts:
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
        assert "\\x1b" in texts[1]


class TestAsAProgram:
    def test_a_terminal_that_cannot_show_a_name_shows_its_numbers(self, cli: Cli, case: Path, tmp_path: Path) -> None:
        cli("grade", case, make_solution(tmp_path / "s", model="модель"))
        command = [sys.executable, "-m", "evalkit.cli", "runs"]
        env = {**os.environ, "PYTHONIOENCODING": "ascii"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=env)
        assert "\\u043c" in done.stdout

    def test_closed_standard_output_is_one_line(self, cli: Cli, case: Path, tmp_path: Path) -> None:
        cli("grade", case, make_solution(tmp_path / "s"))
        command = f"{sys.executable} -m evalkit.cli runs --json >&-"
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)

    def test_a_closed_pipe_is_no_error(self, cli: Cli, case: Path, tmp_path: Path) -> None:
        cli("grade", case, make_solution(tmp_path / "s"))
        command = f"{sys.executable} -m evalkit.cli runs --json | head -c 1"
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.stderr == ""

    def test_version_names_the_engine_and_its_schedule(self, cli: Cli) -> None:
        assert re.fullmatch(r"evalkit [\d.]+, wasmtime [\d.]+, fuel schedule [0-9a-f]{16}\n", cli("--version")[1])

    def test_a_fault_of_the_kit_itself_is_one_line_too(
        self, cli: Cli, case: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Store, "open", lambda *_, **__: 1 / 0)
        assert "a fault in evalkit itself: ZeroDivisionError" in one_line(cli("runs", "--store", "s.sqlite"))

    def test_importing_evalkit_imports_nothing_heavy(self) -> None:
        code = (
            "import evalkit, sys; print([m for m in ('wasmtime','pandas','altair','sqlalchemy') if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
        assert done.stdout == "[]\n"
