"""Why: the words a person may type, in one place; it imports nothing heavy, so that `--help` is instant."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import NoReturn

from evalkit.reading import did_you_mean, printable

__all__ = ["parse"]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, with the verb that was meant where one is close."""
        if "invalid choice" in message and self.prog == "evalkit":
            word = message.partition("invalid choice: ")[2].partition(" (choose")[0].strip("'\"")
            message = f'there is no verb "{printable(word)}"{did_you_mean(word, _VERBS)}'
        self.exit(2, f"{self.prog}: {printable(message, 400)} (see `{self.prog} --help`)\n")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The verb and its options. Exits with status 2 and one line where they make no sense."""
    parser = _Parser(prog="evalkit", description="Turn benchmark runs into numbers, and prove the numbers.")
    parser.add_argument("--version", action="store_true", help="print the version and the engine, and exit")
    verbs = parser.add_subparsers(metavar="VERB", parser_class=_Parser)
    for name, (run, what) in _VERBS.items():
        verb = verbs.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
        verb.set_defaults(run=run, verb=name)
        if name != "lab":
            verb.add_argument("--json", action="store_true", help="print one JSON document")
        _OPTIONS[name](verb)
    arguments = parser.parse_args(argv)
    if arguments.version:
        arguments.run, arguments.json = "keeping:show_version", False
    elif not hasattr(arguments, "run"):
        parser.error(f"name a verb: {', '.join(_VERBS)}")
    return arguments


_VERBS = {
    "check": ("cases:check", "list everything that is wrong with a case or a season"),
    "grade": ("cases:grade", "build a solution, run it on a case's inputs, and store the run"),
    "play": ("seasons:play", "play a level of a season with an agent, and store the run"),
    "verify": ("proofs:verify", "replay runs on their game, and say whether all they claim holds"),
    "sweep": ("cases:sweep", "grade every solution, or play every cell, that is not stored yet"),
    "regrade": ("cases:regrade", "grade stored modules again on the case and engine of today, old against new"),
    "leaderboard": ("standing:leaderboard", "rank the models of a case, or the agents of a season"),
    "rescore": ("boards:rescore", "rank a season by other constants, beside its own"),
    "reprice": ("costs:reprice", "price the kept calls of a season's runs again, beside what was recorded"),
    "place": ("standing:place", "place a run in its field"),
    "worklist": ("standing:worklist", "list the reviewed runs that wait for a review"),
    "runs": ("keeping:runs", "list stored runs"),
    "show": ("keeping:show", "show one run"),
    "void": ("keeping:void", "make runs count nowhere; they stay, with the reason"),
    "export": ("keeping:export", "write runs to a folder of plain files"),
    "import": ("keeping:import_", "take in runs from such a folder"),
    "report": ("documents:report", "write the report of a case or a season as one HTML file"),
    "pack": ("documents:pack", "write what a participant may see of a case or a season, and nothing that is held out"),
    "lab": ("documents:lab", "open JupyterLab on the first notebook"),
}


def _count(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if not 1 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 1000, not {text!r}")
    return value


def _store(verb: argparse.ArgumentParser) -> None:
    what = "database of runs, a path or URL (default: $EVALKIT_STORE, else data/runs.sqlite)"
    verb.add_argument("--store", metavar="URL", help=what)


def _dollars(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"must be an amount above 0, not {text!r}")
    return value


def _case(verb: argparse.ArgumentParser, *, name: str = "CASE") -> None:
    verb.add_argument("case", metavar=name, help="a path, or slug[@version] under cases/")


def _check(verb: argparse.ArgumentParser) -> None:
    _case(verb, name="CASE|SEASON")


def _play(verb: argparse.ArgumentParser) -> None:
    _case(verb, name="SEASON")
    verb.add_argument("--level", metavar="L", required=True, help="which level")
    verb.add_argument("--difficulty", metavar="D", help="at which difficulty, where the season has several")
    verb.add_argument("--seed", metavar="N", type=int, required=True, help="with which seed, of the season or practice")
    verb.add_argument(
        "--agent",
        metavar="A",
        required=True,
        help="random, one of the season's, replay:FILE, model:FILE.toml, an installed one, module:Class",
    )
    verb.add_argument("--attempts", metavar="N", type=_count, default=1, help="make so many runs (default: 1)")
    verb.add_argument("--reference", choices=("anchor", "floor"), help="as a reference run, which takes no rank")
    verb.add_argument("--cheat", metavar="NAME", action="append", default=[], help="a boot flag, for an anchor alone")
    verb.add_argument("--dollar-cap", metavar="X", type=_dollars, help="end a run that has spent so much")
    verb.add_argument("--replay", metavar="FILE", help="write the replay here too")
    _store(verb)


def _verify(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("replays", metavar="REPLAY", nargs="*", help="replay files, or ids of stored runs")
    verb.add_argument("--all", action="store_true", help="every replay in the store")
    verb.add_argument("--season", metavar="SEASON", help="their season (default: by its slug under cases/)")
    verb.add_argument("--jobs", metavar="N", type=_count, default=2, help="so many at a time (default: 2)")
    _store(verb)


def _rescore(verb: argparse.ArgumentParser) -> None:
    _case(verb, name="SEASON")
    what = "objectives, completion, death or exponent, as in completion=50"
    verb.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=what)
    verb.add_argument("--verified-only", action="store_true", help="count only runs that verified here")
    _store(verb)


def _reprice(verb: argparse.ArgumentParser) -> None:
    _case(verb, name="SEASON")
    what = "private prices (default: $EVALKIT_PRICES, else data/prices.toml), before those of genai-prices"
    verb.add_argument("--prices", metavar="FILE", help=what)
    _store(verb)


def _show(verb: argparse.ArgumentParser) -> None:
    _run(verb)
    verb.add_argument("--turns", action="store_true", help="what a model was shown and answered at each decision, too")


def _grade(verb: argparse.ArgumentParser) -> None:
    _case(verb)
    verb.add_argument("solution", metavar="SOLUTION", help="the solution's folder")
    verb.add_argument("--variant", metavar="V", help="which variant (default: the case's first)")
    verb.add_argument("--attempts", metavar="N", type=_count, default=1, help="make so many runs (default: 1)")
    verb.add_argument("--unlimited", action="store_true", help="read fuel beyond the runway too; stores nothing")
    _store(verb)


def _sweep(verb: argparse.ArgumentParser) -> None:
    _case(verb, name="CASE|SEASON")
    verb.add_argument("--solutions", metavar="DIR", nargs="+", help="these folders (default: the case's own)")
    verb.add_argument("--variant", metavar="V", help="which variant (default: the case's first)")
    verb.add_argument("--agents", metavar="A", nargs="+", help="of a season: these agents (default: random)")
    what = "of a season: all runs together, and each alone, spend at most so much, but for calls in flight"
    verb.add_argument("--dollar-cap", metavar="X", type=_dollars, help=what)
    verb.add_argument("--run-dollar-cap", metavar="X", type=_dollars, help="of a season: end a run that spent so much")
    verb.add_argument("--verify", action="store_true", help="of a season: then replay what was never replayed here")
    verb.add_argument("--attempts", metavar="N", type=_count, default=1, help="so many runs of each (default: 1)")
    verb.add_argument("--jobs", metavar="N", type=_count, default=2, help="so many at a time (default: 2)")
    verb.add_argument("--scheduler", metavar="ADDRESS", help="run on this dask cluster instead of this machine")
    verb.add_argument("--dry-run", action="store_true", help="say what would run and may cost, and run nothing")
    _store(verb)


def _regrade(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("runs", metavar="RUN", nargs="+", help="run ids, or their first digits")
    verb.add_argument(
        "--case", metavar="CASE", help="grade on this case (default: the newest version of the run's own)"
    )
    _store(verb)


def _leaderboard(verb: argparse.ArgumentParser) -> None:
    _case(verb, name="CASE|SEASON")
    verb.add_argument("--verified-only", action="store_true", help="of a season: only runs that verified here")
    verb.add_argument("--variant", metavar="V", help="which variant (default: the case's first)")
    verb.add_argument("--schedule", metavar="S", help="which fuel schedule (default: this engine's, else the newest)")
    _store(verb)


def _run(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("run_id", metavar="RUN", help="a run id, or its first digits")
    _store(verb)


def _filters(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--case", metavar="CASE", help="only runs of this case, as slug[@version]")
    verb.add_argument("--model", metavar="M", help="only runs of this model, in any spelling of its name")
    verb.add_argument("--outcome", metavar="O", help="only runs that ended so")
    verb.add_argument("--season", metavar="SEASON", help="only runs of this season, as slug[@version]")
    verb.add_argument("--agent", metavar="A", help="only runs of this agent")
    _store(verb)


def _worklist(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--case", metavar="CASE", help="only runs of this case, as slug[@version]")
    verb.add_argument("--model", metavar="M", help="only runs of this model")
    verb.set_defaults(season=None, agent=None, outcome=None)  # only a case has runs that wait for a person
    _store(verb)


def _void(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("runs", metavar="RUN", nargs="+", help="run ids, or their first digits: all are voided, or none")
    _store(verb)
    verb.add_argument("--reason", metavar="WHY", required=True, help="why they must not count")


def _export(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("folder", metavar="DIR", help="a new folder, or an earlier export to add to")
    verb.add_argument("--runs", metavar="RUN", nargs="+", help="only these runs (default: all)")
    _store(verb)


def _import(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("folder", metavar="DIR", help="a folder that `export` wrote")
    _store(verb)


def _report(verb: argparse.ArgumentParser) -> None:
    _case(verb, name="CASE|SEASON")
    verb.add_argument("-o", "--output", metavar="FILE.html", help="where to write it (default: reports/)")
    verb.add_argument(
        "--run", dest="run_id", metavar="RUN", help="the run to show in full (default: the best that may be shown)"
    )
    _store(verb)


def _pack(verb: argparse.ArgumentParser) -> None:
    _case(verb, name="CASE|SEASON")
    verb.add_argument("-o", "--output", metavar="DIR", required=True, help="a new or an empty folder")


def _lab(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("arguments", metavar="ARG", nargs="*", help="passed on to JupyterLab, after --")


_OPTIONS = {
    "check": _check,
    "grade": _grade,
    "play": _play,
    "verify": _verify,
    "rescore": _rescore,
    "reprice": _reprice,
    "sweep": _sweep,
    "regrade": _regrade,
    "leaderboard": _leaderboard,
    "place": _run,
    "worklist": _worklist,
    "runs": _filters,
    "show": _show,
    "void": _void,
    "export": _export,
    "import": _import,
    "report": _report,
    "pack": _pack,
    "lab": _lab,
}
