"""A season and its game are read whole, or refused with every fault that both files have."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import wasmtime

from evalkit.errors import AuthoringError, UsageError
from evalkit.season import play, verify
from evalkit.season.agents import Action
from evalkit.season.carts import begin, game_module
from evalkit.season.conditions import Variable
from evalkit.season.game import Objectives
from evalkit.season.manifest import check_season, load_season, open_season
from tests.season.seasonwork import CARTS, SEASON, VAULT, C, built, make_season

HERE = Path(__file__).parent
VALID = sorted((HERE / "valid").glob("*.toml"))
INVALID = sorted((HERE / "invalid").glob("*.toml"))


def lay_out(path: Path, root: Path) -> Path:
    text = "".join(line for line in path.read_text().splitlines(True) if not line.startswith("#! "))
    season, game = text.split("#= game.toml\n")
    return make_season(root, game, season, cart=built("vault.c"), slug=path.stem)


def test_the_folders_of_examples_are_not_empty() -> None:
    assert len(VALID) >= 3
    assert len(INVALID) >= 10


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_a_valid_season_loads_without_a_fault(path: Path, tmp_path: Path) -> None:
    folder = lay_out(path, tmp_path)
    assert check_season(folder) == ()
    assert load_season(folder) == load_season(folder / "season.toml")


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_an_invalid_season_reports_exactly_the_faults_it_states(path: Path, tmp_path: Path) -> None:
    expected = [line[3:] for line in path.read_text().splitlines() if line.startswith("#! ")]
    assert expected
    faults = check_season(lay_out(path, tmp_path))
    assert [f"{fault.severity}: {fault}" for fault in faults] == expected
    assert all(str(fault).isprintable() for fault in faults)


def test_loading_raises_every_error_of_both_files_at_once(tmp_path: Path) -> None:
    with pytest.raises(AuthoringError) as caught:
        load_season(lay_out(HERE / "invalid" / "game-faults.toml", tmp_path))
    assert len(caught.value.faults) > 10


def test_reading_a_season_builds_and_compiles_nothing(tmp_path: Path) -> None:
    folder = make_season(tmp_path)
    code = f"""import sys; from evalkit.season.manifest import load_season
import wasmtime; wasmtime.Module = None
print(load_season({str(folder)!r}).slug)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "vault"


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("season.toml", "tick_limit = 2400", "tick_limit = 2401"),
        ("game/game.toml", "0x8004", "0x8006"),
        ("game/vault.wasm", b"", b"\0\2\1x"),
    ],
)
def test_the_digest_moves_with_the_season_the_game_file_and_the_module(
    tmp_path: Path, file: str, old: str | bytes, new: str | bytes
) -> None:
    folder = make_season(tmp_path)
    before = load_season(folder).digest
    path = folder / file
    if isinstance(new, bytes):
        path.write_bytes(path.read_bytes() + new)  # an empty custom section: the same game, and another module
    else:
        path.write_text(path.read_text().replace(str(old), new))
    assert load_season(folder).digest != before


def test_a_season_is_found_by_path_slug_and_version(tmp_path: Path) -> None:
    make_season(tmp_path / "cases")
    versioned = make_season(tmp_path / "cases" / "other", slug="v2")
    cases = tmp_path / "cases"
    for ref in ("vault", "vault@1.0", cases / "vault", cases / "vault" / "season.toml"):
        assert open_season(ref, cases).slug == "vault"
    assert open_season("other@v2", cases).root == versioned
    for ref, words in (("vault@2", 'has no version "2": it has 1.0'), ("valt", 'did you mean "vault"')):
        with pytest.raises(UsageError, match=words):
            open_season(ref, cases)


def test_boot_bytes_carry_level_difficulty_and_cheats(tmp_path: Path) -> None:
    boot = load_season(make_season(tmp_path)).playable().boot
    assert boot.disk("hall", "easy").hex() == "0000000000000000"
    assert boot.disk("cellar", "hard", {"infinite-ammo", "invincible"}).hex() == "0000000001010300"


