"""Why: an anchor is the best time that the autopilot has been seen to take; this one command sees to it.

::

    python cases/season-1/anchors.py            # plays the route on every seed, and compares
    python cases/season-1/anchors.py --write    # and puts better (or missing) anchors into season.toml

A better time changes the anchor, and with it the season's digest: runs recorded before it are of another season.
Exit status: 0 the anchors stand or were written, 1 a better time was found and not written, or a route failed; 2 it was
called wrongly.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from pathlib import Path

from evalkit.season import load_season, play
from evalkit.season.season import Entry, Season

ROOT = Path(__file__).parent


def times(season: Season, entry: Entry) -> dict[int, float | None]:
    """The autopilot's time by seed, None where it did not complete the level."""
    runs = {
        seed: play(season, level=entry.level, difficulty=entry.difficulty, seed=seed, agent="route").run
        for seed in season.seeds
    }
    return {seed: run.time_s if run.completed else None for seed, run in runs.items()}


def write(text: str, entry: Entry, anchor: float) -> str:
    """The season file with an entry's anchor in place of its own, or of its budget."""
    head = rf'(\[\[entry\]\]\nlevel = "{entry.level}"\ndifficulty = "{entry.difficulty}"\n)'
    changed, count = re.subn(head + r"(?:anchor_s|budget) = [\d.]+", rf"\g<1>anchor_s = {anchor}", text)
    if count != 1:
        raise SystemExit(f"season.toml: cannot find the lines of {entry.level}; write anchor_s = {anchor} by hand")
    return changed


def main(arguments: list[str]) -> int:
    """Play, print a line an entry, and write where asked: each anchor as soon as it is found."""
    parser = ArgumentParser(description="Play the autopilot's routes on every seed, and compare with the anchors.")
    parser.add_argument("--write", action="store_true", help="put better or missing anchors into season.toml")
    writes = parser.parse_args(arguments).write
    season = load_season(ROOT)
    path = ROOT / "season.toml"
    open_ends = 0
    print(f"{'level':<12}{'difficulty':<14}{'anchor':>8}{'best':>8}   by seed")
    for entry in season.entries:
        found = times(season, entry)
        good = [seconds for seconds in found.values() if seconds is not None]
        best = round(min(good), 1) if good else None
        if best is None or len(good) < len(found):
            said, better = "A ROUTE FAILED", False
            open_ends += 1
        elif entry.anchor_s is None or best < entry.anchor_s:
            said, better = "a better one" if entry.anchor_s else "the first one", True
        else:
            said, better = "stands", False
        if better and best is not None:
            if writes:
                path.write_text(write(path.read_text(), entry, best))
                said += ", written"
            else:
                open_ends += 1
                said += "; --write takes it over"
        old = "-" if entry.anchor_s is None else f"{entry.anchor_s:.1f}"
        each = ", ".join(f"{seed}: {'-' if s is None else f'{s:.2f}'}" for seed, s in found.items())
        print(f"{entry.level:<12}{entry.difficulty:<14}{old:>8}{'-' if best is None else best:>8}   {each}   {said}")
    return int(open_ends > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
