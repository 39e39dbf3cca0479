"""Why: the fixed figures, items, recipes and directions of the rules, in one place for the oracle and the generator."""

from __future__ import annotations

from dataclasses import dataclass

Tile = tuple[int, int]
"""A place on the grid: x grows east, y grows south."""

TILE = 256
SPACING = 64
ENTRY = TILE - SPACING
SWING = 8
INPUT_CAP = 8
OUTPUT_CAP = 8
SPEED = {"slow": 32, "fast": 64, "express": 96}
ITEMS = (
    *("iron-ore", "iron-plate", "iron-gear", "copper-ore", "copper-plate", "copper-cable", "circuit"),
    *("transport-belt", "fast-transport-belt", "express-transport-belt"),
    *("assembler", "fast-assembler", "express-assembler", "inserter", "fast-inserter", "express-inserter", "coal"),
)
INDEX = {name: index for index, name in enumerate(ITEMS)}
STEP = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0)}
OPPOSITE = {"N": "S", "S": "N", "E": "W", "W": "E"}
LEFT_SIDE = {"E": "N", "N": "W", "W": "S", "S": "E"}
LEFT, RIGHT = 0, 1
LANES = {"left": (LEFT,), "right": (RIGHT,), "both": (LEFT, RIGHT)}


@dataclass(frozen=True)
class Recipe:
    """What one craft takes and gives, in how many ticks, and on which kind of crafter."""

    kind: str
    inputs: dict[str, int]
    output: tuple[str, int]
    ticks: int


RECIPES = {
    "iron-plate": Recipe("furnace", {"iron-ore": 1, "coal": 1}, ("iron-plate", 1), 32),
    "copper-plate": Recipe("furnace", {"copper-ore": 1, "coal": 1}, ("copper-plate", 1), 32),
    "iron-gear": Recipe("assembler", {"iron-plate": 2}, ("iron-gear", 1), 64),
    "copper-cable": Recipe("assembler", {"copper-plate": 1}, ("copper-cable", 2), 32),
    "circuit": Recipe("assembler", {"iron-plate": 1, "copper-cable": 3}, ("circuit", 1), 96),
    "transport-belt": Recipe("assembler", {"iron-plate": 1, "iron-gear": 1}, ("transport-belt", 2), 48),
    "inserter": Recipe("assembler", {"iron-gear": 1, "circuit": 1}, ("inserter", 1), 64),
    "assembler": Recipe("assembler", {"transport-belt": 2, "circuit": 1}, ("assembler", 1), 96),
}


def ahead(tile: Tile, direction: str) -> Tile:
    """The tile one step from `tile`."""
    return tile[0] + STEP[direction][0], tile[1] + STEP[direction][1]


def side_of(direction: str, lane: int) -> str:
    """The compass side on which a lane of a belt facing `direction` lies."""
    return LEFT_SIDE[direction] if lane == LEFT else OPPOSITE[LEFT_SIDE[direction]]
