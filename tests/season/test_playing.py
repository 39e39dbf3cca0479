"""Playing: the same cell gives the same run, every ending is said by its name, and an agent can do no harm."""

from __future__ import annotations

import gc
import json
import sys
import zlib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
import wasmtime

from evalkit.errors import AuthoringError, UsageError
from evalkit.sandbox.console import Console
from evalkit.season import load_season, play, verify
from evalkit.season.agents import Action, Observation, Spec, Usage, load_agent
from evalkit.season.season import Season
from tests.season.seasonwork import COINS, SEASON, VAULT, built, make_season, spin

WAY_OUT = [("take", 2), *[("right", 16)] * 3, ("take", 2), *[("right", 16)] * 6, ("leave", 4)]


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Fails:
    def __get__(self, *_: object) -> Any:
        raise RuntimeError("x")


class Route:
    """Plays a list of (action, ticks); then waits."""

    def __init__(self, steps: Sequence[tuple[str, int]] = WAY_OUT, **said: Any) -> None:
        self.steps, self.seen = list(steps), []  # type: ignore[var-annotated]
        for name, value in said.items():
            setattr(self, name, value)

    def reset(self, spec: Spec, seed: int) -> None:
        self.spec, self.seed, self.at = spec, seed, 0

    def decide(self, observation: Observation) -> Any:
        self.seen.append(observation)
        self.at += 1
        return Action(*self.steps[self.at - 1]) if self.at <= len(self.steps) else Action("wait", 4)


@pytest.fixture(scope="session")
def season(tmp_path_factory: pytest.TempPathFactory) -> Season:
    return load_season(make_season(tmp_path_factory.mktemp("seasons")))


def cheated(season: Season, steps: Sequence[tuple[str, int]] = WAY_OUT, **options: Any) -> Any:
    options = {"level": "hall", "seed": 0, "reference": "anchor", "cheats": ["invincible"], **options}
    return play(season, agent=Route(steps), **options)


def test_a_mission_completed_says_when_to_the_tick_and_what_was_done(season: Season) -> None:
    run = cheated(season).run
    run.validate()
    assert (run.ended_by, run.completed, run.died, run.objectives_done, run.objectives_total) == (
        "completed", True, False, 2, 2,
    )  # fmt: skip
    assert run.ticks == 2 + 48 + 2 + 96 + 1  # the last decision stops at its first tick: the mission is over there
    assert run.time_s == run.ticks / 60
    assert run.decisions == len(WAY_OUT)


def test_the_same_job_leaves_the_same_bytes_and_another_attempt_others(season: Season) -> None:
    runs = [play(season, level="hall", seed=1, agent="random", attempt=n) for n in (1, 1, 2)]
    assert runs[0].replay == runs[1].replay
    assert runs[0].run.content() == runs[1].run.content()
    assert runs[0].replay != runs[2].replay


def test_the_seeds_intro_changes_what_a_run_meets(season: Season) -> None:
    runs = [
        play(season, level="hall", seed=n, agent=Route([*[("right", 16)] * 4, *[("wait", 30)] * 70])) for n in (0, 1, 9)
    ]
    assert len({document(p)["decisions"][0]["hash"] for p in runs}) == 3
    assert len({p.run.ticks for p in runs}) > 1


def document(played: Any) -> Any:
    return json.loads(played.replay)


@pytest.mark.parametrize(
    ("steps", "ended_by"),
    [
        ([*[("right", 16)] * 9, ("leave", 4)], "failed"),
        ([("left", 8), ("down", 4)], "trap"),
        ([("wait", 30)] * 100, "tick_limit"),
    ],
)
def test_each_ending_of_the_game_is_called_by_its_name_and_verifies(
    season: Season, steps: list[tuple[str, int]], ended_by: str
) -> None:
    played = cheated(season, steps)
    played.run.validate()
    assert played.run.ended_by == ended_by
    assert (played.run.time_s, played.run.completed) == (None, False)
    assert verify(played.replay, season).verified is True