def test_budgets_follow_the_anchor_by_the_seasons_rule_or_are_the_entrys_own(tmp_path: Path) -> None:
    season = load_season(make_season(tmp_path))
    assert [entry.decision_budget for entry in season.entries] == [150, 40]
    other = SEASON + "[budget]\nleast = 2\nshare = 0.5\n"
    assert load_season(make_season(tmp_path / "b", season=other)).entries[0].decision_budget == 3


def test_a_game_is_built_once_by_its_own_commands_and_must_be_what_its_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALKIT_CACHE", str(tmp_path / "cache"))
    built("vault.c")  # skips where there is no compiler
    command = json.dumps(["python", "-m", "ziglang", *C, "-o", "made.wasm", "vault.c"])
    game = VAULT.replace('module = "vault.wasm"', 'module = "made.wasm"\ndigest = "DIGEST"')
    game = game.replace("[boot]", f"[build]\nbuild = {command}\n[boot]", 1)
    folder = make_season(tmp_path, game.replace("DIGEST", "0" * 64))
    (folder / "game" / "vault.c").write_text((CARTS / "vault.c").read_text())
    [fault] = check_season(folder)
    assert "what the build makes here is another game" in fault.what
    digest = fault.what.split("its digest is ")[1][:64]
    (folder / "game" / "game.toml").write_text(game.replace("DIGEST", digest))
    assert check_season(folder) == ()
    season = load_season(folder)
    (folder / "game" / "vault.c").write_text("no C")  # it is kept: nothing is built again
    assert game_module(season.playable()) == built("vault.c")
    [fault] = check_season(folder)  # which looks at the folder, not at what is kept
    assert (fault.file, fault.key) == ("game/game.toml", "build") and "the build command ended" in fault.what
    source = (CARTS / "vault.c").read_text().replace("0x8000", "0x8100")
    assert source != (CARTS / "vault.c").read_text()
    (folder / "game" / "vault.c").write_text(source)
    [fault] = check_season(folder)
    assert fault.key == "digest" and f"and {digest} was promised" in fault.what


def test_play_begins_with_what_was_done_already_left_out(tmp_path: Path) -> None:
    season = load_season(make_season(tmp_path))
    begun = begin(season, season.entry("cellar"), 60)
    status = season.playable().status
    assert begun.total == 3
    assert status.objectives.credited(begun.console.memory, begun.objectives) == 0
    begun.console.run(bytes([64] * 2))  # what is taken in the first zone was taken before
    assert status.objectives.credited(begun.console.memory, begun.objectives) == 0
    begun.console.run(bytes([32] * 40 + [64]))
    assert status.objectives.credited(begun.console.memory, begun.objectives) == 1


@pytest.mark.parametrize(
    ("before", "now", "done"), [(0, 0, 0), (0, 3, 3), (2, 2, 0), (2, 3, 1), (2, 9, 5), (2, 1, 0), (7, 7, 0)]
)
def test_a_count_of_objectives_is_what_came_after_play_began(before: int, now: int, done: int) -> None:
    memory = bytearray(8)
    counted = Objectives(done=Variable("coins", 4, "u32"), total=7)
    memory[4] = before
    begun = counted.begin(memoryview(memory))
    memory[4] = now
    assert (counted.credited(memoryview(memory), begun), counted.total_of(begun)) == (done, 7)


@pytest.mark.parametrize("key", ["objectives", "completion", "death", "exponent"])
def test_a_constant_of_the_scoring_is_bounded_so_that_no_score_is_infinite(tmp_path: Path, key: str) -> None:
    folder = make_season(tmp_path, season=f"{SEASON}\n[scoring]\n{key} = 1.7e308\n")
    assert [str(fault) for fault in check_season(folder)] == [
        f"season.toml: scoring.{key}: must be at most 1,000,000, not 1.7e+308"
    ]
    there = make_season(tmp_path / "at", season=f"{SEASON}\n[scoring]\n{key} = 1000000\n")
    assert getattr(load_season(there).rules, key) == 1_000_000


