"""The verbs of a season as a script and a person meet them, from an empty project to a leaderboard and back."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli import main
from evalkit.records import SeasonRun, canonical
from evalkit.store import Store
from tests.season.seasonwork import SEASON, VAULT, make_season

RUN = {
    "run_id", "season", "season_digest", "level", "difficulty", "seed", "agent", "reference", "score",
    "objectives_done", "objectives_total", "completed", "died", "time_s", "anchor_s", "decisions", "decision_budget",
    "ticks", "tokens", "dollars", "dollar_cap", "ended_by", "verified", "drift", "game_digest", "engine", "voided",
}  # fmt: skip
ROW = {
    "rank", "agent", "reference", "score", "se", "cells", "cells_expected", "attempts", "verified", "decisions",
    "tokens", "dollars", "dollars_complete",
}  # fmt: skip
AGENT = """
import os, subprocess, sys, threading, time
from evalkit.season.agents import Action, Usage
class Waits:
    name = "waits"
    def reset(self, spec, seed): self.n = 0
    def decide(self, observation):
        self.n += 1
        return Action("wait", 30)
    def usage(self): return Usage(self.n * 10, self.n * 0.5)
class Wrong(Waits):
    name = "wrong"
    def decide(self, observation): raise ValueError("no idea")
class Noisy(Waits):
    def decide(self, observation):
        print("hello"); os.write(1, b"hello"); subprocess.run(["echo", "hello"])
        return super().decide(observation)
class Closes(Waits):
    def decide(self, observation):
        sys.stdout.close(); sys.stderr.close(); return super().decide(observation)
class Unsets(Waits):
    def decide(self, observation):
        sys.stdout = sys.stderr = None; return super().decide(observation)
class Lingers(Waits):
    def decide(self, observation):
        threading.Thread(target=time.sleep, args=(60,)).start(); return Action("fly", 1)
class Lost(Waits):
    def decide(self, observation): return Action("fly", 1)
class Exits(Waits):
    name = "exits"
    def decide(self, observation): sys.exit(0)
class Pilot(Waits):
    name = "autopilot"
    reference = "anchor"
    cheats = ("invincible",)
    deterministic = True