def test_a_run_that_dies_without_cheats_lives_with_them(season: Season) -> None:
    steps = [*[("right", 16)] * 4, *[("wait", 30)] * 70]
    died = play(season, level="hall", seed=0, agent=Route(steps)).run
    assert (died.ended_by, died.died) == ("died", True)
    assert cheated(season, steps).run.ended_by == "tick_limit"


def test_the_budget_ends_a_run_and_an_anchor_has_none(season: Season) -> None:
    creep = [("left", 8), ("right", 8)] * 100
    run = play(season, level="cellar", seed=0, agent=Route(creep)).run
    assert (run.ended_by, run.decisions, run.decision_budget) == ("budget", 40, 40)
    anchor = cheated(season, creep, level="cellar").run
    assert (anchor.decision_budget, anchor.decisions > 40) == (None, True)


def test_the_tick_limit_cuts_the_last_decision_at_its_very_tick(tmp_path: Path) -> None:
    folder = make_season(tmp_path, season=SEASON.replace("tick_limit = 2400", "tick_limit = 70"))
    season = load_season(folder)
    played = play(season, level="hall", seed=0, agent=Route([("wait", 30)] * 9))
    assert (played.run.ended_by, played.run.ticks, played.run.decisions) == ("tick_limit", 70, 3)
    assert verify(played.replay or b"", season).verified is True


def test_what_was_done_before_play_began_is_nobodys(season: Season) -> None:
    run = cheated(season, [("take", 2), *[("right", 16)] * 3, ("take", 2), ("down", 4)], level="cellar").run
    assert (run.objectives_done, run.objectives_total) == (1, 3)


