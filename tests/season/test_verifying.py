"""Verifying: a true replay verifies anywhere; a forged one is refused or drifts, at the right decision, in words."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.season import load_season, play, verify, verifying
from evalkit.season.replays import MAX_BYTES
from evalkit.season.season import Season
from tests.season.forging import chained, closed, document, written
from tests.season.seasonwork import SEASON, VAULT, built, make_season
from tests.season.test_playing import WAY_OUT, Route

Edit = Callable[[Any], None]


@pytest.fixture(scope="session")
def season(tmp_path_factory: pytest.TempPathFactory) -> Season:
    return load_season(make_season(tmp_path_factory.mktemp("proofs")))


@pytest.fixture(scope="session")
def replay(season: Season) -> bytes:
    """A run that completes the hall: take, right x 3, take, right x 6, leave; the last stops at its first tick."""
    for seed in (0, 1, 9):
        played = play(season, level="hall", seed=seed, agent=Route([*WAY_OUT[:1], *[("shoot", 4)], *WAY_OUT[1:]]))
        if played.run.completed:
            assert played.replay is not None
            return played.replay
    raise AssertionError("no seed lets the route through")


def test_the_chain_is_the_one_that_is_written_down(season: Season, replay: bytes) -> None:
    assert chained(document(replay), season) == replay
    assert verify(replay, season).verified is True


def test_a_true_replay_verifies_with_its_score_again_and_after_another_game(
    season: Season, replay: bytes, tmp_path: Path
) -> None:
    other = load_season(make_season(tmp_path, VAULT.replace("picture = true", ""), slug="other"))
    path = tmp_path / "r.json"
    path.write_bytes(replay)
    first = verify(path, season)
    there = play(other, level="cellar", seed=1)
    assert verify(there.replay or b"", other).verified is True
    assert verify(path, season) == first == verify(replay, season.root or "")
    assert first.verified is True and first.drift is None and first.refused is None
    assert first.score is not None and 90 < first.score <= 100


def test_fuel_is_no_part_of_the_proof(season: Season, replay: bytes) -> None:
    assert verify(replay, season, tick_fuel=1 << 20).verified is True
    starved = verify(replay, season, tick_fuel=60)
    assert starved.verified is None and "fuel" in str(starved.refused)


def test_every_ending_of_many_random_runs_verifies(season: Season) -> None:
    endings = set()
    for level in ("hall", "cellar"):
        for attempt in range(1, 16):
            played = play(season, level=level, seed=attempt % 2, attempt=attempt)
            found = verify(played.replay or b"", season)
            assert (found.verified, found.run_id) == (True, played.run.run_id)
            endings.add(played.run.ended_by)
    assert len(endings) >= 3


def header(key: str, value: Any) -> Edit:
    return lambda parts: parts["header"].__setitem__(key, value)


def claim(key: str, value: Any) -> Edit:
    return lambda parts: parts["claims"].__setitem__(key, value)


def row(number: int, key: str, value: Any) -> Edit:
    return lambda parts: parts["decisions"][number - 1].__setitem__(key, value)


REFUSED: list[tuple[str, Edit, str]] = [
    ("seed", header("seed", 77), "header: vault has no seed 77"),
    ("another seed", header("seed", 9), "header: intro_ticks is .*: not the intro of seed 9"),
    ("intro", header("intro_ticks", 61), "header: intro_ticks is 61: not the intro of seed"),
    ("ten million ticks", header("intro_ticks", 10_000_000), "header: intro_ticks is 10000000: not the intro"),
    ("difficulty", header("difficulty", "hard"), "header: level hall of vault has no difficulty"),
    ("level", header("level", "cellar"), "header: level cellar of vault has no difficulty"),
    ("boot", header("boot", "00" * 6 + "0100"), "header: boot is .*: not the boot data of its level"),
    ("cheat", header("cheats", ["invincible"]), "header: invincible: only a reference run of the anchor"),
    ("season", header("season", "other"), "header: season is other: another season's season"),
    ("season digest", header("season_digest", "0" * 64), "header: season_digest is 000.*: another season's digest"),
    ("version", header("season_version", "1.1"), "header: season_version is 1.1: another season's version"),
    ("game digest", header("game_digest", "f" * 64), "header: game_digest is fff.*: another game's digest"),
    ("schema", header("schema", "evalkit-replay-2"), 'it is of schema "evalkit-replay-2"; this kit reads'),
    ("reference", header("reference", "ceiling"), 'header: reference must be null, "anchor" or "floor"'),
    ("attempt", header("attempt", 0), "header: attempt must be a whole number from 1"),
    ("a key more", header("more", 1), 'header: "more" is no known key'),
    ("a tape of its own", lambda p: p.update(pads="ff"), 'the replay: "pads" is no known key'),
    ("pads in a decision", row(1, "pad", 255), 'decision 1: "pad" is no known key'),
    ("a claim less", lambda p: p["claims"].pop("died"), "claims: died is missing"),
    ("a claim of another kind", claim("objectives_done", True), "claims: objectives_done must be a whole number"),
    ("negative dollars", claim("dollars", -1.0), "claims: dollars must be a number with a point, from 0"),
    ("dollars without point", claim("dollars", 1), "claims: dollars must be"),
    ("negative ticks", row(2, "ticks", -8), "decision 2: ticks must be a whole number from 0"),
    ("hash in capitals", row(2, "hash", "A" * 64), "decision 2: hash must be 64 lower-case hex digits"),
    ("no decisions", lambda p: p.update(decisions=None), "the replay: decisions must be a list"),
    ("over budget", lambda p: p["decisions"].extend(p["decisions"] * 15), "more than the budget of 150"),
    ("a cap never reached", claim("ended_by", "dollar_cap"), "ended_by is dollar_cap, and dollars do not reach"),
]


@pytest.mark.parametrize(("edit", "words"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_what_is_not_of_this_season_or_no_replay_is_refused_unplayed(
    season: Season, replay: bytes, edit: Edit, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = document(replay)
    edit(parts)
    monkeypatch.setattr("evalkit.season.verifying.run_course", lambda *_: pytest.fail("it was played"))
    found = verify(written(parts), season)
    assert (found.verified, found.drift, found.score) == (False, None, None)
    assert re.search(words, str(found.refused)), found.refused
    assert "\n" not in str(found.refused)


def swap(parts: Any) -> None:
    rows = parts["decisions"]
    rows[3], rows[5] = rows[5], rows[3]


def flip(text: str) -> str:
    return ("0" if text[0] != "0" else "1") + text[1:]


DRIFTS: list[tuple[str, Edit, int, str]] = [
    ("action", row(4, "action", "wait"), 4, "wait may be held for 4 or 30 ticks, not 16"),
    ("action of the same ticks", row(4, "action", "left"), 4, "the hash: input, state or the hash itself"),
    ("unknown action", row(4, "action", "fly"), 4, 'there is no action "fly"'),
    ("illegal action", lambda p: p["decisions"][3].update(action="leave", ticks=4), 4, "leave is not legal now"),
    ("ticks", row(4, "ticks", 8), 4, "the hash: input, state"),
    ("ticks not allowed", row(4, "ticks", 10_000_000), 4, "right may be held for 8 or 16 ticks, not 10,000,000"),
    ("hash", lambda p: p["decisions"][6].update(hash=flip(p["decisions"][6]["hash"])), 7, "the hash"),
    ("removed", lambda p: p["decisions"].pop(4), 5, "the hash"),
    ("added", lambda p: p["decisions"].insert(4, dict(p["decisions"][4])), 6, "the hash"),
    ("swapped", swap, 4, "the hash"),
    ("cut", lambda p: p["decisions"].pop(), 12, "the replay ends after decision 12, and nothing had ended"),
    ("goes on", lambda p: p["decisions"].append(p["decisions"][1]), 14, "the run had ended after decision 13"),
    ("agent", header("agent", "someone-else"), 1, "the hash: header, input, state"),
    ("agent digest", header("agent_digest", "a" * 64), 1, "the hash: header"),
    ("attempt", header("attempt", 2), 1, "the hash: header"),
    ("reference", header("reference", "floor"), 1, "the hash: header"),
    ("last hash", lambda p: p.update(hash=flip(p["hash"])), 13, "the last hash"),
    ("tokens", claim("tokens", 5), 13, "the last hash"),
    ("dollars", claim("dollars", 0.5), 13, "the last hash"),
    ("objectives", claim("objectives_done", 1), 13, "claims.objectives_done: 1 is claimed, and the game shows 2"),
    ("total", claim("objectives_total", 1), 13, "claims.objectives_total: 1 is claimed"),
    ("T", claim("time_s", 1.0), 13, "claims.time_s: 1.0 is claimed, and the game shows"),
    ("no T", claim("time_s", None), 13, "claims.time_s: None is claimed"),
    ("ticks claimed", claim("ticks", 3), 13, "claims.ticks: 3 is claimed"),
    ("decisions claimed", claim("decisions", 3), 13, "claims.decisions: 3 is claimed"),
    ("died", claim("died", True), 13, "claims.died: True is claimed, and the game shows False"),
    ("completed", claim("completed", False), 13, "claims.completed: False is claimed, and the game shows True"),
    ("ended by", claim("ended_by", "budget"), 13, "claims.ended_by: budget is claimed, and the game shows completed"),
]


@pytest.mark.parametrize(("edit", "decision", "what"), [d[1:] for d in DRIFTS], ids=[d[0] for d in DRIFTS])
def test_what_the_game_does_not_show_drifts_at_its_first_decision(
    season: Season, replay: bytes, edit: Edit, decision: int, what: str
) -> None:
    parts = document(replay)
    assert len(parts["decisions"]) == 13
    edit(parts)
    found = verify(written(parts), season)
    assert found.verified is False and found.refused is None and found.score is None
    assert found.drift is not None and (found.drift.decision, what in found.drift.what) == (decision, True), found


def test_a_forged_claim_is_found_though_the_whole_chain_is_recomputed(season: Season, replay: bytes) -> None:
    forged = [d for d in DRIFTS if "claims." in d[3]]
    assert len(forged) >= 8
    for name, edit, decision, what in forged:
        parts = document(replay)
        edit(parts)
        assert closed(parts) == chained(parts, season)
        drift = verify(closed(parts), season).drift
        assert drift is not None and drift.decision == decision and what in drift.what, name


def test_a_drift_names_the_last_tick_of_its_decision(season: Season, replay: bytes) -> None:
    parts = document(replay)
    parts["decisions"][3]["hash"] = flip(parts["decisions"][3]["hash"])
    drift = verify(written(parts), season).drift
    assert drift is not None and drift.tick == sum(r["ticks"] for r in parts["decisions"][:4])


def test_the_last_decision_binds_the_ticks_it_asked_for_though_the_game_stopped_at_its_first(
    season: Season, tmp_path: Path
) -> None:
    game = VAULT.replace(
        '[actions.leave]\nbuttons = ["z"]\nticks = [4]', '[actions.leave]\nbuttons = ["z"]\nticks = [4, 5]'
    )
    other = load_season(make_season(tmp_path, game))
    played = play(other, level="hall", seed=0, agent=Route(), reference="anchor", cheats=["invincible"])
    parts = document(played.replay or b"")
    parts["decisions"][-1]["ticks"] = 5
    assert verify(played.replay or b"", other).verified is True
    assert verify(written(parts), other).verified is False


def test_what_is_only_bound_can_be_forged_with_the_chain_and_the_page_says_so(season: Season, replay: bytes) -> None:
    parts = document(replay)
    parts["header"]["agent"], parts["claims"]["dollars"] = "someone-else", 0.5
    assert verify(chained(parts, season), season).verified is True
    assert "does not show who chose" in str(verifying.__doc__)


def test_a_run_with_cheats_is_refused_as_anyone_elses_and_verifies_as_the_anchors(season: Season) -> None:
    played = play(season, level="hall", seed=0, agent=Route(), reference="anchor", cheats=["invincible"])
    parts = document(played.replay or b"")
    assert verify(played.replay or b"", season).verified is True
    parts["header"]["reference"] = None
    assert "only a reference run" in str(verify(chained(parts, season), season).refused)
    parts["header"]["cheats"] = []
    assert "not the boot data" in str(verify(chained(parts, season), season).refused)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[:-1], "not JSON, cut short"),
        (lambda data: data[: len(data) // 2], "not JSON, cut short"),
        (lambda data: b"", "not JSON"),
        (lambda data: data + b"\n", "not in canonical form"),
        (lambda data: data + b"{}", "not JSON, cut short or with more behind"),
        (lambda data: b" " + data, "not in canonical form"),
        (lambda data: data.replace(b'":', b'": ', 1), "not in canonical form"),
        (lambda data: json.dumps(json.loads(data), indent=1).encode(), "not in canonical form"),
        (lambda data: data.replace(b'{"claims":', b'{"claims":{},"claims":', 1), 'names the key "claims" twice'),
        (lambda data: data.replace(b'"seed":', b'"seed":1,"seed":', 1), 'names the key "seed" twice'),
        (lambda data: data.replace(b'"vault"', b'"v\\u0061ult"', 1), "not in canonical form"),
        (lambda data: data.replace(b'"ticks":16', b'"ticks":1.6e1', 1), "not in canonical form"),
        (lambda data: data.replace(b'"ticks":16', b'"ticks":16.0', 1), "ticks must be a whole number"),
        (lambda data: data.replace(b'"ticks":16', b'"ticks":NaN', 1), "it holds NaN"),
        (lambda data: data.replace(b'"ticks":16', b'"ticks":' + b"9" * 5000, 1), "not JSON"),
        (lambda data: data.decode().encode("utf-16"), "not UTF-8 text"),
        (lambda data: b"\xef\xbb\xbf" + data, "not JSON"),
        (lambda data: b"[" * 100_000, "nested too deeply"),
        (lambda data: b"[]", "must be an object"),
        (lambda data: b"x" * (MAX_BYTES + 1), "more than the 16,777,216 that a replay may have"),
    ],
)
def test_any_other_form_than_the_one_is_refused(
    season: Season, replay: bytes, change: Callable[[bytes], bytes], words: str
) -> None:
    found = verify(change(replay), season)
    assert found.verified is False and found.drift is None and words in str(found.refused)


def test_a_file_too_large_is_refused_before_it_is_read(season: Season, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert "1,099,511,627,776 bytes, more than" in str(verify(path, season).refused)
    assert "cannot be read" in str(verify(tmp_path, season).refused)
    assert "cannot be read: No such file" in str(verify(tmp_path / "none", season).refused)


def test_another_build_of_the_game_and_another_season_are_refused(
    season: Season, replay: bytes, tmp_path: Path
) -> None:
    rebuilt = load_season(make_season(tmp_path / "a", cart=built("vault.c") + b"\0\2\1x"))
    assert "season_digest is" in str(verify(replay, rebuilt).refused)
    stricter = load_season(make_season(tmp_path / "b", season=SEASON.replace("tick_limit = 2400", "tick_limit = 99")))
    assert "another season's digest" in str(verify(replay, stricter).refused)


def mutants(replay: bytes, season: Season, count: int, seed: int) -> Any:
    """Replays with one to three things changed; some by one who closes or recomputes the chain behind his forgery."""
    source = random.Random(seed)
    actions = list(season.playable().actions)
    for _ in range(count):
        kind = source.random()
        if kind < 0.25:
            data = bytearray(replay)
            for _ in range(source.randint(1, 3)):
                at = source.randrange(len(data))
                change = source.randrange(3)
                if change == 0:
                    data[at] ^= 1 << source.randrange(8)
                elif change == 1:
                    del data[at : at + source.randint(1, 40)]
                else:
                    data[at:at] = data[source.randrange(len(data)) :][: source.randint(1, 40)]
            yield bytes(data)
            continue
        parts = copy.deepcopy(document(replay))
        rows, claims = parts["decisions"], parts["claims"]
        for _ in range(source.randint(1, 3)):
            at, change = source.randrange(len(rows)), source.randrange(9)
            if change == 0:
                rows[at]["action"] = source.choice(actions)
            elif change == 1:
                rule = season.playable().actions[source.choice(actions)]
                rows[at].update(action=rule.name, ticks=source.choice(rule.ticks))
            elif change == 2:
                rows[at]["ticks"] = source.choice([rows[at]["ticks"] + 1, 8, 4, 0, 10**9])
            elif change == 3:
                rows[at]["hash"] = flip(rows[at]["hash"])
            elif change == 4 and len(rows) > 1:
                del rows[at]
            elif change == 5:
                rows.insert(at, dict(source.choice(rows)))
            elif change == 6:
                other = source.randrange(len(rows))
                rows[at], rows[other] = rows[other], rows[at]
            elif change == 7:
                key = source.choice(sorted(parts["header"]))
                old = parts["header"][key]
                parts["header"][key] = (
                    old + source.choice([1, 5])
                    if isinstance(old, int)
                    else source.choice(["cellar", "hard", [], None, "anchor", "floor", "0" * 64, "00" * 8, "x"])
                )
            else:
                key = source.choice(sorted(claims))
                old = claims[key]
                claims[key] = source.choice([None, 0, 1, 2, 0.0, 5.5, True, False, "died", "completed", "budget"])
                if isinstance(old, bool):
                    claims[key] = not old
        yield closed(parts) if source.random() < 0.5 else written(parts)


CELLS = [("hall", 0, 3), ("hall", 9, 4), ("cellar", 0, 3), ("cellar", 1, 3)]
ONLY_BOUND = {"tokens", "dollars", "dollar_cap"}


@pytest.mark.parametrize(
    ("level", "seed", "attempt"), [("hall", 0, 3), ("hall", 9, 4), ("cellar", 0, 3), ("cellar", 1, 3)]
)
def test_not_one_mutant_of_a_real_replay_verifies_unless_it_says_the_same(
    season: Season, level: str, seed: int, attempt: int
) -> None:
    played = play(season, level=level, seed=seed, attempt=attempt)
    assert played.replay is not None
    truth = document(played.replay)
    differ = same = 0
    for mutant in mutants(played.replay, season, 750, seed=attempt * 10 + seed):
        if mutant == played.replay:
            same += 1
            continue
        found = verify(mutant, season)
        if found.verified is True:  # then it can only be one whose unshown claims were changed and the chain closed
            parts = document(mutant)
            shown = {k: v for k, v in parts["claims"].items() if k not in ONLY_BOUND}
            assert (parts["header"], parts["decisions"]) == (truth["header"], truth["decisions"])
            assert shown == {k: v for k, v in truth["claims"].items() if k not in ONLY_BOUND}
        else:
            assert (found.drift is None) is not (found.refused is None)
            differ += 1
    assert differ > 600, (differ, same)


def test_a_replay_from_the_first_day_still_verifies() -> None:
    # If this fails, every replay that exists is worth nothing: make a new schema, and keep reading the old one.
    golden = Path(__file__).with_name("golden")
    found = verify(golden / "replay.json", load_season(golden))
    assert (found.verified, found.run_id) == (True, "8fffea7f8af1e581")
    assert found.score == pytest.approx(99.34955014703718, abs=1e-9)
    parts = document((golden / "replay.json").read_bytes())
    assert parts["hash"] == "519092b632a4e51ceb80a9aed13122c427250ff35a6f6aff43c78fbaba95bf0b"
    assert chained(parts, load_season(golden)) == (golden / "replay.json").read_bytes()
