"""Why: a state says where items are, not which is which; to glide, each item needs an identity from tick to tick.

The module's own states are what is drawn. The reference implementation only answers one question: of the items in this
state, which stands where in the next? It takes one step from the module's state with named items. Where its answer is
not the module's next state, the entity is noted as a fault of that tick, and the items there are paired by order.
"""

from __future__ import annotations

from typing import Any

from lattice_reference.scenario import Entity
from lattice_reference.state import state_of
from lattice_reference.tables import INDEX, LEFT, RIGHT, SWING, TILE

from .layout import Layout

__all__ = ["Motion"]

Lane = list[tuple[int, str]]
MOST_FAULTS = 400


class Item(str):
    """An item with a number of its own; to the rules it is the name that it equals."""

    __slots__ = ("number",)
    number: int


class Motion:
    """Follows items through successive states; `tokens` and `faults` are the result."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.world = layout, layout.world
        self.tokens: list[dict[str, Any]] = []
        self.faults: list[list[int]] = []
        self.frame = -1
        self._swings = set(layout.arm_paths.values())
        self._held: dict[int, tuple[int, int]] = {}  # by token of the last frame: its path and position

    def feed(self, tick: int, entities: list[dict[str, Any]]) -> None:
        """Take the next state, which must be that of the tick after the last one."""
        self.frame += 1
        guess = self._step() if self.frame else None
        if guess is not None:
            for number, (entity, told) in enumerate(zip(self.world.entities, entities, strict=True)):
                if len(self.faults) < MOST_FAULTS and _differs(state_of(entity, tick), told):
                    self.faults.append([self.frame, number])
        now: dict[int, tuple[int, int]] = {}
        for entity, told in zip(self.world.entities, entities, strict=True):
            self._load(entity, told, now)
        for number, (path, position) in self._held.items():
            if number not in now:
                self._end(number, path, position)
        self._held = now
        self.world.tick = tick

    def _step(self) -> bool | None:
        """Let the reference take one step; None where the module's state is one that the rules cannot go on from."""
        try:
            self.world.step()
        except (AssertionError, IndexError, KeyError, ValueError):
            return None
        return True

    def _load(self, entity: Entity, told: dict[str, Any], now: dict[int, tuple[int, int]]) -> None:
        """Put the module's state of one entity in the world's place, and note where its items are."""
        (body,) = told.values()
        if entity.kind == "belt":
            run, edge = self.layout.place[id(entity)]
            for lane, key in ((LEFT, "left"), (RIGHT, "right")):
                path = self.layout.run_paths[run][lane]
                paired = _pair(entity.lanes[lane], [(entry["pos"], entry["item"]) for entry in body[key]])
                entity.lanes[lane] = [
                    (pos, self._place(item, path, edge - pos, now, (id(entity), lane))) for pos, item in paired
                ]
        elif entity.kind == "inserter":
            entity.left, held = body["swing_left"], body.get("held")
            if held is not None:
                known = entity.held if entity.held == held and isinstance(entity.held, Item) else held
                held = self._place(known, self.layout.arm_paths[id(entity)], hand_of(body), now, None)
            entity.held = held
        elif entity.kind == "splitter":
            entity.out_pref, entity.in_first = [body["out_pref"] & 1, body["out_pref"] >> 1], body["in_first"]
        elif entity.kind == "sink":
            entity.consumed = dict(body["consumed"])
        elif entity.kind in ("assembler", "furnace"):
            entity.left, entity.inputs, entity.output = body["craft_left"], dict(body["inputs"]), dict(body["output"])

    def _place(
        self, item: str, path: int, position: int, now: dict[int, tuple[int, int]], belt: tuple[int, int] | None
    ) -> Item:
        if not isinstance(item, Item) or item.number in now:
            item = self._begin(item, belt)
        token, at = self.tokens[item.number], now.setdefault(item.number, (path, position))
        if not token["legs"] or token["legs"][-1][0] != path:
            token["legs"].append([path])
        token["legs"][-1].append(at[1])
        return item

    def _begin(self, name: str, belt: tuple[int, int] | None) -> Item:
        item = Item(name)
        item.number = len(self.tokens)
        token: dict[str, Any] = {"item": INDEX[name], "from": self.frame, "legs": []}
        origin = self.layout.source_paths.get(belt) if belt and self.frame else None
        if origin is not None:  # it glides out of its source
            token |= {"from": self.frame - 1, "born": True, "legs": [[origin, 0]]}
        self.tokens.append(token)
        return item

    def _end(self, number: int, path: int, position: int) -> None:
        """Let an item that went away glide to where it went: into the sink, or to the end of the arm's swing."""
        token = self.tokens[number]
        goal = TILE if path in self._swings else self.layout.drains.get(path, position)
        token["legs"][-1].append(goal)
        token["gone"] = True


def hand_of(body: dict[str, Any]) -> int:
    """Where an inserter's hand is on its path: 0 over the pickup tile, 256 over the drop tile."""
    left = min(body["swing_left"], SWING)
    share = SWING - left if body["phase"] == "swing" else left if body["phase"] == "return" else 0
    return TILE * share // SWING


def _pair(guessed: Lane, told: Lane) -> Lane:
    """The told items of a lane, each with the identity that the guess has for it.

    Where the two agree, as they do for a right engine, item by item; else by order, name and nearness.
    """
    if guessed == told:
        return guessed
    result, start = [], 0
    for pos, name in told:
        near = (i for i in range(start, len(guessed)) if guessed[i][1] == name and abs(guessed[i][0] - pos) < TILE)
        found = min(near, key=lambda i: abs(guessed[i][0] - pos), default=None)
        result.append((pos, name if found is None else guessed[found][1]))
        start = start if found is None else found + 1
    return result


def _differs(state: dict[str, Any], told: dict[str, Any]) -> bool:
    """Whether two states of an entity differ, zero counts aside."""
    return state != told and _bare(state) != _bare(told)


def _bare(state: dict[str, Any]) -> Any:
    return {
        key: {k: v for k, v in value.items() if v != 0} if isinstance(value, dict) else value
        for body in state.values()
        for key, value in body.items()
    }