class TestAgents:
    def test_an_agent_sees_what_the_game_file_shows_and_what_is_legal(self, season: Season) -> None:
        agent = Route([("shoot", 4)] * 2)
        play(season, level="hall", seed=0, agent=agent)
        first, third = agent.seen[0], agent.seen[2]
        assert set(first.variables) == {"x", "health", "ammo", "guard"}
        assert first.variables["ammo"] == 5 and "leave" not in first.legal
        assert first.legal["right"] == (8, 16) and "shoot" not in third.legal
        assert agent.spec.decision_budget == 150 and agent.spec.actions[0].name == "wait"
        assert not hasattr(first, "__dict__") and "console" not in dir(first)

    def test_the_picture_is_the_screen_as_an_array_and_as_a_png(self, season: Season) -> None:
        shots = []

        class Looks(Route):
            def decide(self, observation: Observation) -> Any:
                shots.append((observation.picture(), observation.png()))
                return Action("down", 4)

        play(season, level="hall", seed=0, agent=Looks())
        pixels, png = shots[0]
        assert pixels.shape == (160, 160, 3) and len(np.unique(pixels.reshape(-1, 3), axis=0)) >= 2
        size = int.from_bytes(png[33:37], "big")
        rows = np.frombuffer(zlib.decompress(png[41 : 41 + size]), np.uint8).reshape(160, 481)
        assert png.startswith(b"\x89PNG") and (rows[:, 1:].reshape(160, 160, 3) == pixels).all()

    def test_a_game_that_shows_no_picture_has_none(self, tmp_path: Path) -> None:
        blind = load_season(make_season(tmp_path, VAULT.replace("picture = true", "")))

        class Looks(Route):
            def decide(self, observation: Observation) -> Any:
                observation.picture()

        run = play(blind, level="hall", seed=0, agent=Looks()).run
        assert "shows agents no picture" in str(run.ungraded)

    @pytest.mark.parametrize(
        ("said", "words"),
        [
            (Action("lef", 8), 'decision 1: there is no action "lef"; did you mean "left"?'),
            (Action("left", 9), "decision 1: left may be held for 8 or 16 ticks, not 9"),
            (Action("left", 10**7), "decision 1: left may be held for 8 or 16 ticks, not 10,000,000"),
            (Action("leave", 4), "decision 1: leave is not legal now: x > 100 does not hold"),
            (Action("left", 8.0), "is no Action(name, ticks)"),  # type: ignore[arg-type]
            (Action("left", True), "is no Action(name, ticks)"),
            (None, "decision 1: None is no Action(name, ticks)"),
            (Unprintable(), "decision 1: what it returned is no Action(name, ticks)"),
            (Action("w" * 10**7, 10**5000), 'there is no action "wwww'),
        ],
    )
    def test_a_choice_that_is_not_legal_is_a_no_op_that_counts_and_neither_ends_a_run_nor_unmakes_it(
        self, season: Season, said: Any, words: str
    ) -> None:
        class Wrong(Route):
            def decide(self, observation: Observation) -> Any:
                observation.legal.clear()
                return said

        run = play(season, level="hall", seed=0, agent=Wrong())
        run.run.validate()
        assert (run.run.ended_by, run.run.ungraded, run.run.decisions) == ("budget", None, 150)
        assert {(row["action"], row["ticks"]) for row in document(run)["decisions"]} == {("wait", 4)}
        assert run.run.provenance["illegal_choices"] == 150 and words in run.run.provenance["first_illegal"]
        assert verify(run.replay or b"", season).verified is True

    def test_no_wrong_choice_escapes_the_death_that_comes_next(self, season: Season) -> None:
        steps = [*[("right", 16)] * 4, *[("fly", 1)] * 900]
        played = play(season, level="hall", seed=0, agent=Route(steps))
        assert (played.run.ended_by, played.run.died) == ("died", True)
        assert played.run.provenance["illegal_choices"] == played.run.decisions - 4
        assert verify(played.replay or b"", season).verified is True
        assert "illegal_choices" not in play(season, level="hall", seed=0, agent=Route()).run.provenance

    def test_an_action_may_be_named_by_a_word_of_an_enumeration(self, season: Season) -> None:
        moves = StrEnum("moves", {"LEFT": "left"})
        played = play(season, level="hall", seed=0, agent=Route([(moves.LEFT, 8)]))  # type: ignore[attr-defined]
        assert document(played)["decisions"][0]["action"] == "left" and not played.run.provenance

    @pytest.mark.parametrize(
        ("raised", "words"),
        [
            (ValueError("no\x1b[31m idea\n"), r"ValueError: no\x1b[31m idea\n"),
            (SystemExit(0), "SystemExit: 0"),
            (SystemExit("bye\nbye"), r"SystemExit: bye\nbye"),
            (GeneratorExit(), "GeneratorExit: "),
            (StopIteration(), "StopIteration: "),
            (Unprintable("x"), "Unprintable: (it cannot say why)"),
        ],
    )
    @pytest.mark.parametrize("where", ["reset", "decide", "usage"])
    def test_whatever_its_program_raises_ends_the_run_ungraded_in_words(
        self, season: Season, where: str, raised: BaseException, words: str
    ) -> None:
        class Fails(Route):
            pass

        def fail(*_: object) -> Any:
            raise raised

        setattr(Fails, where, fail)
        played = play(season, level="hall", seed=0, agent=Fails())
        played.run.validate()
        assert (played.run.ended_by, played.replay, played.run.decisions) == ("agent_error", None, 0)
        assert str(played.run.ungraded).startswith("decision 1: ") and words in str(played.run.ungraded)

    def test_an_action_whose_own_code_fails_is_a_fault_of_the_program(self, season: Season) -> None:
        class Trick(Action):
            @property
            def name(self) -> str:  # type: ignore[override]
                raise RuntimeError("prop")

        class Tricks(Route):
            def decide(self, observation: Observation) -> Any:
                return object.__new__(Trick)

        assert "RuntimeError: prop" in str(play(season, level="hall", seed=0, agent=Tricks()).run.ungraded)

    def test_ctrl_c_goes_through_to_the_person_who_pressed_it(self, season: Season) -> None:
        class Slow(Route):
            def decide(self, observation: Observation) -> Any:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            play(season, level="hall", seed=0, agent=Slow())

    @pytest.mark.parametrize(
        "said",
        [
            {"provenance": lambda: {"deep": [[[[[[[[[[[1]]]]]]]]]]]}},
            {"provenance": lambda: {1: object()}},
            {"provenance": lambda: sys.exit(1)},
            {"turns": lambda: [object()]},
            {"close": lambda: sys.exit(1)},
        ],
    )
    def test_nothing_that_an_agent_says_of_itself_costs_it_its_run(self, season: Season, said: Any) -> None:
        played = play(season, level="hall", seed=0, agent=Route(**said))
        played.run.validate()
        assert played.run.ungraded is None and played.replay and played.turns is None
        assert ("fault" in played.run.provenance) == ("close" not in said)

    @pytest.mark.parametrize(
        ("said", "words"),
        [
            ({"name": Fails()}, "does not load: RuntimeError: x"),
            ({"digest": Fails()}, "does not load: RuntimeError: x"),
            ({"cheats": 5}, "its cheats are names in a list"),
            ({"cheats": "invincible"}, "its cheats are names in a list"),
            ({"cheats": [5, None]}, "its cheats are names in a list"),
            ({"reference": [1]}, 'its reference is .*, not "floor" or "anchor"'),
            ({"name": "\ud800"}, "text of 1 to 200 characters"),
            ({"ready": lambda self: sys.exit(0)}, "is not ready: SystemExit: 0"),
            ({"ready": lambda self: 1 / 0}, "is not ready: ZeroDivisionError"),
        ],
    )
    def test_an_agent_that_cannot_say_who_it_is_is_one_line(self, season: Season, said: Any, words: str) -> None:
        with pytest.raises(UsageError, match=words):
            play(season, level="hall", seed=0, agent=type("Odd", (Route,), said)())

    def test_a_program_that_exits_while_it_loads_is_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "out.py").write_text("import sys; sys.exit(0)")
        with pytest.raises(UsageError, match="does not load: SystemExit: 0"):
            load_agent(f"{tmp_path / 'out.py'}:A")

    def test_what_an_agent_holds_leads_to_no_console_and_shows_its_own_decision_later_too(self, season: Season) -> None:
        shots = []

        class Looks(Route):
            def decide(self, observation: Observation) -> Any:
                shots.append((observation, observation.picture()))
                return super().decide(observation)

        play(season, level="hall", seed=0, agent=Looks([("right", 16)] * 4))
        assert (shots[0][1] != shots[4][1]).any()
        for observation, picture in shots:
            assert (observation.picture() == picture).all()
        seen, found = [shots[0][0]], set()
        while seen:  # everything that it leads to, but for code
            thing = seen.pop()
            if id(thing) not in found and not isinstance(thing, type | ModuleType | FunctionType):
                found.add(id(thing))
                seen += gc.get_referents(thing)
                assert not isinstance(thing, Console)

    def test_an_agents_seed_is_another_for_another_attempt_cell_or_name(self, season: Season) -> None:
        def seed(**options: Any) -> int:
            agent = Route([("left", 8)], name=options.pop("name", "a"))
            play(season, agent=agent, **{"level": "hall", "seed": 0, **options})
            return agent.seed

        assert seed() == seed()
        assert len({seed(), seed(attempt=2), seed(seed=1), seed(level="cellar"), seed(name="b")}) == 5

    def test_the_dollar_cap_ends_a_run_after_the_call_that_reached_it(self, season: Season) -> None:
        class Paid(Route):
            def usage(self) -> Usage:
                return Usage(self.at * 100, self.at * 0.25)

        played = play(season, level="hall", seed=0, agent=Paid([("wait", 4)] * 99), dollar_cap=1)
        run = played.run
        assert (run.ended_by, run.decisions) == ("dollar_cap", 3)
        assert (run.dollars, run.dollar_cap, run.tokens) == (1.0, 1.0, 400)
        assert verify(played.replay or b"", season).verified is True

    def test_what_an_agent_spends_is_unknown_where_it_does_not_say(self, season: Season) -> None:
        assert (cheated(season).run.tokens, cheated(season).run.dollars) == (None, None)
        floor = play(season, level="hall", seed=0).run
        assert (floor.agent, floor.reference, floor.tokens, floor.dollars) == ("random", "floor", 0, 0.0)

    def test_random_chooses_among_all_legal_actions_and_ticks(self, season: Season) -> None:
        seen = set()
        for attempt in range(1, 30):
            rows = document(play(season, level="hall", seed=0, attempt=attempt))["decisions"]
            seen |= {(row["action"], row["ticks"]) for row in rows}
        assert seen >= {("wait", 4), ("wait", 30), ("left", 8), ("left", 16), ("take", 2), ("shoot", 4), ("down", 4)}

    def test_a_replay_is_an_agent_that_meets_the_same_ending(self, season: Season, tmp_path: Path) -> None:
        played = play(season, level="hall", seed=0, attempt=2)
        (tmp_path / "r.json").write_bytes(played.replay or b"")
        again = play(season, level="hall", seed=0, agent=f"replay:{tmp_path / 'r.json'}")
        assert [again.run.ended_by, again.run.ticks] == [played.run.ended_by, played.run.ticks]
        elsewhere = play(season, level="hall", seed=1, agent=f"replay:{tmp_path / 'r.json'}")
        assert elsewhere.run.ungraded is None or "the route is at its end" in elsewhere.run.ungraded

    def test_an_agent_of_ones_own_is_found_by_file_or_module_and_its_digest_is_its_source(self, tmp_path: Path) -> None:
        source = (
            "from evalkit.season.agents import Action\n"
            "class Waits:\n"
            "    def reset(self, spec, seed): pass\n"
            "    def decide(self, observation): return Action('wait', 30)\n"
        )
        path = tmp_path / "mine.py"
        path.write_text(source)
        first = load_agent(f"{path}:Waits")
        path.write_text(source + "# changed\n")
        assert load_agent(f"{path}:Waits").digest != first.digest
        assert load_agent("evalkit.season.agents.builtin:RandomAgent").name == "random"

    @pytest.mark.parametrize(
        ("who", "words"),
        [
            ("randm", 'did you mean "random"'),
            ("nowhere_at_all:Agent", "does not load: ModuleNotFoundError"),
            ("json:Agent", "has no Agent"),
            ("json:dumps", "does not load"),
            ("json:decoder", "is no agent"),
            ("/nowhere.py:A", "does not load"),
        ],
    )
    def test_an_agent_that_is_none_is_one_line(self, who: str, words: str) -> None:
        with pytest.raises(UsageError, match=words):
            load_agent(who)


