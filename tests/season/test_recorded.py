"""Records against their replays: what a record says beyond its proof is refused at the door, and never verifies."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import ReplayError, StoreError, UsageError
from evalkit.jobs import attempt_number, verify_replays, verify_season
from evalkit.records import SeasonRun, canonical
from evalkit.season import load_season, play, verify
from evalkit.season.agents import load_agent
from evalkit.season.manifest import named_season
from evalkit.season.playing import Played
from evalkit.season.recorded import differences, held
from evalkit.season.replays import Claims, Header, load_bytes, read_replay
from evalkit.season.season import Season
from evalkit.store import Store, intake
from evalkit.views.seasons.rows import sound
from tests.season.forging import chained, document
from tests.season.seasonwork import VAULT, make_season
from tests.season.test_playing import WAY_OUT, Route
from tests.season.test_season_cli import Cli, cli, one_line
from tests.season.test_season_cli import document as answered

__all__ = ["cli"]
HALL = ("play", "vault", "--level", "hall", "--seed", "0", "--agent")


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Season:
    return load_season(make_season(tmp_path_factory.mktemp("recorded")))


@pytest.fixture(scope="module")
def played(season: Season) -> Played:
    return play(season, level="hall", seed=0, agent=Route([("wait", 30)] * 99, name="waits"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "runs.sqlite") as opened:
        yield opened


def exported(folder: Path, *runs: tuple[SeasonRun, bytes]) -> Path:
    (folder / "replays").mkdir(parents=True)
    (folder / "runs.jsonl").write_bytes(b"".join(canonical(run.to_json()) + b"\n" for run, _ in runs))
    for run, data in runs:
        (folder / "replays" / f"{run.run_id}.json").write_bytes(data)
    return folder


LIES: dict[str, Any] = {
    "season": "other", "season_version": "9", "season_digest": "0" * 64, "level": "cellar", "difficulty": "hard",
    "seed": 1, "agent": "someone", "agent_digest": "0" * 64, "attempt": 2, "reference": "floor",
    "cheats": ("invincible",), "game_digest": "0" * 64, "objectives_done": 1, "objectives_total": 9, "completed": True,
    "died": True, "time_s": 1.0, "ticks": 60, "decisions": 2, "ended_by": "failed", "tokens": 1, "dollars": 0.0,
    "dollar_cap": 9.0,
}  # fmt: skip


class TestDifferences:
    def test_a_run_as_it_was_played_is_what_its_replay_says(self, played: Played) -> None:
        assert differences(played.run, read_replay(played.replay or b"")) == ()

    @pytest.mark.parametrize("name", LIES)
    def test_every_fact_that_is_another_is_named(self, played: Played, name: str) -> None:
        [what] = differences(replace(played.run, **{name: LIES[name]}), read_replay(played.replay or b""))
        assert what.startswith(f"{name} is ") and "and its replay says" in what

    def test_no_fact_of_a_replay_is_left_out(self) -> None:
        known = {f.name for f in fields(Header)} | {f.name for f in fields(Claims)}
        assert known - {"schema", "boot", "intro_ticks"} == set(LIES)

    def test_the_budget_is_the_seasons(self, season: Season, played: Played) -> None:
        answer, proof = verify(played.replay or b"", season), read_replay(played.replay or b"")
        assert held(answer, played.run, proof) == answer and answer.verified is True
        found = held(answer, replace(played.run, decision_budget=10_000), proof)
        assert found.verified is False and found.drift is not None and found.score is None
        assert "decision_budget is 10000, and vault@1.0 grants 150" in found.drift.what


class TestIntake:
    def test_a_record_with_the_replay_of_another_run_is_refused(
        self, store: Store, season: Season, played: Played
    ) -> None:
        other = play(season, level="cellar", seed=1, agent=Route([("wait", 30)] * 99, name="waits"))
        digest = hashlib.sha256(played.replay or b"").hexdigest()
        with pytest.raises(StoreError, match='is not stored: level is "cellar", and its replay says "hall"'):
            store.add(replace(other.run, replay_digest=digest), replay=played.replay)
        assert store.runs() == []

    def test_an_import_whose_record_contradicts_its_replay_is_refused_by_name(
        self, store: Store, season: Season, played: Played, tmp_path: Path
    ) -> None:
        won = replace(played.run, objectives_done=2, completed=True, time_s=1.0, ticks=60, decisions=2, died=False)
        won = replace(won, ended_by="completed", recorded_at="2026-01-02T03:04:05+00:00")
        pilot = play(season, level="hall", seed=1, agent=Route(name="pilot"), reference="anchor", cheats=["invincible"])
        rival = replace(pilot.run, reference=None, cheats=(), recorded_at=won.recorded_at)
        garbage = replace(won, agent="g", replay_digest=hashlib.sha256(b"garbage").hexdigest())
        folder = exported(
            tmp_path / "out", (won, played.replay or b""), (rival, pilot.replay or b""), (garbage, b"garbage")
        )
        report = store.import_(folder)
        why = dict(report.refused)
        assert report.stored == 0 and store.runs() == []
        assert "completed is true, and its replay says false" in why[won.run_id]
        assert 'reference is null, and its replay says "anchor"' in why[rival.run_id]
        assert "its replay is refused: it is not JSON" in why[garbage.run_id]


class TestOldStores:
    """Stores from before records were held to their replays may hold anything."""

    @pytest.fixture
    def kept(self, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Any:
        season = load_season(Path("cases/vault"))
        runs = {
            "true": play(season, level="hall", seed=0, agent=Route([("wait", 30)] * 99, name="true")),
            "other": play(season, level="hall", seed=1, agent=Route([("wait", 30)] * 99, name="other")),
            "lies": play(season, level="hall", seed=0, agent=Route([("wait", 30)] * 99, name="lies")),
            "garbage": play(season, level="hall", seed=0, agent=Route([("wait", 30)] * 99, name="garbage")),
            "pilot": play(season, level="cellar", seed=1, agent=Route([("wait", 30)] * 99, name="pilot")),
        }
        route = play(season, level="cellar", seed=0, agent=Route(name="route"), reference="anchor")
        lie = replace(runs["lies"].run, objectives_done=2, decision_budget=9_999)

        def of(run: SeasonRun, data: bytes) -> tuple[SeasonRun, bytes]:
            return replace(run, replay_digest=hashlib.sha256(data).hexdigest()), data

        pairs = {
            "true": of(runs["true"].run, runs["true"].replay or b""),
            "swapped": of(runs["other"].run, runs["true"].replay or b""),
            "lies": of(lie, runs["lies"].replay or b""),
            "garbage": of(runs["garbage"].run, b"garbage"),
            "route": of(runs["pilot"].run, route.replay or b""),
        }
        with Store.open("s.sqlite") as store, monkeypatch.context() as patch:
            patch.setattr(intake, "_hold", lambda *_: None)
            for run, data in pairs.values():
                store.add(run, replay=data)
        return {name: run for name, (run, _) in pairs.items()}

    def test_verifying_records_each_as_not_true_and_names_the_field(self, cli: Cli, kept: Any) -> None:
        status, out, _ = cli("verify", "--all", "--store", "s.sqlite", "--json")
        rows = {row["file"]: row for row in json.loads(out)}
        assert status == 1
        assert [name for name, run in kept.items() if rows[run.run_id]["verified"]] == ["true"]
        for name, what in (
            ("swapped", 'seed is 1, and its replay says 0; agent is "other", and its replay says "true"'),
            ("lies", "objectives_done is 2, and its replay says"),
            ("route", 'reference is null, and its replay says "anchor"'),
        ):
            assert what in rows[kept[name].run_id]["drift"]["what"]
        assert "not JSON" in rows[kept["garbage"].run_id]["refused"]
        with Store.open("s.sqlite") as store:
            said = {name: store.get(run.run_id) for name, run in kept.items()}
        assert {name: run.verified for name, run in said.items()} == {name: name == "true" for name in kept}
        assert "not JSON" in said["garbage"].drift["what"]
        assert "its replay says" in cli("show", kept["lies"].run_id, "--store", "s.sqlite")[1]
        assert "fails" in cli("runs", "--store", "s.sqlite")[1]

    def test_one_of_them_by_its_id_is_not_said_to_verify(self, cli: Cli, kept: Any) -> None:
        status, out, _ = cli("verify", kept["swapped"].run_id, "--store", "s.sqlite")
        assert status == 1 and "not verified: the record of run" in out
        assert cli("verify", kept["true"].run_id, "--store", "s.sqlite")[0] == 0

    def test_a_route_under_another_name_is_not_exported(self, cli: Cli, kept: Any) -> None:
        cli("export", "out", "--store", "s.sqlite")
        assert f"{kept['route'].run_id}.json" not in {path.name for path in Path("out/replays").iterdir()}
        assert f"{kept['true'].run_id}.json" in {path.name for path in Path("out/replays").iterdir()}


class TestVerifying:
    def test_a_run_that_verified_and_is_refused_later_is_no_longer_verified(self, cli: Cli, tmp_path: Path) -> None:
        run = answered(cli(*HALL, "random", "--json"))
        assert cli("verify", run["run_id"])[0] == 0
        other = make_season(tmp_path / "elsewhere", slug="other")
        assert cli("verify", run["run_id"], "--season", other)[0] == 1
        assert answered(cli("show", run["run_id"], "--json"))["verified"] is True  # another season says nothing of it
        game = tmp_path / "cases" / "vault" / "game" / "game.toml"
        game.write_text(game.read_text().replace("picture = true", "picture = false"))
        assert cli("verify", run["run_id"])[0] == 1
        after = answered(cli("show", run["run_id"], "--json"))
        assert after["verified"] is False and "another season's digest" in after["drift"]["what"]

    def test_another_file_of_the_same_run_says_nothing_of_the_stored_one(self, cli: Cli, tmp_path: Path) -> None:
        run = answered(cli(*HALL, "random", "--replay", tmp_path / "r.json", "--json"))
        parts = document((tmp_path / "r.json").read_bytes())
        parts["claims"]["tokens"] = 77
        (tmp_path / "forged.json").write_bytes(chained(parts, load_season(Path("cases/vault"))))
        (tmp_path / "cut.json").write_bytes(canonical({**parts, "decisions": parts["decisions"][:-1]}))
        assert cli("verify", tmp_path / "forged.json")[0] == 0  # tokens are only bound
        assert cli("verify", tmp_path / "cut.json")[0] == 1
        assert answered(cli("show", run["run_id"], "--json"))["verified"] is None

    def test_a_season_beside_the_replay_is_not_the_one_it_is_held_against(self, cli: Cli, tmp_path: Path) -> None:
        shadow = make_season(tmp_path, VAULT.replace('completed = "mode == 2"', 'completed = "x > 20"'))
        easy = play(load_season(shadow), level="hall", seed=0, agent=Route([("right", 16)] * 20, name="easy"))
        assert easy.run.completed and Path("vault/season.toml").exists()
        Path("r.json").write_bytes(easy.replay or b"")
        status, out, _ = cli("verify", "r.json", "--json")
        [row] = json.loads(out)
        assert status == 1 and "another season's digest" in row["refused"]
        assert row["season_folder"] == "cases/vault"
        assert cli("verify", "r.json", "--season", shadow)[0] == 0

    @pytest.mark.parametrize("slug", ["../vault", "/tmp", "..", ".", "a/b", "none", "vault\n"])
    def test_what_a_replay_names_is_a_slug_under_cases_and_nothing_else(self, slug: str, tmp_path: Path) -> None:
        make_season(tmp_path)
        (tmp_path / "cases").mkdir()
        with pytest.raises(UsageError, match=r"is no slug|no version"):
            named_season(slug, "1.0", tmp_path / "cases")

    def test_each_version_of_a_season_is_found_by_what_its_file_says(self, tmp_path: Path) -> None:
        make_season(tmp_path / "cases")
        folder = make_season(tmp_path / "cases" / "vault", slug="old")
        text = (folder / "season.toml").read_text()
        (folder / "season.toml").write_text(text.replace('"1.0"', '"0.9"').replace('"old"', '"vault"'))
        assert named_season("vault", "1.0", tmp_path / "cases").root == (tmp_path / "cases" / "vault").resolve()
        assert named_season("vault", "0.9", tmp_path / "cases").root == folder.resolve()
        with pytest.raises(UsageError, match=r'no version "2" of vault in cases/, it has 1.0, 0.9 there'):
            named_season("vault", "2", tmp_path / "cases")

    def test_a_season_that_is_not_at_hand_says_nothing_of_the_run(
        self, cli: Cli, played: Played, tmp_path: Path
    ) -> None:
        (tmp_path / "r.json").write_bytes(played.replay or b"")
        toml = tmp_path / "cases" / "vault" / "season.toml"
        toml.write_text(toml.read_text().replace('version = "1.0"', 'version = "2.0"'))
        status, out, _ = cli("verify", tmp_path / "r.json", "--json")
        [row] = json.loads(out)
        assert (status, row["verified"]) == (2, None)
        assert "its season is not at hand" in row["refused"] and "name it with --season" in row["refused"]


class TestFiles:
    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")
    def test_neither_a_device_nor_a_pipe_is_read(self, cli: Cli, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in ("/dev/zero", tmp_path / "pipe"):
            with pytest.raises(ReplayError, match="it is no regular file"):
                load_bytes(path)
            assert cli("verify", path)[0] == 1
            assert "no regular file" in one_line(cli(*HALL, f"replay:{path}"))

    def test_a_file_that_grows_while_it_is_read_is_not_read_whole(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "r.json").write_bytes(b"x" * 101)
        monkeypatch.setattr("evalkit.season.replays.MAX_BYTES", 100)
        small = os.stat_result((0o100600, 0, 0, 1, 0, 0, 5, 0, 0, 0))
        monkeypatch.setattr("evalkit.season.replays.os.fstat", lambda _: small)
        with pytest.raises(ReplayError, match="more than the"):
            load_bytes(tmp_path / "r.json")

    def test_the_first_key_in_order_is_named_and_many_keys_cost_no_more(self, played: Played) -> None:
        parts = document(played.replay or b"")
        parts.update({f"k{n}": 1 for n in range(50)})
        with pytest.raises(ReplayError, match='"k0" is no known key'):
            read_replay(canonical(parts))
        many = ",".join(f'"k{n}":1' for n in range(300_000))
        with pytest.raises(ReplayError, match='names the key "k299999" twice'):
            read_replay(f'{{{many},"k299999":2}}'.encode())

    def test_no_replay_is_parsed_in_the_parent_before_a_worker_could(
        self, season: Season, played: Played, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("evalkit.jobs.seasons.read_replay", lambda _: pytest.fail("parsed here"))
        [result] = verify_replays({"r": (played.replay or b"", season.root or Path())})
        assert result.value is not None and result.value.verified is True

    def test_a_file_that_is_there_is_not_written_over(self, cli: Cli, tmp_path: Path) -> None:
        path = tmp_path / "keep.txt"
        path.write_text("precious")
        assert "is there already, and no replay of this run" in one_line(cli(*HALL, "random", "--replay", path))
        assert path.read_text() == "precious"
        for words in (tmp_path / "none" / "r.json", tmp_path / "cases"):
            assert "no file can be written there" in one_line(cli(*HALL, "random", "--replay", words))
        assert answered(cli("runs", "--json")) == []  # nothing was played

    def test_the_same_replay_may_be_written_again(self, cli: Cli, tmp_path: Path) -> None:
        for _ in range(2):
            assert cli(*HALL, "random", "--replay", tmp_path / "r.json")[0] == 0
        there = (tmp_path / "r.json").read_bytes()
        parts = json.loads(there)
        parts["claims"]["tokens"] = 77
        (tmp_path / "r.json").write_bytes(canonical(parts))
        assert "with other content, and stays" in one_line(cli(*HALL, "random", "--replay", tmp_path / "r.json"))
        assert (tmp_path / "r.json").read_bytes() == canonical(parts)


class TestRoutes:
    def test_who_replays_an_anchors_route_plays_as_the_anchor(self, cli: Cli, tmp_path: Path) -> None:
        season = load_season(Path("cases/vault"))
        pilot = play(season, level="hall", seed=0, agent=Route(name="p"), reference="anchor", cheats=["invincible"])
        Path("route.json").write_bytes(pilot.replay or b"")
        loaded = load_agent("replay:route.json")
        assert (loaded.reference, loaded.cheats) == ("anchor", ("invincible",))
        run = answered(cli(*HALL, "replay:route.json", "--json"))
        assert (run["reference"], run["completed"]) == ("anchor", True)
        cli("export", "out")
        assert not list(Path("out").rglob("*.json"))
        assert "stays in the store" in one_line(cli(*HALL, "replay:route.json", "--replay", "leaked.json"))
        assert "leave out --reference" in one_line(cli(*HALL, "replay:route.json", "--reference", "floor"))

    def test_any_other_replay_is_played_as_anyones(self, played: Played, tmp_path: Path) -> None:
        (tmp_path / "r.json").write_bytes(played.replay or b"")
        assert load_agent(f"replay:{tmp_path / 'r.json'}").reference is None


class TestPlanted:
    def test_a_planted_record_is_voided_and_the_honest_run_is_another_attempt(self, cli: Cli, tmp_path: Path) -> None:
        season = load_season(Path("cases/vault"))
        honest = play(season, level="hall", seed=0)
        bad = replace(honest.run, objectives_total=9, replay_digest="0" * 64, recorded_at="2026-01-02T03:04:05+00:00")
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "runs.jsonl").write_bytes(canonical(bad.to_json()) + b"\n")
        cli("import", "in")
        said = one_line(cli(*HALL, "random"))
        assert f"evalkit void {bad.run_id} --reason" in said and "again for another attempt" in said
        cli("void", bad.run_id, "--reason", "planted")
        run = answered(cli(*HALL, "random", "--json"))
        assert (run["voided"], run["run_id"] == bad.run_id) == (None, False)
        assert cli("verify", run["run_id"])[0] == 0
        assert answered(cli(*HALL, "random", "--json"))["run_id"] == run["run_id"]

    def test_a_voided_run_frees_the_next_number_for_who_asks(self, store: Store, played: Played) -> None:
        key = played.run.key[:-1]
        store.add(played.run, replay=played.replay)
        assert attempt_number(store, key, 1) == 1
        store.void(played.run.run_id, "a slip")
        assert attempt_number(store, key, 1) == 2


class TestCaps:
    def capped(self, season: Season, **claims: Any) -> bytes:
        run = play(season, level="hall", seed=0, agent=Route(WAY_OUT[:3] + [("wait", 30)] * 99, name="c"))
        parts = document(run.replay or b"")
        parts["decisions"].pop()
        ticks = sum(row["ticks"] for row in parts["decisions"])
        parts["claims"].update(
            ended_by="dollar_cap",
            died=False,
            decisions=len(parts["decisions"]),
            ticks=ticks,
            dollars=1.0,
            dollar_cap=1.0,
        )
        parts["claims"].update(claims)
        return chained(parts, season)

    def test_a_run_ended_by_its_cap_verifies_with_a_note_that_its_end_is_only_claimed(self, season: Season) -> None:
        found = verify(self.capped(season), season)
        assert found.note == "it ends by a dollar cap: where it ended is only claimed"
        assert found.verified is True

    @pytest.mark.parametrize(
        ("claims", "words"),
        [
            ({"dollars": 0.99}, "dollars do not reach a dollar_cap"),
            ({"dollars": None}, "dollars do not reach a dollar_cap"),
            ({"dollar_cap": None}, "dollars do not reach a dollar_cap"),
            ({"dollars": 0.0, "dollar_cap": 0.0}, "dollar_cap must be above 0"),
            ({"ended_by": "budget"}, "dollars reach the dollar_cap, and ended_by is budget"),
        ],
    )
    def test_what_no_cap_ends_is_refused(self, season: Season, claims: dict[str, Any], words: str) -> None:
        found = verify(self.capped(season, **claims), season)
        assert found.verified is False and words in str(found.refused)

    def test_the_note_is_printed_and_shown(self, cli: Cli) -> None:
        run = answered(cli(*HALL, "mine.py:Waits", "--dollar-cap", "1.2", "--json"))
        assert "where it ended is only claimed" in cli("verify", run["run_id"])[1]
        assert "where it ended is only claimed" in cli("show", run["run_id"])[1]
        assert "only claimed" in cli("leaderboard", "vault", "--json")[2]


def test_an_agents_own_seed_moves_with_the_attempt_and_with_nothing_that_is_no_part_of_the_job(season: Season) -> None:
    seeds = []
    for attempt in (1, 2, 1):
        agent = Route([("wait", 30)] * 99, name="seeded")
        play(season, level="hall", seed=0, agent=agent, attempt=attempt)
        seeds.append(agent.seed)
    assert seeds[0] == seeds[2] != seeds[1]


def test_a_damaged_replay_fails_its_run_and_stops_no_other(store: Store, season: Season, tmp_path: Path) -> None:
    made = [play(season, level="hall", seed=0, agent=Route([("wait", 30)] * 99, name=name)) for name in "abc"]
    for one in made:
        store.add(one.run, replay=one.replay)
    ids = [one.run.run_id for one in made]
    assert made[2].replay is not None
    with sqlite3.connect(tmp_path / "runs.sqlite") as raw:
        raw.execute("UPDATE replays SET replay = X'7b7d' WHERE run_id = ?", (ids[0],))
        raw.execute("UPDATE replays SET replay = ? WHERE run_id = ?", (made[2].replay, ids[1]))
    raw.close()
    answers = verify_season(season, store=store, jobs=1)
    assert [answers[run_id].verified for run_id in ids] == [False, False, True]
    for run_id in ids[:2]:
        kept = store.get(run_id)
        assert isinstance(kept, SeasonRun) and kept.drift is not None
        assert kept.verified is False and "damaged" in kept.drift["what"]
    assert [sound(store)(run_id) for run_id in ids] == [False, False, True]