def test_unknown_levels_difficulties_and_seeds_are_one_line_with_the_list(tmp_path: Path) -> None:
    season = load_season(make_season(tmp_path))
    with pytest.raises(UsageError, match='no level "hal": it has hall, cellar; did you mean "hall"'):
        season.entry("hal")
    with pytest.raises(UsageError, match='no difficulty "hard": name one of easy'):
        season.entry("hall", "hard")
    with pytest.raises(UsageError, match="no seed 7: it has 0, 1; for practice 9"):
        season.intro_ticks(7)


BITS = 'objectives = { done = "taken", total = "wanted", form = "bits" }'


@pytest.mark.parametrize(
    ("type_", "bytes_", "objectives", "total", "done"),
    [
        ("u8", "", "objectives = [" + ", ".join(['"mode == 2"'] * 40) + "]", 40, 40),
        ("i8", "\\81", BITS, 2, 2),
        ("i16", "\\01\\80", BITS, 2, 1),
        ("u32", "\\ff\\ff\\ff\\ff", BITS, 32, 2),
        ("u8", "", BITS.replace('"wanted"', "0xffffffff"), 32, 2),
    ],
)
def test_every_objective_counts_once_whatever_holds_it(
    tmp_path: Path, type_: str, bytes_: str, objectives: str, total: int, done: int
) -> None:
    game = VAULT.replace(BITS, objectives)
    game = game.replace("wanted = { address = 0x8009 }", f'wanted = {{ address = 0x9000, type = "{type_}" }}')
    game = game.replace("taken = { address = 0x8008 }", 'taken = { address = 0x9010, type = "i8" }')
    cart = bytes(
        wasmtime.wat2wasm(f"""(module (import "env" "memory" (memory 1)) (data (i32.const 0x8000) "\\01")
          (data (i32.const 0x9000) "{bytes_}") (data (i32.const 0x9010) "\\00")
          (func (export "update") (if (i32.load8_u (i32.const 0x16)) (then
            (i32.store8 (i32.const 0x9010) (i32.const 0x81)) (i32.store8 (i32.const 0x8000) (i32.const 2))))))""")
    )
    season = load_season(make_season(tmp_path, game, cart=cart))
    begun = begin(season, season.entry("hall"), 60)
    assert begun.total == total
    begun.console.run(b"\1")
    assert season.playable().status.objectives.credited(begun.console.memory, begun.objectives) == done


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("game", "[actions.wait]", f"[actions.{'w' * 401}]", "is no name of an action: .* 400 at most"),
        ("game", "infinite-ammo = {", '" " = {', "is no name of a cheat: use 1 to 400 characters"),
        ("game", "infinite-ammo = {", f"{'c' * 401} = {{", "is no name of a cheat: use 1 to 400 characters"),
        ("season", 'version = "1.0"', f'version = "{"1" * 401}"', "version: is 401 characters long: use at most 400"),
        ("season", 'slug = "{slug}"', f'slug = "{"s" * 401}"', "slug: is 401 characters long"),
        ("season", 'level = "hall"', f'level = "{"l" * 401}"', "level: is 401 characters long"),
    ],
)
def test_a_name_that_no_replay_could_hold_is_a_fault_of_the_file(
    tmp_path: Path, file: str, old: str, new: str, words: str
) -> None:
    game, season = VAULT, SEASON
    if file == "game":
        game = game.replace(old, new)
    else:
        season = season.replace(old, new)
    faults = check_season(make_season(tmp_path, game, season))
    assert any(re.search(words, str(fault)) for fault in faults), faults


def test_the_longest_names_that_the_files_may_hold_are_proven(tmp_path: Path) -> None:
    long = "w" * 400
    game = VAULT.replace("[actions.wait]", f"[actions.{long}]").replace("invincible = {", f"{long} = {{")
    season = load_season(make_season(tmp_path, game, SEASON.replace('"1.0"', f'"{"1" * 400}"')))

    class Waits:
        name, reference, cheats = "waits", "anchor", (long,)

        def reset(self, spec: object, seed: int) -> None:
            pass

        def decide(self, observation: object) -> Action:
            return Action(long, 30)

    played = play(season, level="hall", seed=0, agent=Waits())
    assert verify(played.replay or b"", season).verified is True