class TestReferences:
    def test_cheats_are_for_the_anchor_alone_and_must_be_the_games(self, season: Season) -> None:
        for options in ({}, {"reference": "floor"}):
            with pytest.raises(UsageError, match="invincible: only a reference run of the anchor may have cheats"):
                play(season, level="hall", seed=0, cheats=["invincible"], **options)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match='no cheat "invincble"; did you mean "invincible"'):
            cheated(season, cheats=["invincble"])
        with pytest.raises(UsageError, match='"anchor" or the "floor", not "ceiling"'):
            cheated(season, reference="ceiling")

    def test_an_autopilot_says_of_itself_that_it_is_the_anchor_and_which_cheats_it_wants(self, season: Season) -> None:
        pilot = Route(WAY_OUT, reference="anchor", cheats=("invincible", "infinite-ammo"))
        run = play(season, level="hall", seed=0, agent=pilot).run
        assert (run.reference, run.cheats, run.is_private) == ("anchor", ("infinite-ammo", "invincible"), True)


def test_a_machine_that_stops_the_game_makes_the_run_ungraded_and_leaves_no_replay(tmp_path: Path) -> None:
    game = """module = "vault.wasm"
[variables]
ticks = { address = 0x2000, type = "u32" }
[status]
completed = "ticks > 500"
objectives = ["ticks > 200"]
[observation]
variables = ["ticks"]
[actions.wait]
ticks = [10]
[actions.go]
buttons = ["x"]
ticks = [10]
"""
    text = "[[entry]]".join(SEASON.split("[[entry]]")[:2])
    season = load_season(make_season(tmp_path, game, text, cart=spin("(loop (br 0))")))
    played = play(season, level="hall", difficulty="easy", seed=0, agent=Route([("wait", 10), ("go", 10)]))
    played.run.validate()
    assert (played.run.ended_by, played.replay, played.run.decisions) == ("fuel", None, 1)
    assert "at tick 11: fuel" in str(played.run.ungraded)


