"""Season runs as records and in the store: whole or not at all, with their proof, verified by replaying here alone."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import StoreError, UsageError
from evalkit.records import SeasonRun, canonical
from evalkit.season import load_season, play, standings
from evalkit.season.replays import SCHEMA, Claims, Header, Replay
from evalkit.season.season import Season
from evalkit.store import Store, frames, rows
from tests.run_factory import HOSTILE_NAMES, names, performance, sha
from tests.season.seasonwork import make_season
from tests.season.test_playing import Route

WHEN = "2026-01-02T03:04:05.678901+00:00"


def run(**changes: Any) -> SeasonRun:
    """A run that completes after 600 ticks; changes are as they are said."""
    values: dict[str, Any] = {
        "season": "vault", "season_version": "1.0", "season_digest": sha("season"), "level": "hall",
        "difficulty": "easy", "seed": 0, "agent": "a", "agent_digest": sha("agent"), "objectives_done": 2,
        "objectives_total": 2, "completed": True, "died": False, "time_s": 10.0, "decisions": 50,
        "decision_budget": 150, "ticks": 600, "tokens": None, "dollars": None, "ended_by": "completed",
        "game_digest": sha("game"), "engine": "wasmtime 50.0.1", "recorded_at": WHEN,
    }  # fmt: skip
    made = SeasonRun(**(values | changes))
    return made if "replay_digest" in changes else replace(made, replay_digest=hashlib.sha256(proof(made)).hexdigest())


def proof(one: SeasonRun) -> bytes:
    """A replay without a decision, which says all that the run says."""
    given = {"schema": SCHEMA, "boot": "", "intro_ticks": 60}
    header = {f.name: given[f.name] if f.name in given else getattr(one, f.name) for f in fields(Header)}
    claims = Claims(**{f.name: getattr(one, f.name) for f in fields(Claims)})
    return Replay(header=Header(**header), decisions=(), claims=claims, hash="0" * 64).to_bytes()


REPLAY = proof(run())


def ungraded(**changes: Any) -> SeasonRun:
    ended = {"ended_by": "agent_error", "ungraded": "decision 1: no idea", "completed": False, "time_s": None}
    return run(**{**ended, "replay_digest": None, **changes})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "runs.sqlite") as opened:
        yield opened


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Season:
    return load_season(make_season(tmp_path_factory.mktemp("kept")))


class TestRecords:
    @pytest.mark.parametrize(
        "one",
        [
            run(), ungraded(), run(reference="anchor", cheats=("invincible",), decision_budget=None),
            run(verified=True, verified_at=WHEN, verified_on="wasmtime 50"),
            run(verified=False, verified_at=WHEN, verified_on="e", drift={"decision": 1, "tick": 4, "what": "x"}),
            run(ended_by="died", died=True, completed=False, time_s=None),
            run(ended_by="budget", completed=False, time_s=None, decisions=150),
            run(ended_by="dollar_cap", completed=False, time_s=None, dollars=2.0, dollar_cap=2.0),
        ],
    )  # fmt: skip
    def test_a_run_survives_its_json_form(self, one: SeasonRun) -> None:
        one.validate()
        assert SeasonRun.from_json(json.loads(canonical(one.to_json()))) == one

    @given(agent=names, level=names, seed=st.integers(0, 2**63 - 1), tokens=st.none() | st.integers(0, 2**63 - 1))
    def test_any_names_and_counts_survive_record_and_store(
        self, agent: str, level: str, seed: int, tokens: int | None
    ) -> None:
        one = run(agent=agent, level=level, seed=seed, tokens=tokens)
        assert SeasonRun.from_json(json.loads(canonical(one.to_json()))) == one
        with Store.open("sqlite://") as memory:
            memory.add(one, replay=proof(one) if max(len(agent), len(level)) <= 400 else None)
            assert memory.get(one.run_id) == one

    def test_the_run_id_is_pinned(self) -> None:
        # Stored ids, exported files and the headers of replays refer to runs by it.
        assert run().run_id == "ad2c9aa90e82872f"

    @pytest.mark.parametrize(
        ("one", "what"),
        [
            (run(objectives_done=3), "3 of 2 objectives"),
            (run(objectives_total=0, objectives_done=0), "0 of 0 objectives"),
            (run(completed=False), "completed is false, and it ended by completed"),
            (run(time_s=None), "time_s is None"),
            (run(time_s=9.0), "time_s is 9.0, and it ended by completed at tick 600"),
            (run(ended_by="died", completed=False, time_s=None), "nobody did"),
            (run(ended_by="trap", completed=False, time_s=None, died=True), "somebody died, and it ended by trap"),
            (run(decisions=151), "after 151 decisions of 150"),
            (run(ended_by="budget", completed=False, time_s=None), "it ended by budget after 50 decisions of 150"),
            (run(ended_by="dollar_cap", completed=False, time_s=None), "it ended by dollar_cap, at None of None"),
            (run(ticks=40, time_s=40 / 60), "50 decisions take more than 40 ticks"),
            (run(dollars=-1.0), "never below 0"),
            (run(cheats=("invincible",)), "cheats are for a reference run of the anchor alone"),
            (run(ungraded="x"), 'ungraded is "x", and it ended by completed'),
            (ungraded(ungraded=None), "ungraded is null, and it ended by agent_error"),
            (run(replay_digest=None), "a run has a replay exactly where it is graded"),
            (run(verified=True), "verified stands with when and on which engine"),
            (run(drift={"decision": 1, "tick": 4, "what": "x"}), "a drift is of a run that did not verify"),
            (run(ended_by="bored"), "ended_by must be one of completed, died"),
            (run(seed=-1), "seed must be a whole number"),
            (run(reference="ceiling"), "reference must be one of anchor, floor, or null"),
        ],
    )
    def test_a_record_that_contradicts_itself_is_refused(self, one: SeasonRun, what: str) -> None:
        with pytest.raises(ValueError, match="the record does not hold together") as refused:
            one.validate()
        assert what in str(refused.value)

    def test_a_record_of_another_kind_or_schema_is_refused(self) -> None:
        for changed in ({"schema": 2}, {"kind": "performance"}, {"run_id": "0" * 16}, {"more": 1}):
            with pytest.raises(ValueError):
                SeasonRun.from_json({**run().to_json(), **changed})


class TestStore:
    def test_a_run_and_its_replay_come_back_as_they_were(self, store: Store, season: Season) -> None:
        played = play(season, level="hall", seed=0)
        assert store.add(played.run, replay=played.replay) is True
        assert store.add(played.run, replay=played.replay) is False
        kept = store.get(played.run.run_id)
        assert replace(kept, recorded_at=None) == played.run
        assert store.replay(played.run.run_id) == played.replay

    def test_a_replay_that_is_not_the_runs_is_refused_and_nothing_is_stored(self, store: Store) -> None:
        with pytest.raises(StoreError, match="is not its replay"):
            store.add(run(), replay=b"other")
        with pytest.raises(StoreError, match="is not its replay"):
            store.add(performance(), replay=b"other")
        assert store.runs() == []

    def test_run_and_replay_are_stored_together_or_not_at_all(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fails(*_: object) -> None:
            raise RuntimeError("the power went")

        monkeypatch.setattr(rows, "find_replay", fails)
        with pytest.raises(RuntimeError):
            store.add(run(), replay=REPLAY)
        assert store.runs() == []

    def test_the_same_job_with_other_content_is_refused(self, store: Store) -> None:
        store.add(run())
        with pytest.raises(StoreError, match="objectives_done: 2 there, 1 here"):
            store.add(run(objectives_done=1))
        assert store.add(replace(run(), engine="wasmtime 51", fuel=9, provenance={"by": "me"})) is False

    def test_a_run_is_verified_by_nothing_but_replaying_it_here(self, store: Store) -> None:
        said = run(verified=True, verified_at=WHEN, verified_on="elsewhere")
        store.add(said, replay=proof(said))
        assert store.get(said.run_id).verified is None  # type: ignore[union-attr]
        store.record_verification(said.run_id, verified=True, engine="wasmtime 50")
        kept = store.get(said.run_id)
        assert isinstance(kept, SeasonRun)
        assert (kept.verified, kept.verified_on, str(kept.verified_at)[-6:]) == (True, "wasmtime 50", "+00:00")
        drift = {"decision": 3, "tick": 9, "what": "the hash"}
        store.record_verification(said.run_id, verified=False, engine="wasmtime 51", drift=drift)
        again = store.get(said.run_id)
        assert isinstance(again, SeasonRun) and (again.verified, again.drift) == (False, drift)
        assert store.add(said) is False and store.get(said.run_id) == again

    def test_what_has_no_replay_here_cannot_be_said_to_verify(self, store: Store) -> None:
        for one in (run(), ungraded(seed=1), performance()):
            store.add(one)
            with pytest.raises(UsageError, match="has no replay here"):
                store.record_verification(one.run_id, verified=True, engine="e")
            with pytest.raises(UsageError, match="has no replay in"):
                store.replay(one.run_id)

    def test_a_damaged_replay_is_said_so(self, store: Store, tmp_path: Path) -> None:
        store.add(run(), replay=REPLAY)
        with sqlite3.connect(tmp_path / "runs.sqlite") as raw:
            raw.execute("UPDATE replays SET replay = X'78'")
        raw.close()
        with pytest.raises(StoreError, match="is damaged in the store"):
            store.replay(run().run_id)

    def test_the_frame_has_its_columns_and_dtypes_empty_or_not_and_standings_take_it(
        self, store: Store, season: Season
    ) -> None:
        dtypes = dict(frames.SEASON_RUNS)
        assert store.season_frame().dtypes.astype(str).to_dict() == dtypes
        for level in ("hall", "cellar"):
            for seed in (0, 1):
                played = play(season, level=level, seed=seed, agent=Route([("wait", 30)] * 99, name="waits"))
                store.add(played.run, replay=played.replay)
        store.add(performance())
        frame = store.season_frame()
        assert len(frame) == 4 and frame.dtypes.astype(str).to_dict() == dtypes
        assert standings(frame, season) == standings(
            [one for one in store.runs(kind="season") if isinstance(one, SeasonRun)], season
        )
        assert standings(frame, season)[0].cells == 4
        assert len(store.season_frame(level="hall", agent="waits")) == 2
        assert len(store.runs_frame()) == 1 and len(store.runs()) == 5

    @pytest.mark.parametrize("name", HOSTILE_NAMES)
    def test_hostile_names_are_kept_as_they_are(self, store: Store, name: str) -> None:
        store.add(run(agent=name, level=name))
        assert store.season_frame().agent.tolist() == [name]

    def test_a_store_from_before_seasons_gains_their_tables(self, tmp_path: Path) -> None:
        path = tmp_path / "old.sqlite"
        with Store.open(path) as first:
            first.add(performance())
        with sqlite3.connect(path) as raw:
            for table in ("season_runs", "replays", "verifications"):
                raw.execute(f"DROP TABLE {table}")
        raw.close()
        with Store.open(path) as again:
            assert again.add(run(), replay=REPLAY) is True
            assert len(again.runs()) == 2


class TestTurns:
    SAID = b"".join(
        b'{"action":null,"calls":[],"decision":%d,"noop":false,"observation":{}}\n' % number for number in (1, 2)
    )

    def test_turns_are_stored_with_their_run_and_come_back_as_they_were(self, store: Store) -> None:
        one = run(provenance={"turns": sha(self.SAID)})
        assert store.add(one, replay=REPLAY, turns=self.SAID) is True
        assert store.turns(one.run_id) == [json.loads(line) for line in self.SAID.splitlines()]
        store.add(run(seed=1))
        assert store.turns(run(seed=1).run_id) is None

    def test_turns_that_are_not_the_runs_are_refused_or_left_out(self, store: Store) -> None:
        for one in (run(), run(provenance={"turns": sha(b"other")}), performance()):
            with pytest.raises(StoreError, match="are not its turns"):
                store.add(one, turns=self.SAID)
        assert store.runs() == []
        store.add(run())  # it was there, without any; another account of how it came about is not taken over
        assert store.add(run(provenance={"turns": sha(self.SAID)}), turns=self.SAID) is False
        assert store.turns(run().run_id) is None

    def test_a_store_from_before_turns_is_read_and_exported_and_gains_their_table_when_written(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "old.sqlite"
        with Store.open(path) as first:
            first.add(run(), replay=REPLAY)
        with sqlite3.connect(path) as raw:
            raw.execute("DROP TABLE turns")
        raw.close()
        with Store.open(f"sqlite:///{path}?mode=ro") as reading:
            assert (reading.turns(run().run_id), reading.export(tmp_path / "out")) == (None, 1)
        with Store.open(path) as again:
            one = run(seed=1, provenance={"turns": sha(self.SAID)})
            again.add(one, turns=self.SAID)
            assert again.turns(one.run_id) is not None


class TestPlainFiles:
    def test_an_export_and_an_import_lose_nothing_but_the_word_verified(self, store: Store, tmp_path: Path) -> None:
        store.add(run(), replay=REPLAY)
        store.add(ungraded(seed=1))
        store.void(ungraded(seed=1).run_id, "a slip")
        store.record_verification(run().run_id, verified=True, engine="e")
        assert store.export(tmp_path / "out") == 2
        assert (tmp_path / "out" / "replays" / f"{run().run_id}.json").read_bytes() == REPLAY
        with Store.open(tmp_path / "new.sqlite") as other:
            assert other.import_(tmp_path / "out").stored == 2
            assert other.get(run().run_id) == run()
            assert other.replay(run().run_id) == REPLAY
            assert other.get(ungraded(seed=1).run_id).voided == "a slip"
            assert other.import_(tmp_path / "out").same == 2

    def test_an_anchors_replay_never_leaves(self, store: Store, tmp_path: Path) -> None:
        anchor, floor = run(reference="anchor"), run(reference="floor", seed=1)
        store.add(anchor, replay=proof(anchor))
        store.add(floor, replay=proof(floor))
        store.export(tmp_path / "out")
        store.export(tmp_path / "out")
        assert [path.name for path in (tmp_path / "out" / "replays").iterdir()] == [f"{floor.run_id}.json"]
        assert proof(anchor) not in b"".join(p.read_bytes() for p in (tmp_path / "out").glob("*.jsonl"))

    def test_a_replay_of_another_run_is_refused_by_name(self, store: Store, tmp_path: Path) -> None:
        store.add(run(), replay=REPLAY)
        store.export(tmp_path / "out")
        (tmp_path / "out" / "replays" / f"{run().run_id}.json").write_bytes(b"{}")
        with Store.open("sqlite://") as other:
            [(run_id, why)] = other.import_(tmp_path / "out").refused
        assert run_id == run().run_id and "the file was changed" in why
        assert hashlib.sha256(REPLAY).hexdigest() == run().replay_digest
