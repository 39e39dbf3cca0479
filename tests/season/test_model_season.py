"""A season with model-backed rows, end to end by the command line, against an endpoint on loopback."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli import main
from evalkit.records import canonical
from evalkit.store import Store
from tests.season.modelwork import A_CALL, KEY, PRICES, Say, Server, model_file, on_route, serving
from tests.season.seasonwork import make_season

Cli = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def cli(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Call a verb with --json in a project with a season, prices and two model files; gives (status, document, err)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVALKIT_STORE", raising=False)
    monkeypatch.delenv("EVALKIT_PRICES", raising=False)
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    folder = make_season(tmp_path / "cases")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prices.toml").write_text(PRICES)
    model_file(folder / "agents", server.url, name="careful")
    model_file(folder / "agents", server.url, name="unknown", more='answer = "text"')
    other = folder / "agents" / "unknown.toml"
    other.write_text(other.read_text().replace("test-model", "another-model"))

    def call(*words: str | Path, text: bool = False) -> tuple[int, Any, str]:
        status = main([str(word) for word in (*words, *(() if text else ("--json",)))])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err and KEY not in out + err
        return status, out if text else json.loads(out or "null"), err

    return call


CAREFUL, UNKNOWN = "model:cases/vault/agents/careful.toml", "model:cases/vault/agents/unknown.toml"
SWEEP = ("sweep", "vault", "--agents", CAREFUL, "random")


def test_a_season_with_models_is_swept_resumed_verified_ranked_shown_and_moved(
    cli: Cli, server: Server, tmp_path: Path
) -> None:
    # A first sweep meets an endpoint that goes down for good after a few calls.
    calls = 0

    def fails(request: Any) -> Say:
        nonlocal calls
        calls += 1
        return on_route(request) if calls <= 15 else Say(status=503)

    server.default = fails
    status, report, _ = cli(*SWEEP, "--jobs", "1")
    assert (status, report["stored"], report["failed"]) == (1, 8, [])
    before = {run["run_id"]: run for run in cli("runs", "--agent", "careful")[1]}
    down = [run for run in before.values() if run["ended_by"] == "agent_error"]
    spent = sum(run["dollars"] for run in down)
    said = f"careful: {len(down)} attempts were cut short by its endpoint, and are not in its score; they spent"
    assert f"{said} {spent:.4f} dollars" in cli("leaderboard", "vault")[2] and spent > 0
    assert down and sum(run["tokens"] for run in before.values()) == 15 * 1050

    # It is up again: what is stored stays, and what was ungraded is played as a new attempt.
    server.default = on_route
    status, report, _ = cli(*SWEEP)
    assert (status, report) == (0, {"jobs": 8, "stored": len(down), "skipped": 8 - len(down), "failed": []})
    runs = cli("runs", "--agent", "careful")[1]
    assert {run["run_id"] for run in runs} >= set(before)
    assert cli(*SWEEP)[1]["stored"] == 0

    # Every graded run verifies; the row has its tokens and dollars.
    status, proofs, _ = cli("verify", "--all")
    assert status == 0 and len(proofs) == 8
    graded = [run for run in runs if run["score"] is not None]
    assert len(graded) == 4
    row = next(row for row in cli("leaderboard", "vault")[1] if row["agent"] == "careful")
    assert (row["rank"], row["cells"], row["dollars_complete"]) == (1, 4, True)
    assert row["tokens"] == sum(run["tokens"] for run in graded) > 0
    assert row["dollars"] == pytest.approx(row["tokens"] / 1050 * A_CALL)

    with Store.open(create=False) as store:
        frame = store.season_frame(agent="careful")
    assert (frame["tokens"].sum(), frame["dollars"].notna().all()) == (sum(run["tokens"] for run in runs), True)

    # A run is shown with its turns.
    run = graded[0]
    shown = cli("show", run["run_id"], "--turns")[1]
    assert {key: shown[key] for key in run} == {**run, "verified": True}
    assert len(shown["turns"]) == run["decisions"] == shown["provenance"]["calls"]
    first = shown["turns"][0]
    assert (
        first["action"] == "take 2" and first["observation"]["numbers"] and first["calls"][0]["tokens"]["cached"] == 400
    )
    assert first["system"].startswith("Play well, and leave by the door.")
    assert [turn for turn in shown["turns"] if "system" in turn] == [first]
    text = cli("show", run["run_id"], "--turns", text=True)[1]
    assert "| Play well, and leave by the door." in text and "| You play level hall" in text
    assert "1: take 2   at ammo 5" in text and "on we go" in text and "0 noops" in text and "400" in text
    plain = next(run for run in cli("runs", "--agent", "random")[1])
    assert "no turns were kept" in cli("show", plain["run_id"], "--turns")[2]

    # Recorded stays; computed follows other prices, from the tokens of each call.
    rows = cli("reprice", "vault")[1]
    assert {row["run_id"] for row in rows} == {run["run_id"] for run in runs}
    assert all(row["computed"] == pytest.approx(row["recorded"]) for row in rows)
    (tmp_path / "other.toml").write_text(PRICES.replace("100.0", "0.0"))
    rows = cli("reprice", "vault", "--prices", "other.toml")[1]
    cheaper = next(row for row in rows if row["run_id"] == run["run_id"])
    assert cheaper["recorded"] == run["dollars"] > cheaper["computed"] > 0 and cheaper["charged"] is None

    # Plain files carry the turns, and a file that was changed is refused.
    cli("export", "out")
    kept = tmp_path / "out" / "turns" / f"{run['run_id']}.jsonl"
    assert len(kept.read_text().splitlines()) == run["decisions"] and KEY not in kept.read_text()
    assert cli("import", "out", "--store", "new.sqlite")[1]["refused"] == []
    again = cli("show", run["run_id"], "--turns", "--store", "new.sqlite")[1]
    assert again["turns"] == shown["turns"] and again["provenance"] == shown["provenance"]
    kept.write_text(kept.read_text().replace("on we go", "on we went"))
    status, report, _ = cli("import", "out", "--store", "third.sqlite")
    assert status == 1 and "its turns turns/" in report["refused"][0]["why"]


def test_a_sweep_stops_at_its_cap_with_at_most_a_call_too_many_a_job_and_goes_on_later(
    cli: Cli, server: Server
) -> None:
    cap = 20.5 * A_CALL
    status, report, _ = cli(*SWEEP, "--dollar-cap", f"{cap}", "--jobs", "2")
    assert status == 1 and report["dollar_cap"] == cap
    assert report["dollars"] == pytest.approx(len(server.bodies) * A_CALL)
    assert cap <= report["dollars"] <= cap + 2 * A_CALL
    assert all("not played: the sweep's cap" in row["error"] for row in report["failed"])
    runs = cli("runs", "--agent", "careful")[1]
    assert all(run["dollar_cap"] == cap for run in runs)
    assert sum(run["dollars"] for run in runs) == pytest.approx(report["dollars"])
    cut = [run for run in runs if run["ended_by"] == "agent_error"]
    assert cut and all(run["score"] is None for run in cut)
    said = cli("leaderboard", "vault")[2]
    assert f"careful: {len(cut)} attempts were cut short by the sweep's cap" in said and "its program" not in said
    assert len(cli("runs", "--agent", "random")[1]) == 4
    status, report, _ = cli(*SWEEP)
    assert (status, report["stored"], report["failed"]) == (0, 8 - report["skipped"], [])
    assert cli("leaderboard", "vault")[1][0]["cells"] == 4


def test_a_run_that_reaches_its_own_cap_is_graded_so(cli: Cli, server: Server) -> None:
    status, report, _ = cli(*SWEEP, "--run-dollar-cap", f"{2.5 * A_CALL}")
    assert status == 0 and "dollars" not in report
    runs = cli("runs", "--agent", "careful")[1]
    assert {(run["ended_by"], run["decisions"]) for run in runs} == {("dollar_cap", 2)}
    assert cli("verify", "--all")[0] == 0


def test_a_dry_run_estimates_what_a_grid_costs_and_on_which_grounds_without_a_key(
    cli: Cli, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEST_MODEL_KEY")
    status, report, _ = cli("sweep", "vault", "--agents", UNKNOWN, CAREFUL, "random", "--dry-run")
    known, unknown = report["estimate"]
    assert (status, report["jobs"], known["agent"], known["jobs"]) == (0, 12, "careful", 4)
    # 2 x 150 and 2 x 40 decisions, 150 tokens out; what goes in is as long as what is really sent, below.
    assert known["grounds"].startswith("assumed: 380 decisions")
    most = int(known["grounds"].partition("up to ")[2].partition(" ")[0].replace(",", ""))
    assert 380 * 150 * 100 / 1e6 < known["dollars"] <= 380 * (most * 10 + 150 * 100) / 1e6
    assert (unknown["agent"], unknown["dollars"]) == ("unknown", None)
    text = cli("sweep", "vault", "--agents", UNKNOWN, CAREFUL, "--dry-run", text=True)[1]
    assert "unknown: 4 runs, unpriced" in text and "and what is unpriced" in text
    status, report, said = cli("sweep", "vault", "--agents", CAREFUL)
    assert (status, report) == (2, None) and "TEST_MODEL_KEY holds no key" in said
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    spent = cli("play", "vault", "--level", "hall", "--seed", "0", "--agent", CAREFUL)[1]["dollars"]
    longest = max(len(canonical(body)) for body in server.bodies) / 4
    assert len(server.bodies) > 9 and longest < most < 1.6 * longest  # notes here are shorter than is assumed
    [row] = cli("sweep", "vault", "--agents", CAREFUL, "--dry-run")[1]["estimate"]
    assert (row["jobs"], row["dollars"]) == (3, pytest.approx(3 * spent))
    assert row["grounds"].startswith("the mean of its 1 stored runs")


def test_what_has_no_price_is_shown_as_unpriced_sorted_last_and_makes_a_total_incomplete(
    cli: Cli, server: Server
) -> None:
    cli("sweep", "vault", "--agents", CAREFUL, UNKNOWN)
    row = next(row for row in cli("leaderboard", "vault")[1] if row["agent"] == "unknown")
    assert (row["dollars"], row["dollars_complete"]) == (None, False) and row["tokens"] > 0
    assert "unpriced" in cli("leaderboard", "vault", text=True)[1]
    rows = cli("reprice", "vault")[1]
    assert [row["agent"] for row in rows] == ["careful"] * 4 + ["unknown"] * 4
    assert "4 of 8 runs are unpriced, so no total is whole" in cli("reprice", "vault", text=True)[1]
    status, report, said = cli("sweep", "vault", "--agents", UNKNOWN, "--attempts", "2", "--dollar-cap", "1")
    assert (status, report) == (2, None) and "a dollar cap cannot be held: no price of another-model" in said


def test_a_row_that_holds_runs_of_two_versions_of_an_agent_says_so(cli: Cli, tmp_path: Path) -> None:
    words = ("play", "vault", "--level", "hall", "--seed", "0", "--agent", CAREFUL)
    cli(*words)
    assert "versions" not in cli("leaderboard", "vault")[2]
    (tmp_path / "cases" / "vault" / "agents" / "prompt.md").write_text("Play better.")
    cli(*words)
    assert "careful: runs of 2 versions of this agent count as one" in cli("leaderboard", "vault")[2]


def test_a_private_runs_turns_never_leave(cli: Cli, tmp_path: Path) -> None:
    run = cli("play", "vault", "--level", "hall", "--seed", "0", "--agent", CAREFUL, "--reference", "anchor")[1]
    cli("export", "out")
    assert not (tmp_path / "out" / "turns").exists()
    with Store.open(create=False) as store:
        assert store.turns(run["run_id"])


ODD = """
class Odd:
    name = "odd"
    def reset(self, spec, seed): pass
    def decide(self, seen):
        from evalkit.season.agents import Action
        return Action("wait", 30)
    def turns(self): return {turns}
    def provenance(self): return {provenance}