def test_a_game_by_another_hand_is_a_level_by_a_table_of_addresses_alone(tmp_path: Path) -> None:
    cart = built("coins.c")
    at = 14756  # behind the stack and four bytes of data; this table is all that says what lies there
    game = COINS.format(coins=at, lives=at + 4, at=at + 6, page=at + 8)
    text = SEASON.replace("{slug}", "coins").replace('level = "cellar"\n', 'level = "hall"\n')
    text = text.replace('difficulty = "hard"', 'difficulty = "easy"').split("[[entry]]")
    season = load_season(make_season(tmp_path, game, "[[entry]]".join(text[:2]), cart=cart, slug="coins"))
    route = [("start", 2), *[("walk", 4)] * 3, *[("walk", 1)] * 3, ("grab", 1)]
    steps = route + ([("walk", 4)] * 3 + [("walk", 1)] * 3 + [("grab", 1)]) * 5
    played = play(season, level="hall", seed=0, agent=Route(steps))
    assert (played.run.objectives_total, played.run.ended_by) in {(7, "completed"), (7, "died")}
    assert played.run.objectives_done >= 1
    assert verify(played.replay or b"", season).verified is True


def test_unknown_levels_and_a_game_with_nothing_legal_are_one_line(season: Season, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match='no level "dam"'):
        play(season, level="dam", seed=0)
    stuck = VAULT.split("[actions.wait]")[0] + '[actions.leave]\nbuttons = ["z"]\nticks = [4]\nwhen = "x > 100"\n'
    with pytest.raises(AuthoringError, match="no action is legal"):
        play(load_season(make_season(tmp_path, stuck)), level="hall", seed=0)