"""

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Call a verb in a project with one season; gives (status, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVALKIT_STORE", raising=False)
    make_season(tmp_path / "cases")
    (tmp_path / "mine.py").write_text(AGENT)

    def call(*words: str | Path) -> tuple[int, str, str]:
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return status, out, err

    return call


def document(answer: tuple[int, str, str]) -> Any:
    return json.loads(answer[1])


def one_line(answer: tuple[int, str, str]) -> str:
    status, out, err = answer
    assert (status, out, err.count("\n")) == (2, "", 1), answer
    return err


HALL = ("play", "vault", "--level", "hall", "--seed", "0", "--agent")


class TestCheck:
    def test_a_clean_season_is_said_so_and_a_broken_one_has_status_1(self, cli: Cli, tmp_path: Path) -> None:
        status, out, _ = cli("check", "vault", "--json")
        assert (status, json.loads(out)["clean"], json.loads(out)["faults"]) == (0, True, [])
        make_season(tmp_path, season=SEASON.replace("0 = 60", "0 = 0"), slug="early")
        status, out, _ = cli("check", tmp_path / "early")
        assert status == 1 and "entry#1: with seed 0: hall at easy: mode == 1 does not hold" in out

    def test_a_name_that_is_neither_case_nor_season_is_one_line(self, cli: Cli) -> None:
        assert 'no "valt"' in one_line(cli("check", "valt"))


class TestPlay:
    def test_a_run_is_stored_and_shown_as_the_document_says(self, cli: Cli) -> None:
        status, out, _ = cli(*HALL, "random", "--json")
        run = json.loads(out)
        assert status == 0 and set(run) == RUN
        assert (run["agent"], run["reference"], run["verified"], run["anchor_s"]) == ("random", "floor", None, 6.5)
        shown = document(cli("show", run["run_id"][:6], "--json"))
        assert sum(shown.pop("parts").values()) == run["score"]
        assert shown == run
        assert document(cli("runs", "--season", "vault@1.0", "--json")) == [run]
        assert document(cli("runs", "--season", "vault@2", "--json")) == []
        assert run["run_id"] in cli("runs")[1] and run["level"] in cli("show", run["run_id"])[1]

    def test_a_score_is_shown_in_its_parts_and_what_was_not_completed_is_said_so(self, cli: Cli) -> None:
        status, out, _ = cli(*HALL, "mine.py:Waits")
        assert status == 0 and ", not completed, anchor 6.5 s" in out and "T -" not in out
        assert "  in parts: objectives " in out and ", completion 0.00, death 0.00" in out
        run = document(cli("runs", "--json"))[0]
        shown = cli("show", run["run_id"])[1]
        assert shown == out
        parts = document(cli("show", run["run_id"], "--json"))["parts"]
        assert list(parts) == ["objectives", "completion", "death"] and sum(parts.values()) == run["score"]
        failed = document(cli(*HALL, "mine.py:Wrong", "--json"))["run_id"]
        assert document(cli("show", failed, "--json"))["parts"] is None
        assert "in parts" not in cli("show", failed)[1]

    def test_a_practice_seed_is_said_to_count_in_no_standing(self, cli: Cli) -> None:
        words = ("play", "vault", "--level", "hall", "--seed", "9", "--agent", "mine.py:Waits")
        said = "seed 9 is for practice: the run is kept and counts in no standing, which is over seeds 0, 1\n"
        status, out, err = cli(*words)
        assert (status, err) == (0, "") and said in out
        status, out, err = cli(*words, "--json")
        assert status == 0 and set(json.loads(out)) == RUN and said in err
        assert said in cli("show", json.loads(out)["run_id"])[1]
        assert document(cli("leaderboard", "vault", "--json")) == []
        assert "counts in no standing" not in "".join(cli(*HALL, "mine.py:Waits")[1:])

    def test_playing_again_is_the_same_run_for_one_that_repeats_itself_and_another_for_one_that_may_not(
        self, cli: Cli
    ) -> None:
        ids = [document(cli(*HALL, "random", "--json"))["run_id"] for _ in range(2)]
        assert ids[0] == ids[1]
        ids = [document(cli(*HALL, "mine.py:Waits", "--json"))["run_id"] for _ in range(2)]
        assert ids[0] != ids[1]
        assert len(document(cli(*HALL, "random", "--attempts", "3", "--json"))) == 3

    def test_an_agent_that_fails_is_recorded_ungraded_with_status_0_and_a_line(self, cli: Cli) -> None:
        status, out, err = cli(*HALL, "mine.py:Wrong", "--json")
        run = json.loads(out)
        assert (status, run["ended_by"], run["score"]) == (0, "agent_error", None)
        assert "decision 1: ValueError: no idea" in err
        assert document(cli(*HALL, "mine.py:Wrong", "--json"))["run_id"] != run["run_id"]
        assert document(cli("leaderboard", "vault", "--json")) == []

    def test_the_dollar_cap_is_recorded_with_what_was_spent(self, cli: Cli) -> None:
        run = document(cli(*HALL, "mine.py:Waits", "--dollar-cap", "1.2", "--json"))
        assert (run["ended_by"], run["dollars"], run["dollar_cap"], run["tokens"]) == ("dollar_cap", 1.5, 1.2, 30)

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--level", "hal"), 'no level "hal"'),
            (("--seed", "5"), "no seed 5"),
            (("--difficulty", "hard"), 'no difficulty "hard"'),
            (("--agent", "randm"), 'did you mean "random"'),
            (("--cheat", "invincible"), "only a reference run of the anchor"),
            (("--dollar-cap", "-1"), "must be an amount above 0"),
        ],
    )
    def test_what_cannot_be_played_is_one_line_and_stores_nothing(
        self, cli: Cli, words: tuple[str, str], said: str
    ) -> None:
        assert said in one_line(cli(*HALL, "random", *words))

    def test_an_anchors_replay_is_never_written(self, cli: Cli, tmp_path: Path) -> None:
        for words in (("mine.py:Pilot",), ("mine.py:Waits", "--reference", "anchor")):
            assert "stays in the store" in one_line(cli(*HALL, *words, "--replay", tmp_path / "r.json"))
        assert not (tmp_path / "r.json").exists()
        cli(*HALL, "mine.py:Pilot")
        assert cli("export", tmp_path / "out")[0] == 0
        assert not list((tmp_path / "out").rglob("*.json"))
        assert "autopilot" in (tmp_path / "out" / "runs.jsonl").read_text()


class TestVerify:
    def test_a_replay_file_verifies_and_its_run_in_the_store_says_so(self, cli: Cli, tmp_path: Path) -> None:
        path = tmp_path / "r.json"
        run = document(cli(*HALL, "random", "--replay", path, "--json"))
        status, out, _ = cli("verify", path, "--json")
        assert status == 0
        expected = {"file": str(path), "verified": True, "drift": None, "score": run["score"], "refused": None}
        [row] = json.loads(out)
        assert {key: row[key] for key in expected} == expected
        assert (row["note"], row["season"], row["season_folder"]) == (None, "vault@1.0", "cases/vault")
        assert f"(against cases/vault, digest {row['season_digest'][:12]})" in cli("verify", path)[1]
        assert document(cli("show", run["run_id"], "--json"))["verified"] is True
        with Store.open(create=False) as store:
            kept = store.get(run["run_id"])
        assert kept.verified_on.startswith("wasmtime") and kept.verified_at.endswith("+00:00")  # type: ignore[union-attr]

    def test_a_forged_and_a_broken_file_beside_a_true_one_have_status_1(self, cli: Cli, tmp_path: Path) -> None:
        cli(*HALL, "random", "--replay", tmp_path / "true.json")
        data = (tmp_path / "true.json").read_bytes()
        parts = json.loads(data)
        parts["decisions"][0]["hash"] = "0" * 64
        forged = json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()
        (tmp_path / "forged.json").write_bytes(forged)
        (tmp_path / "cut.json").write_bytes(data[:-2])
        status, out, err = cli("verify", *(tmp_path / f"{name}.json" for name in ("true", "forged", "cut")), "--json")
        rows = json.loads(out)
        assert (status, err) == (1, "")
        assert [row["verified"] for row in rows] == [True, False, False]
        assert rows[1]["drift"]["decision"] == 1 and rows[1]["refused"] is None
        assert "cut short" in rows[2]["refused"] and rows[2]["drift"] is None
        _, text, _ = cli("verify", tmp_path / "forged.json")
        assert "drifts at decision 1" in text

    def test_all_replays_of_the_store_are_verified_and_a_season_that_changed_refuses_them(
        self, cli: Cli, tmp_path: Path
    ) -> None:
        for level in ("hall", "cellar"):
            cli("play", "vault", "--level", level, "--seed", "1", "--agent", "random", "--attempts", "2")
        cli(*HALL, "mine.py:Pilot")
        status, out, _ = cli("verify", "--all", "--json")
        assert status == 0 and len(json.loads(out)) == 5
        assert all(run["verified"] for run in document(cli("runs", "--json")))
        season = tmp_path / "cases" / "vault" / "season.toml"
        season.write_text(season.read_text().replace("tick_limit = 2400", "tick_limit = 2401"))
        status, out, _ = cli("verify", "--all", "--json")
        assert status == 1 and all("another season's digest" in row["refused"] for row in json.loads(out))
        _, out, err = cli("leaderboard", "vault", "--json")
        assert "recorded under another digest" in err and json.loads(out)

    def test_what_cannot_be_verified_is_one_line(self, cli: Cli, tmp_path: Path) -> None:
        assert "name replays, or ask for --all" in one_line(cli("verify"))
        assert "there is no such file" in one_line(cli("verify", tmp_path / "none.json"))
        assert "there is no store" in one_line(cli("verify", "--all"))


class TestSweep:
    def test_a_sweep_plays_every_cell_once_and_goes_on_where_it_stopped(self, cli: Cli) -> None:
        answer = cli("sweep", "vault", "--dry-run", "--json", "--store", "s.sqlite")
        planned = document(answer).pop("planned")
        assert document(answer) == {"jobs": 4, "stored": 0, "skipped": 0, "failed": [], "planned": planned}
        assert len(planned) == 4
        assert cli("sweep", "vault", "--dry-run")[1].endswith(
            "4 jobs: 4 would run, 0 are stored already; nothing was run\n"
        )
        assert not Path("data").exists()
        status, out, err = cli("sweep", "vault", "--agents", "random", "mine.py:Waits", "--store", "s.sqlite", "--json")
        assert (status, json.loads(out)) == (0, {"jobs": 8, "stored": 8, "skipped": 0, "failed": []})
        assert "8/8" in err
        answer = cli("sweep", "vault", "--agents", "random", "mine.py:Waits", "--store", "s.sqlite", "--json")
        assert document(answer) == {"jobs": 8, "stored": 0, "skipped": 8, "failed": []}

    def test_an_agent_that_does_not_load_fails_alone_and_ungraded_runs_are_tried_again(self, cli: Cli) -> None:
        status, out, _ = cli("sweep", "vault", "--agents", "nobody", "mine.py:Wrong", "--json")
        report = json.loads(out)
        assert (status, report["stored"], len(report["failed"])) == (1, 4, 4)
        assert 'there is no agent "nobody"' in report["failed"][0]["error"]
        again = document(cli("sweep", "vault", "--agents", "mine.py:Wrong", "--json"))
        assert (again["stored"], again["skipped"]) == (4, 0)

    def test_a_sweep_replays_what_was_never_replayed_where_it_is_asked_to(self, cli: Cli) -> None:
        words = ("sweep", "vault", "--agents", "mine.py:Waits", "--verify", "--store", "s.sqlite")
        status, _, err = cli(*words)
        assert status == 0 and "4 of 4 replays verified" in err
        assert {run["verified"] for run in document(cli("runs", "--json", "--store", "s.sqlite"))} == {True}
        status, _, err = cli(*words)
        assert status == 0 and "replays verified" not in err

    def test_a_replay_that_does_not_verify_is_named_and_fails_the_sweep(self, cli: Cli) -> None:
        cli("sweep", "vault", "--agents", "mine.py:Waits", "--store", "s.sqlite")
        with Store.open("s.sqlite") as store:
            run = store.runs(kind="season")[0]
            assert isinstance(run, SeasonRun)
            parts = json.loads(store.replay(run.run_id))
        parts["decisions"][1]["hash"] = "0" * 64
        forged = canonical(parts)
        with Store.open("t.sqlite") as other:
            other.add(replace(run, replay_digest=hashlib.sha256(forged).hexdigest()), replay=forged)
        status, _, err = cli("sweep", "vault", "--agents", "mine.py:Waits", "--verify", "--store", "t.sqlite")
        assert status == 1 and f"3 of 4 replays verified; not {run.run_id}" in err

    def test_options_of_the_other_kind_are_one_line(self, cli: Cli) -> None:
        assert "swept with --agents" in one_line(cli("sweep", "vault", "--solutions", "x"))


class TestStanding:
    def test_the_board_ranks_agents_and_leaves_references_without_a_rank(self, cli: Cli) -> None:
        cli("sweep", "vault", "--agents", "random", "mine.py:Waits")
        rows = document(cli("leaderboard", "vault", "--json"))
        assert all(set(row) == ROW for row in rows)
        by_agent = {row["agent"]: row for row in rows}
        assert (by_agent["random"]["rank"], by_agent["random"]["reference"]) == (None, "floor")
        assert (by_agent["waits"]["rank"], by_agent["waits"]["cells"], by_agent["waits"]["cells_expected"]) == (1, 4, 4)
        assert "floor" in cli("leaderboard", "vault")[1]
        assert document(cli("leaderboard", "vault", "--verified-only", "--json")) == []
        cli("verify", "--all")
        assert len(document(cli("leaderboard", "vault", "--verified-only", "--json"))) == 2

    def test_rescoring_shows_the_official_rank_and_score_beside(self, cli: Cli) -> None:
        cli("sweep", "vault")
        [official] = document(cli("leaderboard", "vault", "--json"))
        [row] = document(cli("rescore", "vault", "--set", "objectives=30", "--set", "completion=70", "--json"))
        assert set(row) == ROW | {"official_rank", "official_score"}
        assert row["official_score"] == official["score"] != row["score"]
        assert document(cli("leaderboard", "vault", "--json")) == [official]
        assert "official score" in cli("rescore", "vault", "--set", "death=0")[1]
        for words, said in (("deth=1", 'did you mean "death"'), ("death=x", "sets no number"), ("death=-1", "from 0")):
            assert said in one_line(cli("rescore", "vault", "--set", words))

    def test_a_voided_run_counts_nowhere(self, cli: Cli) -> None:
        run = document(cli(*HALL, "random", "--json"))
        assert document(cli("void", run["run_id"], "--reason", "a slip", "--json"))["voided"] == "a slip"
        assert document(cli("leaderboard", "vault", "--json")) == []
        assert "of a season" in one_line(cli("place", run["run_id"]))


class TestPlainFiles:
    def test_an_export_brings_replays_and_an_import_is_not_verified_until_replayed(
        self, cli: Cli, tmp_path: Path
    ) -> None:
        cli("sweep", "vault")
        cli("verify", "--all")
        before = document(cli("runs", "--json"))
        cli("export", "out")
        names = sorted(path.stem for path in (tmp_path / "out" / "replays").iterdir())
        assert names == sorted(run["run_id"] for run in before)
        assert document(cli("import", "out", "--store", "new.sqlite", "--json"))["stored"] == 4
        there = document(cli("runs", "--store", "new.sqlite", "--json"))
        assert [run["verified"] for run in there] == [None] * 4
        assert cli("verify", "--all", "--store", "new.sqlite")[0] == 0
        assert document(cli("runs", "--store", "new.sqlite", "--json")) == before
        cli("export", "out2", "--store", "new.sqlite")
        assert (tmp_path / "out2" / "replays" / f"{names[0]}.json").read_bytes() == (
            tmp_path / "out" / "replays" / f"{names[0]}.json"
        ).read_bytes()

    def test_a_changed_replay_is_refused_by_name(self, cli: Cli, tmp_path: Path) -> None:
        run = document(cli(*HALL, "random", "--json"))
        cli("export", "out")
        path = tmp_path / "out" / "replays" / f"{run['run_id']}.json"
        path.write_bytes(path.read_bytes().replace(b'"seed":0', b'"seed":1'))
        status, out, _ = cli("import", "out", "--store", "new.sqlite", "--json")
        assert status == 1 and "the file was changed" in json.loads(out)["refused"][0]["why"]


def test_a_game_that_is_broken_is_one_line_for_every_verb(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "cases" / "vault" / "game" / "game.toml").write_text(VAULT.replace("[status]", "[statsu]"))
    for words in ((*HALL, "random"), ("sweep", "vault"), ("leaderboard", "vault")):
        assert "evalkit check" in one_line(cli(*words))


@pytest.mark.parametrize("verb", ["play", "sweep"])
@pytest.mark.parametrize("name", ["Noisy", "Closes", "Unsets", "Lingers", "Exits"])
def test_one_document_is_on_standard_output_whatever_an_agent_does_there(
    cli: Cli, tmp_path: Path, verb: str, name: str
) -> None:
    cell = ["vault", "--level", "hall", "--seed", "0", "--agent", f"mine.py:{name}"]
    words = ["play", *cell] if verb == "play" else ["sweep", "vault", "--agents", f"mine.py:{name}"]
    command = [sys.executable, "-m", "evalkit.cli", *words, "--json"]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=50)
    document = json.loads(done.stdout)
    assert time.monotonic() - began < 40, "no thread of an agent's holds up the end"
    assert done.returncode == (1 if (verb, name) == ("sweep", "Exits") else 0) and "Traceback" not in done.stderr
    assert document["ended_by"] != "" if verb == "play" else document["stored"] == 4
    assert ("hello" in done.stderr) == (name == "Noisy")
    with Store.open(tmp_path / "data" / "runs.sqlite") as store:
        assert len(store.runs()) == (1 if verb == "play" else 4)


def test_choices_that_were_not_legal_and_attempts_that_failed_are_said(cli: Cli) -> None:
    cell = ("vault", "--level", "hall", "--seed", "0", "--agent")
    status, _, err = cli("play", *cell, "mine.py:Lost")
    assert status == 0 and "150 of 150 choices were not legal: a no-op was played; decision 1: there is no" in err
    for attempts in ("1", "2"):
        cli("play", *cell, "mine.py:Exits")
        _, _, err = cli("leaderboard", "vault")
        assert f"exits: {attempts} attempts ended in a fault of its program, and are not in its score" in err


def test_only_the_parser_ends_a_verb_by_exiting(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("--help")[0] == 0 and cli("nonsense")[0] == 2
    monkeypatch.setattr("evalkit.cli.seasons.open_season", lambda ref: sys.exit(0))
    status, _, err = cli("play", "vault", "--level", "hall", "--seed", "0", "--agent", "random")
    assert (status, "a fault in evalkit itself: SystemExit" in err) == (2, True)
