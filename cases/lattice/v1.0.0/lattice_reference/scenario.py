"""Why: a scenario is checked and turned into entities once, so that the simulation never meets a bad one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .tables import INDEX, LANES, RECIPES, SPEED, STEP, Tile

__all__ = ["Entity", "Lane", "read_scenario"]

Lane = list[tuple[int, str]]
"""The items of one lane of one belt tile as (position, item), the one furthest downstream first."""

FIELDS = {
    "belt": ("dir", "tier"),
    "splitter": ("dir",),
    "inserter": ("dir",),
    "assembler": ("recipe",),
    "source": ("dir", "item", "lane", "period"),
    "sink": ("dir",),
    "furnace": ("recipe",),
    "lane-splitter": ("dir",),
}
"""The fields of each kind of entity beside `x` and `y`, in the order of the kind tags."""

CHOICES: dict[str, Any] = {"dir": STEP, "tier": SPEED, "recipe": RECIPES, "item": INDEX, "lane": LANES}


@dataclass(eq=False)
class Entity:
    """One placed thing. `kind` is its type in the scenario, `dir` is empty where a crafter has none."""

    kind: str
    tile: Tile
    dir: str = ""
    tier: str = ""
    recipe: str = ""
    item: str = ""
    lane: str = ""
    period: int = 1
    # State. Each kind uses its own few; a count of 0 is never kept.
    lanes: list[Lane] = field(default_factory=lambda: [[], []])
    out_pref: list[int] = field(default_factory=lambda: [0, 0])
    in_first: int = 0
    held: str | None = None
    left: int = 0  # an inserter's counter, or a crafter's remaining ticks
    inputs: dict[str, int] = field(default_factory=dict)
    output: dict[str, int] = field(default_factory=dict)
    consumed: dict[str, int] = field(default_factory=dict)

    def tiles(self) -> list[Tile]:
        """Every tile it covers, the anchor first."""
        x, y = self.tile
        if self.kind in ("splitter", "lane-splitter"):
            return [(x, y), (x, y + 1) if self.dir in "EW" else (x + 1, y)]
        side = {"assembler": 3, "furnace": 2}.get(self.kind, 1)
        return [(x + dx, y + dy) for dy in range(side) for dx in range(side)]


def read_scenario(scenario: Any) -> list[Entity]:
    """Return the entities in placement order. Raises ValueError where the scenario breaks a rule."""
    top = _object(scenario, "the scenario", ("version", "grid", "ticks", "snapshots", "entities"))
    grid = _object(top["grid"], "grid", ("width", "height"))
    if _integer(top["version"], "version") != 1:
        raise ValueError("version: only version 1 is known")
    width, height = (_integer(grid[key], f"grid.{key}", least=1) for key in ("width", "height"))
    ticks = _integer(top["ticks"], "ticks", least=0)
    previous = 0
    for tick in _list(top["snapshots"], "snapshots"):
        if not previous < _integer(tick, "snapshots") <= ticks:
            raise ValueError(f"snapshots: {tick} is not above the one before it, or not within 1..{ticks}")
        previous = tick
    if previous == 0:
        raise ValueError("snapshots: at least one is needed")
    entities = []
    for number, data in enumerate(_list(top["entities"], "entities")):
        entity = _read_entity(data, f"entities[{number}]")
        if not (0 <= entity.tile[0] < width and 0 <= entity.tile[1] < height):
            raise ValueError(f"entities[{number}]: the anchor {entity.tile} is outside the grid")
        entities.append(entity)
    return entities


def _read_entity(data: Any, where: str) -> Entity:
    if not isinstance(data, dict) or data.get("type") not in [*FIELDS]:
        raise ValueError(f"{where}: not an entity of a known type")
    kind = data["type"]
    values: dict[str, Any] = {}
    for key in ("x", "y", *FIELDS[kind]):
        if key not in data:
            raise ValueError(f"{where}: {key} is missing")
        if key in CHOICES:
            if not isinstance(data[key], str) or data[key] not in CHOICES[key]:
                raise ValueError(f"{where}: {key} {data[key]!r} is unknown")
        else:
            _integer(data[key], f"{where}.{key}", least=1 if key == "period" else None)
        values[key] = data[key]
    if "recipe" in values and RECIPES[values["recipe"]].kind != kind:
        raise ValueError(f"{where}: the recipe {values['recipe']} does not run on a {kind}")
    return Entity(kind=kind, tile=(values.pop("x"), values.pop("y")), **values)


def _object(value: Any, where: str, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(keys):
        raise ValueError(f"{where}: must be an object with exactly the keys {', '.join(keys)}")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{where}: must be a list")
    return value


def _integer(value: Any, where: str, least: int | None = None) -> int:
    if type(value) is not int or (least is not None and value < least):
        raise ValueError(
            f"{where}: {value!r} is not a whole number" + ("" if least is None else f" of at least {least}")
        )
    return value
