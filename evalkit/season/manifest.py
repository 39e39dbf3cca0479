"""Why: `season.toml` is read here, once, into a `Season`, together with the game it is played on.

::

    slug = "season-1"
    version = "1.0"
    game = "game"                        # the folder of game.toml
    tick_limit = 72000
    seeds = { 0 = 60, 1 = 97 }           # ticks of the intro; no two alike
    practice_seeds = { 100 = 75 }
    [[entry]]
    level = "dam"
    difficulty = "agent"
    anchor_s = 267.3                     # or budget = 150
    [budget]                             # optional, as is [scoring]: objectives, completion, death, exponent
    share = 0.4

Every fault of both files is reported at once. `check_season` also builds, boots and begins the game in every cell.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from evalkit.errors import AuthoringError, Fault, UsageError
from evalkit.finding import find_case, find_to_check
from evalkit.project import cases_dir
from evalkit.reading import (
    LINE,
    SLUG,
    Faults,
    Kind,
    Table,
    at_most,
    folder_in,
    integer,
    number,
    printable,
    read_bytes,
    read_toml,
)
from evalkit.season.game import MOST_NAME, Boot, Game
from evalkit.season.gamefile import GAME, read_game
from evalkit.season.score import BudgetRule, Rules
from evalkit.season.season import Entry, Season

__all__ = ["MANIFEST", "check_season", "load_season", "named_season", "open_season"]

MANIFEST = "season.toml"
MOST_TICKS = 60 * 60 * 60 * 4
"""Four hours of game time."""
MOST_INTRO = 60 * 60 * 5
MOST_POINTS = 1_000_000
"""Of any constant of the scoring: far beyond use, and no sum of them is infinite."""
_SLUG: Kind[str] = at_most(MOST_NAME, SLUG)
_SEED = r"0|[1-9]\d{0,8}"


def load_season(path: Path | str) -> Season:
    """Read the season at a folder, or at its `season.toml`. Raises AuthoringError with every fault of both files.

    The game is not built; `evalkit.season.play` does that when it is first played on this machine.
    """
    season, faults = _read(Path(path))
    if season is None and not (Path(path) if Path(path).name == MANIFEST else Path(path) / MANIFEST).exists():
        what = f"is missing in {printable(path)}: add the file, or name the season by its slug to `evalkit.open_season`"
        raise AuthoringError([Fault(MANIFEST, "", what)])
    faults.raise_errors()
    if season is None or season.game is None:
        raise AuthoringError(f"{printable(path)} holds no season")
    if not season.game.digest:
        raise AuthoringError([Fault(f"{season.game.root.name}/{GAME}", "digest", _DIGEST_MISSING)])
    return season


def open_season(ref: str | Path, cases: Path | None = None) -> Season:
    """Load a season by path or `slug[@version]`, looking in the project's `cases/`. Raises UsageError, AuthoringError.

    A season may lie in `cases/slug/` itself or in `cases/slug/version/`; its version is what its file says.
    """
    folder = cases or cases_dir()
    try:
        return load_season(find_case(ref, folder, MANIFEST))
    except UsageError:
        slug, _, version = str(ref).partition("@")
        if not version or not re.fullmatch(r"[\w.-]+", slug) or not (folder / slug / MANIFEST).is_file():
            raise
    season = load_season(folder / slug)
    if season.version != version:
        raise UsageError(f'{slug} has no version "{printable(version)}": it has {season.version}')
    return season


def named_season(slug: str, version: str, cases: Path | None = None) -> Season:
    """Load the season that a replay or a record names, from the project's `cases/` and nowhere else.

    What names it may come from anyone: a name is a slug here and never a path, and a folder that lies beside a file
    from elsewhere is not looked at. Raises UsageError where `cases/` has none of this version, AuthoringError where
    what lies there is broken.
    """
    folder = cases or cases_dir()
    if not re.fullmatch(r"[\w.-]+", slug) or not slug.strip("."):
        raise UsageError(f'"{printable(slug, 80)}" is no slug of a season')
    broken: AuthoringError | None = None
    versions = []
    for place in (folder / slug, *sorted((folder / slug).glob("*/"))):
        if not (place / MANIFEST).is_file():
            continue
        try:
            season = load_season(place)
        except AuthoringError as error:
            broken = broken or error
            continue
        if season.version == version:
            return season
        versions.append(season.version)
    if broken is not None:
        raise broken
    has = f"it has {', '.join(versions)} there" if versions else "nor another"
    raise UsageError(f'no version "{printable(version, 80)}" of {printable(slug, 80)} in cases/, {has}')


def check_season(ref: Path | str) -> tuple[Fault, ...]:
    """Give every error and warning of a season, its game built, booted and begun; empty where it is clean.

    `ref` is a path or `slug[@version]`. Whatever the folder holds, the answer is faults and no exception but
    MachineError; UsageError is for a word that names neither a path nor a season.
    """
    from evalkit.season.carts import find_faults

    season, faults = _read(find_to_check(ref, cases_dir(), MANIFEST))
    if season is not None and season.game is not None and not faults.errors():
        for file, key, what in find_faults(season):
            faults.add(file, key, what)
    return faults.all()


_DIGEST_MISSING = "is missing: a game that is built states what it must be; `evalkit check` builds it and says"


def _read(path: Path) -> tuple[Season | None, Faults]:
    faults = Faults()
    try:
        root = (path.parent if path.name == MANIFEST else path).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        faults.add(str(path), "", f"cannot be followed: {error}")
        return None, faults
    table = read_toml(root / MANIFEST, MANIFEST, faults)
    if table is None:
        return None, faults
    season = _season(root, table, faults)
    table.finish()
    return season, faults


def _season(root: Path, table: Table, faults: Faults) -> Season:
    slug, version = table.take("slug", _SLUG), table.take("version", at_most(MOST_NAME, LINE))
    name = table.take("name", LINE, slug)
    known = len(faults.errors())
    place: Path = table.take("game", folder_in(root))
    game = None
    if len(faults.errors()) == known:
        prefix = "" if place == root else f"{place.relative_to(root).as_posix()}/"
        game = read_game(place, prefix, faults)
    seeds, practice = (_seeds(table, key) for key in ("seeds", "practice_seeds"))
    _check_seeds(table, seeds, practice)
    rule = _budget_rule(table)
    entries = tuple(_entry(row, rule) for row in table.tables("entry"))
    _check_entries(table, entries, game.boot if game else None)
    manifest = read_bytes(root / MANIFEST, MANIFEST, Faults()) or b""
    return Season(
        slug=slug,
        version=version,
        name=name,
        digest=_digest(manifest, game) if game else "",
        entries=entries,
        seeds=seeds,
        practice_seeds=practice,
        rules=_rules(table),
        tick_limit=table.take("tick_limit", integer(1, MOST_TICKS), 36_000),
        root=root,
        game=game,
    )


def _digest(manifest: bytes, game: Game) -> str:
    """Hex SHA-256 of three lines `<hex digest>  <name>`, as `sha256sum` writes them."""
    parts = ((hashlib.sha256(manifest).hexdigest(), MANIFEST), (game.file_digest, GAME), (game.digest, "module"))
    return hashlib.sha256("".join(f"{digest}  {name}\n" for digest, name in parts).encode()).hexdigest()


def _seeds(table: Table, key: str) -> dict[int, int]:
    rows = table.table(key)
    if rows is None or not rows.keys():
        if key == "seeds" and (rows is not None or key not in table):
            table.error(key, "is missing: add [seeds] with a line such as 0 = 60, the intro's ticks")
        return {}
    found = {}
    names = rows.keys()
    for name in names:
        if not re.fullmatch(_SEED, name):
            rows.error(name, "is no seed: use a whole number of at most nine digits")
            continue
        found[int(name)] = rows.take(name, integer(0, MOST_INTRO))
    return found


def _check_seeds(table: Table, seeds: dict[int, int], practice: dict[int, int]) -> None:
    seen: dict[int, int] = {}
    for key, group in (("seeds", seeds), ("practice_seeds", practice)):
        for seed, ticks in group.items():
            if key == "practice_seeds" and seed in seeds:
                table.error(f"{key}.{seed}", "is a seed of the season already")
            elif ticks in seen:
                table.error(f"{key}.{seed}", f"has the intro of seed {seen[ticks]}: both would meet the same game")
            seen.setdefault(ticks, seed)


def _budget_rule(table: Table) -> BudgetRule:
    row = table.table("budget")
    if row is None:
        return BudgetRule()
    default = BudgetRule()
    least = row.take("least", integer(1, 100_000), default.least)
    most = row.take("most", integer(1, 100_000), default.most)
    if most < least:
        row.error("most", f"is {most}, below least, {least}")
    return BudgetRule(share=row.take("share", number(above=0), default.share), least=least, most=most)


def _rules(table: Table) -> Rules:
    row = table.table("scoring")
    default = Rules()
    if row is None:
        return default
    names = ("objectives", "completion", "death", "exponent")
    return Rules(**{name: row.take(name, number(0, most=MOST_POINTS), getattr(default, name)) for name in names})


def _entry(row: Table, rule: BudgetRule) -> Entry:
    anchor = row.take("anchor_s", number(above=0), None)
    budget = row.take("budget", integer(1, 100_000), None)
    if anchor is not None and budget is not None:
        row.error("budget", "follows from anchor_s: remove one of the two")
    if anchor is None and budget is None and "anchor_s" not in row and "budget" not in row:
        row.error("budget", "is missing: an entry without anchor_s states its own, as in budget = 150")
    level, difficulty = row.take("level", _SLUG), row.take("difficulty", _SLUG)
    return Entry(level=level, difficulty=difficulty, anchor_s=anchor, own_budget=budget, budget_rule=rule)


def _check_entries(table: Table, entries: tuple[Entry, ...], boot: Boot | None) -> None:
    if not entries and "entry" not in table:
        table.error("entry", "is missing: add [[entry]] with level and difficulty")
    seen: set[tuple[str, str]] = set()
    for place, entry in enumerate(entries, 1):
        if entry.key in seen and all(entry.key):
            table.error(f"entry#{place}", f"{entry.level} at {entry.difficulty} is there already")
        seen.add(entry.key)
        for key in ("level", "difficulty") if boot is not None else ():
            field, word = getattr(boot, key), getattr(entry, key)
            if field is not None and field.values and word and word not in field.values:
                known = ", ".join(field.values)
                table.error(f"entry#{place}.{key}", f'the game boots no "{word}": [boot.{key}] has {known}')
            elif field is None and word and word != getattr(entries[0], key):
                table.error(f"entry#{place}.{key}", f"the game has no [boot.{key}], so all entries play one {key}")