"""


@pytest.mark.parametrize(
    ("turns", "provenance", "why"),
    [
        ('[{"step": 1}]', "{}", "turn 1 has no decision"),
        ("[3]", "{}", "turn 1 is no object"),
        ("[]", '{"charged": "x"}', "provenance: charged must be a number"),
        ("[]", '{"priced_at": "yesterday"}', "priced_at must be an ISO 8601 time"),
        ("[]", '{"provider": {}}', "provider must be text"),
    ],
)
def test_turns_of_another_shape_are_left_out_with_a_reason_and_cost_the_run_nothing(
    cli: Cli, tmp_path: Path, turns: str, provenance: str, why: str
) -> None:
    (tmp_path / "cases" / "vault" / "agents" / "odd.py").write_text(
        ODD.replace("{turns}", turns).replace("{provenance}", provenance)
    )
    status, run, err = cli("play", "vault", "--level", "hall", "--seed", "0", "--agent", "odd")
    assert (status, run["score"] is not None) == (0, True) and why in err
    assert "no turns were kept" in cli("show", run["run_id"], "--turns")[2]
    assert cli("reprice", "vault")[:2] == (0, [])


def _claims(out: Path, run_id: str, said: bytes, **provenance: Any) -> None:
    """Write other turns, or another account of its model, into an export, as whoever made it could have."""
    (out / "turns" / f"{run_id}.jsonl").write_bytes(said)
    file = next(path for path in out.rglob("*.jsonl") if path.parent.name != "turns" and run_id in path.read_text())
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        if row["run_id"] == run_id:
            row["provenance"] |= {"turns": hashlib.sha256(said).hexdigest(), **provenance}
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(
    ("said", "provenance", "why"),
    [
        (b'{"step": 1}\n', {}, "turn 1 has no decision"),
        (b'{"decision": NaN}\n', {}, "turn 1 is not JSON"),
        (None, {"priced_at": "garbage"}, "priced_at must be"),
        (None, {"provider": {}}, "provider must be text"),
        (None, {"charged": "x"}, "charged must be a number"),
    ],
)
def test_an_import_with_turns_of_another_shape_is_refused_by_name_and_one_stored_before_is_unpriced(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes | None, provenance: Any, why: str
) -> None:
    runs = [
        cli("play", "vault", "--level", "hall", "--seed", seed, "--agent", CAREFUL)[1]["run_id"] for seed in ("0", "1")
    ]
    cli("export", "out")
    kept = (tmp_path / "out" / "turns" / f"{runs[0]}.jsonl").read_bytes()
    _claims(tmp_path / "out", runs[0], kept if said is None else said, **provenance)
    status, report, _ = cli("import", "out", "--store", "new.sqlite")
    assert (status, report["stored"]) == (1, 1)
    [refused] = report["refused"]
    assert runs[0] in refused["why"] and why in refused["why"]

    monkeypatch.setattr("evalkit.store.transfer.check_turns", lambda run, turns: None)  # as before there was a check
    assert cli("import", "out", "--store", "old.sqlite")[0] == 0
    status, rows, _ = cli("reprice", "vault", "--store", "old.sqlite")
    assert status == 0 and {row["run_id"]: row["computed"] is None for row in rows} == {runs[0]: True, runs[1]: False}
    assert "1 of 2 runs are unpriced" in cli("reprice", "vault", "--store", "old.sqlite", text=True)[1]
    status, _, err = cli("show", runs[0], "--turns", "--store", "old.sqlite", text=True)
    assert "a fault in evalkit" not in err
    if said is not None:
        assert status == 2 and f"the turns of run {runs[0]} cannot be read here: {why}" in err and err.count("\n") == 1
