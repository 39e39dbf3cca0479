"""Why: the rules of a tick, each as one short method, to be read beside `rules.md` and changed by tests."""

from __future__ import annotations

from typing import Any

from .scenario import Entity, Lane, read_scenario
from .state import canonical_bytes, checksum, state_of
from .tables import (
    ENTRY,
    INDEX,
    INPUT_CAP,
    LANES,
    LEFT,
    LEFT_SIDE,
    OPPOSITE,
    OUTPUT_CAP,
    RECIPES,
    RIGHT,
    SPACING,
    SPEED,
    STEP,
    SWING,
    TILE,
    Tile,
    ahead,
    side_of,
)

__all__ = ["World"]


def _take(counts: dict[str, int], item: str, amount: int) -> None:
    """Subtract from a count map; an entry that falls to 0 leaves it."""
    counts[item] -= amount
    if counts[item] == 0:
        del counts[item]


def _add(counts: dict[str, int], item: str, amount: int = 1) -> None:
    """Add to a count map."""
    counts[item] = counts.get(item, 0) + amount


class World:
    """A scenario in progress: `step` runs one tick, `snapshot` is the state as the answer shows it.

    Raises ValueError where the scenario is invalid.
    """

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.entities = read_scenario(scenario)
        self.tick = 0
        self.owner: dict[Tile, Entity] = {}
        for entity in self.entities:  # a later entity takes over the tiles of an earlier one
            self.owner.update(dict.fromkeys(entity.tiles(), entity))
        self.kinds: dict[tuple[str, ...], list[Entity]] = {}
        self.belts = self.of_kind("belt")
        self.curves = {id(belt) for belt in self.belts if self.is_pure_curve(belt)}
        self.runs = self.find_runs()
        self.side_loads = self.find_side_loads()

    def of_kind(self, *kinds: str) -> list[Entity]:
        """The entities of these kinds, in placement order."""
        if kinds not in self.kinds:
            self.kinds[kinds] = [entity for entity in self.entities if entity.kind in kinds]
        return self.kinds[kinds]

    def belt_at(self, tile: Tile) -> Entity | None:
        """The belt that owns a tile."""
        owner = self.owner.get(tile)
        return owner if owner is not None and owner.kind == "belt" else None

    # Layout

    def is_pure_curve(self, belt: Entity) -> bool:
        """Is the belt fed by exactly one belt, from the side, and by no source, inserter or splitter?"""
        feeders = []
        for direction in STEP:  # the direction from the neighbour to the belt
            neighbour = self.owner.get(ahead(belt.tile, OPPOSITE[direction]))
            if neighbour is None or neighbour.dir != direction:
                continue
            if neighbour.kind == "belt":
                feeders.append(direction)
            elif neighbour.kind != "sink":
                return False
        return len(feeders) == 1 and feeders[0] != belt.dir

    def next_in_run(self, belt: Entity) -> Entity | None:
        """The belt onto which this one's items simply move on."""
        following = self.belt_at(ahead(belt.tile, belt.dir))
        if following is not None and (following.dir == belt.dir or id(following) in self.curves):
            return following
        return None

    def find_runs(self) -> list[list[Entity]]:
        """Chains of belts along which both lanes move as one, the most downstream tile first."""
        runs, used = [], set()
        for head in self.belts:
            behind = self.belt_at(ahead(head.tile, OPPOSITE[head.dir]))
            if id(head) in self.curves or (behind is not None and behind.dir == head.dir):
                continue
            chain: list[Entity] = []
            belt: Entity | None = head
            while belt is not None and id(belt) not in used:
                chain.append(belt)
                used.add(id(belt))
                belt = self.next_in_run(belt)
            runs.append(chain[::-1])
        runs += [[belt] for belt in self.belts if id(belt) not in used]
        return [run for run in runs if run]

    def find_side_loads(self) -> list[tuple[Entity, Entity]]:
        """Each belt that ends at the side of another belt, with that belt."""
        pairs = [(belt, self.belt_at(ahead(belt.tile, belt.dir))) for belt in self.belts]
        return [(b, t) for b, t in pairs if t is not None and t.dir != b.dir and id(t) not in self.curves]

    # Lanes

    def accepts(self, lane: Lane, pos: int = ENTRY) -> bool:
        """Is every item of this one tile's lane at least SPACING away from `pos`?"""
        return all(abs(other - pos) >= SPACING for other, _ in lane)

    def force(self, belt: Entity, lane: int, item: str, pos: int = ENTRY) -> bool:
        """Put an item on a lane where it has room."""
        if not self.accepts(belt.lanes[lane], pos):
            return False
        belt.lanes[lane] = sorted([*belt.lanes[lane], (pos, item)], key=lambda entry: entry[0])
        return True

    def near_lane(self, belt: Entity, direction: str) -> int:
        """The lane on the side from which an actor facing `direction` comes; parallel to the belt: the right one."""
        return LEFT if LEFT_SIDE[belt.dir] == OPPOSITE[direction] else RIGHT

    # Phases

    def step(self) -> None:
        """Run one tick: the six phases in order."""
        number = self.tick + 1
        self.run_sources(number)
        for inserter in self.of_kind("inserter"):
            self.run_inserter(inserter)
        self.run_belts()
        for splitter in self.of_kind("splitter"):
            self.run_splitter(splitter)
        for splitter in self.of_kind("lane-splitter"):
            self.run_lane_splitter(splitter)
        for crafter in self.of_kind("assembler", "furnace"):
            self.run_crafter(crafter)
        for sink in self.of_kind("sink"):
            self.run_sink(sink)
        self.tick = number

    def run_sources(self, number: int) -> None:
        """Emit at every multiple of the period; an item that finds no room is lost."""
        for source in self.of_kind("source"):
            belt = self.belt_at(ahead(source.tile, source.dir))
            if number % source.period == 0 and belt is not None:
                for lane in LANES[source.lane]:
                    self.force(belt, lane, source.item)

    def run_inserter(self, arm: Entity) -> None:
        """Return, grab, swing or drop: one of them in a tick."""
        drop_on = self.owner.get(ahead(arm.tile, arm.dir))
        if arm.held is None and arm.left > 0:
            arm.left -= 1
        elif arm.held is None:
            arm.held = self.grab(self.owner.get(ahead(arm.tile, OPPOSITE[arm.dir])), drop_on, arm.dir)
            arm.left = SWING if arm.held is not None else 0
        elif arm.left > 1:
            arm.left -= 1
        elif self.would_accept(drop_on, arm.held, arm.dir):
            self.drop(drop_on, arm.held, arm.dir)
            arm.held, arm.left = None, SWING

    def would_accept(self, target: Entity | None, item: str, direction: str) -> bool:
        """Has the drop tile room for this item now?"""
        if target is None:
            return False
        if target.kind == "belt":
            return self.accepts(target.lanes[self.near_lane(target, direction)])
        if target.kind in ("assembler", "furnace"):
            return item in RECIPES[target.recipe].inputs and target.inputs.get(item, 0) < INPUT_CAP
        return target.kind == "sink"

    def drop(self, target: Entity | None, item: str, direction: str) -> None:
        """Put an accepted item down."""
        assert target is not None, "only an accepted item is dropped"
        if target.kind == "belt":
            self.force(target, self.near_lane(target, direction), item)
        else:
            _add(target.consumed if target.kind == "sink" else target.inputs, item)

    def grab(self, origin: Entity | None, target: Entity | None, direction: str) -> str | None:
        """Take one item from the pickup tile, only where the drop tile would accept it now."""
        if origin is None or target is None:
            return None
        if origin.kind == "belt":
            return self.grab_from_belt(origin, target, direction)
        if origin.kind in ("assembler", "furnace") and origin.output:
            item = min(origin.output, key=INDEX.__getitem__)
            if self.would_accept(target, item, direction):
                _take(origin.output, item, 1)
                return item
        if origin.kind == "source" and self.would_accept(target, origin.item, direction):
            return origin.item
        return None

    def grab_from_belt(self, belt: Entity, target: Entity, direction: str) -> str | None:
        """A crafter gets what it has least of; anything else gets the far lane's head, or the near lane's behind it."""
        near = self.near_lane(belt, direction)
        heads = [lane for lane in (1 - near, near) if belt.lanes[lane]]
        if target.kind not in ("assembler", "furnace"):
            heads = heads[:1]  # a refused far head is not replaced by the near one
        wanted = [lane for lane in heads if self.would_accept(target, belt.lanes[lane][0][1], direction)]
        if not wanted:
            return None
        lane = min(wanted, key=lambda lane: self.need(target, belt.lanes[lane][0][1]))
        return belt.lanes[lane].pop(0)[1]

    def need(self, target: Entity, item: str) -> tuple[int, int]:
        """How badly a crafter wants an item, the smallest first: a furnace's coal, then what it holds least of."""
        return 0 if target.kind == "furnace" and item == "coal" else 1, target.inputs.get(item, 0)

    def run_belts(self) -> None:
        """All runs move, then belts that end at the side of another hand over."""
        for run in self.runs:
            for lane in (LEFT, RIGHT):
                self.compact(run, lane)
        for belt, target in self.side_loads:
            self.side_load(belt, target)

    def compact(self, run: list[Entity], lane: int) -> None:
        """Move each item forward by the speed of the tile it stands on, up to SPACING behind the item before it."""
        moved: list[Lane] = [[] for _ in run]
        floor = 0
        for index, belt in enumerate(run):
            shift = TILE * index - SPEED[belt.tier]
            for pos, item in belt.lanes[lane]:
                place = pos + shift if pos + shift > floor else floor
                floor = place + SPACING
                moved[place // TILE].append((place % TILE, item))
        for belt, items in zip(run, moved, strict=True):
            belt.lanes[lane] = items

    def side_load(self, belt: Entity, target: Entity) -> None:
        """Both lanes go onto the target's near lane, each at the place where it touches it."""
        for lane in (LEFT, RIGHT):
            items = belt.lanes[lane]
            near = self.near_lane(target, belt.dir)
            if items and items[0][0] == 0 and self.force(target, near, items[0][1], self.landing(belt, target, lane)):
                belt.lanes[lane].pop(0)

    def landing(self, belt: Entity, target: Entity, lane: int) -> int:
        """Where on the target's lane a side-loaded item lands."""
        side = side_of(belt.dir, lane)
        if side == OPPOSITE[target.dir]:
            return ENTRY
        return SPACING if side == target.dir else TILE // 2  # the middle: two belts head-on

    def splitter_ends(self, splitter: Entity, direction: str) -> list[Entity | None]:
        """The belts of the splitter's own facing in front of (or behind) its two halves."""
        belts = [self.belt_at(ahead(tile, direction)) for tile in splitter.tiles()]
        return [belt if belt is not None and belt.dir == splitter.dir else None for belt in belts]

    def run_splitter(self, splitter: Entity) -> None:
        """Each lane alternates between the outputs on its own; the input served first alternates every tick."""
        inputs = self.splitter_ends(splitter, OPPOSITE[splitter.dir])
        outputs = self.splitter_ends(splitter, splitter.dir)
        for lane in (LEFT, RIGHT):
            for side in (splitter.in_first, 1 - splitter.in_first):
                belt = inputs[side]
                if belt is None or not belt.lanes[lane] or belt.lanes[lane][0][0] != 0:
                    continue
                for chosen in (splitter.out_pref[lane], 1 - splitter.out_pref[lane]):
                    output = outputs[chosen]
                    if output is not None and self.force(output, lane, belt.lanes[lane][0][1]):
                        belt.lanes[lane].pop(0)
                        splitter.out_pref[lane] = 1 - chosen
                        break
        splitter.in_first = 1 - splitter.in_first

    def run_lane_splitter(self, splitter: Entity) -> None:
        """The left lane goes to the first output's left lane, the right lane to the second output's right lane."""
        belt = self.splitter_ends(splitter, OPPOSITE[splitter.dir])[0]
        for lane, output in enumerate(self.splitter_ends(splitter, splitter.dir)):
            if belt is None or output is None or not belt.lanes[lane] or belt.lanes[lane][0][0] != 0:
                continue
            if self.force(output, lane, belt.lanes[lane][0][1]):
                belt.lanes[lane].pop(0)

    def run_crafter(self, crafter: Entity) -> None:
        """Count down, deliver, and start the next craft in the tick that the last one ends."""
        recipe = RECIPES[crafter.recipe]
        item, amount = recipe.output
        if crafter.left > 1:
            crafter.left -= 1
            return
        if crafter.left == 1:
            _add(crafter.output, item, amount)
            crafter.left = 0
        fed = all(crafter.inputs.get(name, 0) >= need for name, need in recipe.inputs.items())
        if fed and crafter.output.get(item, 0) + amount <= OUTPUT_CAP:
            for name, need in recipe.inputs.items():
                _take(crafter.inputs, name, need)
            crafter.left = recipe.ticks

    def run_sink(self, sink: Entity) -> None:
        """Take what stands at the edge of every belt that points at the sink."""
        for direction in STEP:
            belt = self.belt_at(ahead(sink.tile, OPPOSITE[direction]))
            if belt is not None and belt.dir == direction:
                for items in belt.lanes:
                    while items and items[0][0] == 0:
                        _add(sink.consumed, items.pop(0)[1])

    # States

    def snapshot(self) -> dict[str, Any]:
        """The state after the ticks so far, as one object of the answer."""
        states = [state_of(entity, self.tick) for entity in self.entities]
        return {"tick": self.tick, "checksum": checksum(canonical_bytes(self.tick, states)), "entities": states}

    def future(self) -> list[Any]:
        """Everything that decides what happens next, except the sources' phases and what the sinks have counted."""
        return [
            (
                *([*entity.lanes[LEFT]], [*entity.lanes[RIGHT]], [*entity.out_pref], entity.in_first),
                *(entity.held, entity.left, dict(entity.inputs), dict(entity.output)),
            )
            for entity in self.entities
        ]
