"""Why: what a game file says about the state of a game is a comparison of named numbers, read once and checked often.

`health <= 0`, `mode == 2 and keys & 4 != 0`, `lives == 0 or mode == 7`: `and` binds closer than `or`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne

from evalkit.reading import Unfit, did_you_mean, printable
from evalkit.sandbox.pacer import FORMATS, Comparison, Condition, NumberType

__all__ = ["Rule", "Test", "Variable", "read_rule"]

_NUMBERS = {type_: struct.Struct(form) for type_, form in FORMATS.items()}
_TESTS = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_NUMBER = r"0x[0-9a-fA-F]+|\d+"
_TEST = re.compile(rf"\s*([A-Za-z_]\w*)\s*(?:&\s*({_NUMBER})\s*)?(==|!=|<=|>=|<|>)\s*(-?(?:{_NUMBER}))\s*")


@dataclass(frozen=True, slots=True)
class Variable:
    """A number in the game's page, little-endian; `description` is what it means, for who writes an agent."""

    name: str
    address: int
    type: NumberType
    description: str | None = None

    def read(self, memory: memoryview) -> int:
        """Its value now."""
        number: int = _NUMBERS[self.type].unpack_from(memory, self.address)[0]
        return number

    def bits(self, memory: memoryview) -> int:
        """The bits of its own width that are set now, as a number from 0."""
        return self.read(memory) & ((1 << 8 * _NUMBERS[self.type].size) - 1)


@dataclass(frozen=True, slots=True)
class Test:
    """`variable (& mask) comparison value`."""

    variable: Variable
    mask: int | None
    comparison: Comparison
    value: int

    def holds(self, memory: memoryview) -> bool:
        """Whether it is so now."""
        number = self.variable.read(memory)
        return bool(_TESTS[self.comparison](number if self.mask is None else number & self.mask, self.value))

    def condition(self) -> Condition:
        """As the console watches it; only a test without a mask can be."""
        return Condition(self.variable.address, self.variable.type, self.comparison, self.value)


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition: some group of tests of which all hold. `text` is how it was written."""

    text: str
    groups: tuple[tuple[Test, ...], ...]

    def holds(self, memory: memoryview) -> bool:
        """Whether it is so now."""
        return any(all(test.holds(memory) for test in group) for group in self.groups)

    @property
    def watchable(self) -> bool:
        """Whether the console can stop at the very tick: comparisons without a mask, joined by `or` alone."""
        return all(len(group) == 1 and group[0].mask is None for group in self.groups)


def read_rule(text: str, variables: Mapping[str, Variable]) -> Rule:
    """Read a condition. Raises Unfit where it makes no sense or names an unknown variable."""
    groups = tuple(
        tuple(_test(part, variables) for part in re.split(r"\band\b", group)) for group in re.split(r"\bor\b", text)
    )
    return Rule(" ".join(text.split()), groups)


def _test(text: str, variables: Mapping[str, Variable]) -> Test:
    found = _TEST.fullmatch(text)
    if found is None:
        raise Unfit(f'"{printable(text.strip())}" is no comparison: write one such as health <= 0 or keys & 4 != 0')
    name, mask, comparison, value = found.groups()
    if name not in variables:
        raise Unfit(f'there is no variable "{name}"{did_you_mean(name, variables) or ": add it under [variables]"}')
    number = int(value, 0)
    if not -(1 << 31) <= number < 1 << 32:
        raise Unfit(f'"{printable(value)}" fits no 32 bits')
    return Test(variables[name], None if mask is None else int(mask, 0) & 0xFFFFFFFF, comparison, number)  # type: ignore[arg-type]  # the pattern allows those six