@pytest.mark.parametrize("ended_by", ["completed", "failed"])
def test_who_dies_at_the_tick_at_which_it_is_over_has_died_whatever_it_is_called(tmp_path: Path, ended_by: str) -> None:
    cart = bytes(
        wasmtime.wat2wasm("""(module (import "env" "memory" (memory 1)) (func (export "update")
      (if (i32.load8_u (i32.const 0x16)) (then (i32.store16 (i32.const 0x2000) (i32.const 0x0101))))))""")
    )
    game = f"""module = "vault.wasm"
[variables]
over = {{ address = 0x2000 }}
dead = {{ address = 0x2001 }}
[status]
completed = "{"over == 1" if ended_by == "completed" else "over == 7"}"
failed = "{"over == 1" if ended_by == "failed" else "over == 7"}"
died = "dead == {1 if ended_by == "completed" else 2}"
objectives = ["over == 1"]
[observation]
variables = []
[actions.wait]
ticks = [4]
[actions.go]
buttons = ["x"]
ticks = [4]
"""
    text = "[[entry]]".join(SEASON.split("[[entry]]")[:2])
    season = load_season(make_season(tmp_path, game, text, cart=cart))
    played = play(season, level="hall", seed=0, agent=Route([("wait", 4), ("go", 4)]))
    assert (played.run.ended_by, played.run.died, played.run.ticks) == (ended_by, ended_by == "completed", 5)
    assert verify(played.replay or b"", season).verified is True
