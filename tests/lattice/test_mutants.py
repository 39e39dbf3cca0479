"""Why: a smoke input proves its behaviour only if an engine that gets exactly this wrong fails it.

Each mutant breaks one rule of the reference. The inputs that are named for that rule have to notice.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.lattice.lattice_case import load

oracle = load("oracle")
world_module: ModuleType = __import__("lattice_reference.world", fromlist=["World"])
World: Any = oracle.World
LEFT, RIGHT = 0, 1

MUTANTS: list[tuple[str, type[Any] | dict[str, Any], list[str]]] = []


def constant(expected: list[str], **changes: Any) -> None:
    """Register a mutant that has other figures."""
    name = ", ".join(f"{key} = {value}" for key, value in changes.items())
    MUTANTS.append((name[:60], changes, expected))


def mutant(*expected: str) -> Callable[[type[Any]], type[Any]]:
    """Register a mutant that has another method."""

    def register(cls: type[Any]) -> type[Any]:
        MUTANTS.append((cls.__name__, cls, list(expected)))
        return cls

    return register


SPEED = world_module.SPEED
RECIPES = world_module.RECIPES
constant(["belt-slow"], SPEED={**SPEED, "slow": 31})
constant(["belt-slow"], SPEED={**SPEED, "slow": 64})
constant(["belt-fast"], SPEED={**SPEED, "fast": 32})
constant(["belt-express"], SPEED={**SPEED, "express": 128})
constant(["belt-packing"], SPACING=63)
constant(["inserter-cycle"], SWING=7)
constant(["inserter-cycle"], SWING=9)
constant(["furnace-with-coal", "output-backs-up", "crafting-two-inputs"], INPUT_CAP=7)
constant(["furnace-with-coal", "output-backs-up", "crafting-two-inputs"], INPUT_CAP=9)
constant(["output-backs-up"], OUTPUT_CAP=7)
constant(["output-backs-up"], OUTPUT_CAP=10)
constant(["belt-slow", "source-cadence"], ENTRY=191)


def _recipe(name: str, ticks: int = 0, **inputs: int) -> dict[str, Any]:
    old = RECIPES[name]
    needs = {item: inputs.get(item.replace("-", "_"), need) for item, need in old.inputs.items()}
    return {**RECIPES, name: type(old)(old.kind, needs, old.output, ticks or old.ticks)}


for _name, _ticks, _input in (
    ("copper-cable", 33, "crafting-one-input"),
    ("circuit", 95, "crafting-two-inputs"),
    ("iron-plate", 33, "furnace-with-coal"),
    ("iron-gear", 63, "craft-chain"),
    ("transport-belt", 47, "craft-chain"),
):
    constant([_input], RECIPES=_recipe(_name, _ticks))
constant(["crafting-two-inputs"], RECIPES=_recipe("circuit", copper_cable=2))
constant(["furnace-with-coal"], RECIPES=_recipe("iron-plate", coal=2))


@mutant("belt-packing")
class GapMustExceedSpacing(World):
    def accepts(self, lane: Any, pos: int = 192) -> bool:
        return all(abs(other - pos) > 64 for other, _ in lane)


@mutant("belt-tiers-mixed")
class RunMovesAtTheSpeedOfItsHead(World):
    def compact(self, run: Any, lane: int) -> None:
        tiers = [belt.tier for belt in run]
        for belt in run:
            belt.tier = run[-1].tier
        super().compact(run, lane)
        for belt, tier in zip(run, tiers, strict=True):
            belt.tier = tier


@mutant("belt-tiers-mixed")
class ItemMovesAtTheSpeedOfTheTileAhead(World):
    def compact(self, run: Any, lane: int) -> None:
        tiers = [belt.tier for belt in run]
        for belt, tier in zip(run, [tiers[0], *tiers], strict=False):
            belt.tier = tier
        super().compact(run, lane)
        for belt, tier in zip(run, tiers, strict=True):
            belt.tier = tier


@mutant("belt-express")
class ItemsStopAtTileBorders(World):
    def compact(self, run: Any, lane: int) -> None:
        for index, belt in enumerate(run):
            speed, floor = SPEED[belt.tier], 0
            waits = index and belt.lanes[lane] and belt.lanes[lane][0][0] == 0
            if waits and self.force(run[index - 1], lane, belt.lanes[lane][0][1]):
                belt.lanes[lane].pop(0)
            moved = []
            for pos, item in belt.lanes[lane]:
                moved.append((max(pos - speed, floor), item))
                floor = moved[-1][0] + 64
            belt.lanes[lane] = moved


@mutant("source-cadence")
class SourceCountsFromTickZero(World):
    def run_sources(self, number: int) -> None:
        super().run_sources(number - 1)


@mutant("source-cadence")
class SourceOnBothLanesIsAllOrNothing(World):
    def run_sources(self, number: int) -> None:
        for source in self.of_kind("source"):
            belt = self.belt_at(world_module.ahead(source.tile, source.dir))
            lanes = world_module.LANES[source.lane]
            if number % source.period == 0 and belt and all(self.accepts(belt.lanes[lane]) for lane in lanes):
                for lane in lanes:
                    self.force(belt, lane, source.item)


@mutant("source-cadence")
class SourceKeepsALostItemForTheNextTick(World):
    def run_sources(self, number: int) -> None:
        self.waiting = getattr(self, "waiting", {})
        for source in self.of_kind("source"):
            belt = self.belt_at(world_module.ahead(source.tile, source.dir))
            for lane in world_module.LANES[source.lane]:
                if belt and (number % source.period == 0 or self.waiting.get((id(source), lane))):
                    self.waiting[id(source), lane] = not self.force(belt, lane, source.item)


@mutant("sink-sides")
class SinkTakesOnlyFromItsBack(World):
    def run_sink(self, sink: Any) -> None:
        belt = self.belt_at((sink.tile[0] - 1, sink.tile[1]))
        for lane in (LEFT, RIGHT):
            while belt and belt.dir == "E" and belt.lanes[lane] and belt.lanes[lane][0][0] == 0:
                sink.consumed[belt.lanes[lane][0][1]] = sink.consumed.get(belt.lanes[lane][0][1], 0) + 1
                belt.lanes[lane].pop(0)


@mutant("sink-sides")
class SinkRefusesInserters(World):
    def would_accept(self, target: Any, item: str, direction: str) -> bool:
        return super().would_accept(target, item, direction) and target.kind != "sink"


@mutant("sink-sides", "belt-slow", "belt-fast", "belt-express")
class SinksRunBeforeBelts(World):
    def run_belts(self) -> None:
        for sink in self.of_kind("sink"):
            super().run_sink(sink)
        super().run_belts()

    def run_sink(self, sink: Any) -> None:
        pass


@mutant("pure-curve")
class CurveIsASideLoad(World):
    def is_pure_curve(self, belt: Any) -> bool:
        return False


@mutant("pure-curve")
class CurveSwapsTheLanes(World):
    def compact(self, run: Any, lane: int) -> None:
        super().compact(run, lane)
        if lane == RIGHT:
            for before, after in zip(run[1:], run, strict=False):
                if before.dir != after.dir and (before.lanes != [[], []]) and not hasattr(after, "swapped"):
                    after.lanes = after.lanes[::-1]


@mutant("side-load-from-north", "side-load-from-south", "side-load-from-east", "side-load-from-west")
class SideLoadPositionsSwapped(World):
    def landing(self, belt: Any, target: Any, lane: int) -> int:
        return int(256 - super().landing(belt, target, lane))


@mutant("side-load-from-north", "side-load-from-south", "side-load-from-east", "side-load-from-west")
class SideLoadAlwaysLandsAtTheEntry(World):
    def landing(self, belt: Any, target: Any, lane: int) -> int:
        return 192


@mutant("side-load-from-north", "side-load-from-south", "side-load-from-east", "side-load-from-west")
class SideLoadGoesToTheFarLane(World):
    def side_load(self, belt: Any, target: Any) -> None:
        target.lanes = target.lanes[::-1]
        super().side_load(belt, target)
        target.lanes = target.lanes[::-1]


@mutant("side-load-from-north", "side-load-from-south", "side-load-from-east", "side-load-from-west")
class SideLoadKeepsTheLane(World):
    def near_lane(self, belt: Any, direction: str) -> int:
        return getattr(self, "lane", super().near_lane(belt, direction))

    def side_load(self, belt: Any, target: Any) -> None:
        for lane in (LEFT, RIGHT):
            items = belt.lanes[lane]
            waits = items and items[0][0] == 0
            if waits and self.force(target, lane, items[0][1], self.landing(belt, target, lane)):
                items.pop(0)


def _always_near(side: str, lane: int, expected: str) -> None:
    """An engine that names the lane wrongly for feeders that come from one side only."""

    def near_lane(self: Any, belt: Any, direction: str) -> int:
        return lane if direction == side else int(World.near_lane(self, belt, direction))

    MUTANTS.append((f"feeders facing {side}", type("Named", (World,), {"near_lane": near_lane}), [expected]))


_always_near("S", RIGHT, "side-load-from-north")
_always_near("N", LEFT, "side-load-from-south")
_always_near("W", RIGHT, "side-load-from-east")
_always_near("E", LEFT, "side-load-from-west")


@mutant("splitter-one-to-two")
class SplitterAlwaysPrefersTheFirstOutput(World):
    def run_splitter(self, splitter: Any) -> None:
        splitter.out_pref = [0, 0]
        super().run_splitter(splitter)


@mutant("splitter-one-to-two")
class SplitterSharesOneTurnBetweenTheLanes(World):
    def run_splitter(self, splitter: Any) -> None:
        class Shared(list):  # type: ignore[type-arg]
            def __setitem__(self, _: Any, value: Any) -> None:
                list.__setitem__(self, 0, value)
                list.__setitem__(self, 1, value)

        splitter.out_pref = Shared(splitter.out_pref)
        super().run_splitter(splitter)
        splitter.out_pref = list(splitter.out_pref)


@mutant("splitter-two-to-one")
class SplitterAlwaysServesTheFirstInputFirst(World):
    def run_splitter(self, splitter: Any) -> None:
        splitter.in_first = 0
        super().run_splitter(splitter)


@mutant("splitter-two-to-one")
class SplitterTurnsInputsOnlyWhenItMoves(World):
    def run_splitter(self, splitter: Any) -> None:
        ends = self.splitter_ends(splitter, world_module.OPPOSITE[splitter.dir])
        before, turn = [len(belt.lanes[lane]) for belt in ends if belt for lane in (0, 1)], splitter.in_first
        super().run_splitter(splitter)
        if before == [len(belt.lanes[lane]) for belt in ends if belt for lane in (0, 1)]:
            splitter.in_first = turn


@mutant("splitter-two-to-one")
class SplitterWaitsForAMissingOutput(World):
    def run_splitter(self, splitter: Any) -> None:
        if None not in self.splitter_ends(splitter, splitter.dir):
            super().run_splitter(splitter)


@mutant("splitter-back-pressure")
class SplitterWaitsForAFullOutput(World):
    def run_splitter(self, splitter: Any) -> None:
        outputs = [belt for belt in self.splitter_ends(splitter, splitter.dir) if belt]
        if all(self.accepts(belt.lanes[lane]) for belt in outputs for lane in (0, 1)):
            super().run_splitter(splitter)
        else:
            splitter.in_first = 1 - splitter.in_first


@mutant("splitter-back-pressure")
class SplitterTurnsEvenWhenTheOtherOutputTookTheItem(World):
    def run_splitter(self, splitter: Any) -> None:
        class Turning(list):  # type: ignore[type-arg]
            def __setitem__(self, lane: Any, _: Any) -> None:
                list.__setitem__(self, lane, 1 - self[lane])

        splitter.out_pref = Turning(splitter.out_pref)
        super().run_splitter(splitter)
        splitter.out_pref = list(splitter.out_pref)


@mutant("inserter-belt-to-belt")
class InserterTakesTheNearLaneFirst(World):
    def grab_from_belt(self, belt: Any, target: Any, direction: str) -> Any:
        belt.lanes = belt.lanes[::-1]
        item = super().grab_from_belt(belt, target, direction)
        belt.lanes = belt.lanes[::-1]
        return item

    def need(self, target: Any, item: str) -> tuple[int, int]:
        return 0, 0


@mutant("inserter-belt-to-belt")
class InserterDropsOnTheFarLane(World):
    def drop(self, target: Any, item: str, direction: str) -> None:
        if target.kind == "belt":
            self.force(target, 1 - self.near_lane(target, direction), item)
        else:
            super().drop(target, item, direction)


@mutant("inserter-belt-to-belt")
class InserterNeverUsesTheNearLane(World):
    def grab_from_belt(self, belt: Any, target: Any, direction: str) -> Any:
        if not belt.lanes[1 - self.near_lane(belt, direction)]:
            return None
        return super().grab_from_belt(belt, target, direction)


@mutant("inserter-belt-to-belt")
class InserterTakesOnlyAtTheEdge(World):
    def grab_from_belt(self, belt: Any, target: Any, direction: str) -> Any:
        kept = belt.lanes
        belt.lanes = [[entry for entry in lane if entry[0] == 0] for lane in kept]
        item = super().grab_from_belt(belt, target, direction)
        for lane in (LEFT, RIGHT):
            zero = [entry for entry in kept[lane] if entry[0] == 0]
            kept[lane] = kept[lane][len(zero) - len(belt.lanes[lane]) :]
        belt.lanes = kept
        return item


@mutant("inserter-waits-loaded")
class InserterReservesRoom(World):
    def would_accept(self, target: Any, item: str, direction: str) -> bool:
        arms = [arm for arm in self.of_kind("inserter") if arm.held is not None and arm.left > 1]
        aims = [self.owner.get(world_module.ahead(arm.tile, arm.dir)) for arm in arms]
        return super().would_accept(target, item, direction) and all(aim is not target for aim in aims)


@mutant("inserter-waits-loaded")
class InserterGrabsWithoutAskingForRoom(World):
    asking = True

    def grab(self, origin: Any, target: Any, direction: str) -> Any:
        self.asking = False
        item = super().grab(origin, target, direction)
        self.asking = True
        return item

    def would_accept(self, target: Any, item: str, direction: str) -> bool:
        return not self.asking or bool(super().would_accept(target, item, direction))


@mutant("inserter-waits-loaded")
class InsertersActInReverseOrder(World):
    def of_kind(self, *kinds: str) -> Any:
        found = super().of_kind(*kinds)
        return found[::-1] if kinds == ("inserter",) else found


@mutant("inserter-cycle")
class InserterGrabsInTheTickThatItsReturnEnds(World):
    def run_inserter(self, arm: Any) -> None:
        returning = arm.held is None and arm.left == 1
        super().run_inserter(arm)
        if returning:
            super().run_inserter(arm)


@mutant("pickup-by-need", "furnace-with-coal")
class InserterIgnoresNeed(World):
    def need(self, target: Any, item: str) -> tuple[int, int]:
        return 0, 0


@mutant("pickup-by-need")
class InserterTakesWhatTheMachineHasMostOf(World):
    def need(self, target: Any, item: str) -> tuple[int, int]:
        return super().need(target, item)[0], -super().need(target, item)[1]


@mutant("furnace-with-coal")
class CoalHasNoPriority(World):
    def need(self, target: Any, item: str) -> tuple[int, int]:
        return 1, super().need(target, item)[1]


@mutant("pickup-by-need")
class InserterFeedsWhatTheMachineDoesNotUse(World):
    def would_accept(self, target: Any, item: str, direction: str) -> bool:
        if target is not None and target.kind == "assembler":
            return bool(target.inputs.get(item, 0) < 8)
        return bool(super().would_accept(target, item, direction))


@mutant("crafting-one-input", "craft-chain")
class CrafterPausesATickBetweenCrafts(World):
    def run_crafter(self, crafter: Any) -> None:
        ending = crafter.left == 1
        inputs = dict(crafter.inputs)
        if ending:
            crafter.inputs = {}
        super().run_crafter(crafter)
        if ending:
            crafter.inputs = inputs


@mutant("crafting-one-input", "furnace-with-coal")
class CrafterRunsBeforeTheInserters(World):
    def run_sources(self, number: int) -> None:
        super().run_sources(number)
        for crafter in self.of_kind("assembler", "furnace"):
            super().run_crafter(crafter)

    def run_crafter(self, crafter: Any) -> None:
        pass


@mutant("craft-chain")
class AnInserterWaitsForAFullMachine(World):
    def grab(self, origin: Any, target: Any, direction: str) -> Any:
        if origin is not None and origin.kind == "assembler" and sum(origin.output.values()) < 2:
            return None
        return super().grab(origin, target, direction)


@mutant("output-backs-up")
class CrafterStartsWhileItsOutputIsBelowTheCap(World):
    def run_crafter(self, crafter: Any) -> None:
        blocked = world_module.OUTPUT_CAP - RECIPES[crafter.recipe].output[1] < sum(crafter.output.values()) < 8
        held = dict(crafter.output)
        if blocked and crafter.left == 0:
            crafter.output = {}
            super().run_crafter(crafter)
            crafter.output = held
        else:
            super().run_crafter(crafter)


def answer(world_class: Any, scenario: dict[str, Any]) -> list[str] | str:
    """The checksums that a world gives, or what it stumbles over."""
    world, seen = world_class(scenario), []
    try:
        for tick in scenario["snapshots"]:
            while world.tick < tick:
                world.step()
            seen.append(world.snapshot()["checksum"])
    except (IndexError, AssertionError, KeyError) as error:
        return repr(error)
    return seen


@pytest.mark.parametrize(("change", "expected"), [m[1:] for m in MUTANTS], ids=[m[0] for m in MUTANTS])
def test_breaking_a_rule_fails_the_smoke_inputs_of_that_rule(
    change: Any, expected: list[str], case_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = World
    if isinstance(change, dict):
        for name, value in change.items():
            monkeypatch.setattr(world_module, name, value)
        if "ENTRY" in change:
            monkeypatch.setattr(World.accepts, "__defaults__", (change["ENTRY"],))
            monkeypatch.setattr(World.force, "__defaults__", (change["ENTRY"],))
    else:
        broken = change
    assert expected, "a mutant names the inputs that have to notice it"
    for name in expected:
        scenario = json.loads((case_folder / "smoke" / f"{name}.json").read_bytes())
        right = [row["checksum"] for row in json.loads((case_folder / "smoke" / f"{name}.out").read_bytes())]
        assert answer(broken, scenario) != right, f"{name} does not notice"


def test_every_smoke_input_is_needed_by_a_mutant(case_folder: Path) -> None:
    named = {name for _, _, expected in MUTANTS for name in expected}
    present = {path.stem for path in (case_folder / "smoke").glob("*.json")}
    assert present and named == present


def test_the_unbroken_rules_pass_every_smoke_input(case_folder: Path) -> None:
    for path in sorted((case_folder / "smoke").glob("*.json")):
        right = [row["checksum"] for row in json.loads(path.with_suffix(".out").read_bytes())]
        assert answer(World, json.loads(path.read_bytes())) == right, path.stem
