"""The pack of a season can be played at home, and holds nothing that gives a score away."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evalkit.cli import main
from evalkit.errors import AuthoringError, UsageError
from evalkit.reading.written import toml_text
from evalkit.season import check_season, load_season
from evalkit.season.agents import load_agent
from evalkit.season.pack import pack_season
from evalkit.season.season import Season
from evalkit.store import Store
from tests.season.seasonplay import ROUTE, leaks
from tests.season.seasonwork import SEASON, VAULT, built, make_season

Played = tuple[Season, Store, str]


@pytest.fixture(scope="module")
def packed(played: Played, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed") / "pack"
    pack_season(played[0], folder)
    return folder


def test_a_pack_holds_what_is_listed_and_no_more(packed: Path) -> None:
    names = {path.relative_to(packed).as_posix() for path in packed.rglob("*") if path.is_file()}
    assert names == {"README.md", "game/game.toml", "game/game.wasm", "season.toml", "starter.py"}
    assert (packed / "game" / "game.wasm").read_bytes() == built("vault.c")


def test_a_pack_is_a_clean_season_with_practice_seeds_alone(packed: Path, played: Played) -> None:
    assert check_season(packed) == ()
    season, own = load_season(packed), played[0]
    assert season.seeds == own.practice_seeds and not season.practice_seeds
    assert season.entries == own.entries and season.rules == own.rules
    assert season.digest != own.digest and season.playable().digest == own.playable().digest
    assert not season.playable().boot.cheats
    text = "".join(path.read_text() for path in (packed / "season.toml", packed / "README.md"))
    assert "97" not in text, "the intro of a seed of the season"


def test_neither_pack_nor_export_holds_a_route_or_the_anchors_play(
    packed: Path, played: Played, tmp_path: Path
) -> None:
    season, store, _ = played
    assert leaks(packed, season, store) == []
    store.export(tmp_path / "out")
    assert leaks(tmp_path / "out", season, store) == []


def test_the_search_for_leaks_finds_them(played: Played, tmp_path: Path) -> None:
    season, store, _ = played
    run = next(run for run in store.runs(kind="season") if run.reference == "anchor")
    replay = json.loads(store.replay(run.run_id))
    for folder, text in {
        "hash": replay["hash"],
        "route": f"x{ROUTE}y",
        "replay": json.dumps(replay["decisions"][3:12], separators=(",", ":"), sort_keys=True),
        "table": "".join(f"<td>{r['action']}</td><td>{r['ticks']}</td>" for r in replay["decisions"][5:14]),
    }.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text(text)
        assert leaks(tmp_path / folder, season, store), folder
    honest = next(r for r in store.runs(kind="season") if r.reference is None and store.has_replay(r.run_id))
    (tmp_path / "honest").mkdir()
    (tmp_path / "honest" / "replay.json").write_bytes(store.replay(honest.run_id))
    assert leaks(tmp_path / "honest", season, store) == []


def test_a_pack_can_be_played_at_home(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVALKIT_STORE", raising=False)
    assert main(["check", str(packed)]) == 0
    agent = f"{packed / 'starter.py'}:Starter"
    play = ["play", str(packed), "--level", "hall", "--seed", "9", "--agent", agent]
    assert main([*play, "--json", "--store", "s.sqlite"]) == 0
    run = json.loads(capsys.readouterr().out.partition("clean\n")[2])
    assert run["ended_by"] != "agent_error" and run["decisions"] > 0 and run["score"] is not None
    assert main(["verify", "--all", "--season", str(packed), "--store", "s.sqlite"]) == 0
    assert main([*play[:4], "--seed", "0", "--agent", "random", "--store", "s.sqlite"]) != 0
    assert "seed 0" in capsys.readouterr().err
    assert load_agent(agent).deterministic


def test_the_readme_states_the_rules_and_what_is_not_there(packed: Path) -> None:
    text = (packed / "README.md").read_text()
    for said in ("60 × objectives done", "40 × the square root of min(1, anchor / T)", "| hall | easy | 6.5 | 150 |",
                 "The season's own seeds", "`x`, `health`, `ammo`, `guard`, and the screen", "--seed 9"):  # fmt: skip
        assert said in text


def test_the_pack_says_what_the_numbers_mean_and_how_an_illegal_choice_ends(tmp_path: Path) -> None:
    game = VAULT.replace('x = { address = 0x8004, type = "i16" }', 'x = { address = 0x8004, description = "a | b" }')
    for name in ("health", "ammo", "guard"):  # a row of one meaning
        game = re.sub(rf"(?m)^({name} = {{ .*) }}$", r'\1, description = "how much is left" }', game)
    assert load_season(make_season(tmp_path, game)).playable().variables["x"].description == "a | b"
    pack_season(load_season(tmp_path / "vault"), tmp_path / "pack")
    text = (tmp_path / "pack" / "README.md").read_text()
    assert "| `x` | a / b |\n| `health` to `guard` | how much is left |\n" in text
    assert "is played as a no-op, and counted" in text
    assert load_season(tmp_path / "pack").playable().variables["x"].description == "a | b"


def test_a_game_that_is_built_is_packed_built(tmp_path: Path) -> None:
    import hashlib

    wasm = built("vault.c")
    game = VAULT.replace(
        'module = "vault.wasm"', f'module = "out/vault.wasm"\ndigest = "{hashlib.sha256(wasm).hexdigest()}"'
    )
    game += '[build]\nbuild = "mkdir -p out && cp vault.wasm out/vault.wasm"\n'
    season = load_season(make_season(tmp_path, game))
    pack_season(season, tmp_path / "pack")
    assert "build" not in (tmp_path / "pack" / "game" / "game.toml").read_text()
    assert check_season(tmp_path / "pack") == ()


def test_what_cannot_be_packed_is_said(played: Played, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    with pytest.raises(UsageError, match="is there already"):
        pack_season(played[0], tmp_path / "full")
    bare = make_season(tmp_path, season=SEASON.replace("[practice_seeds]\n9 = 75\n", ""), slug="bare")
    with pytest.raises(AuthoringError, match="has no practice_seeds"):
        pack_season(load_season(bare), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "link").symlink_to(bare)
    for inside in (bare / "pack", bare / "a" / "b", tmp_path / "link" / "pack", bare):
        with pytest.raises(UsageError, match="lies in the season's own folder"):
            pack_season(load_season(bare), inside)
    assert not (bare / "pack").exists()


def test_written_toml_reads_as_the_same_document() -> None:
    import tomllib

    document = {
        "name": 'a "b" \\ \n\x7f 🦀', "n": -3, "f": 0.5, "big": 1e300, "yes": True, "empty": [], "list": ["a", "b"],
        "table": {"x": {"at": 1, "values": {"a b": 0, "c": [1, 2]}}}, "rows": [{"k": 1}, {"k": 2, "t": {"u": "v"}}],
        "nothing": {},
    }  # fmt: skip
    assert tomllib.loads(toml_text(document, "said")) == document
    with pytest.raises(TypeError):
        toml_text({"x": None})
