"""Why: what a chart shows is read from the scene that Vega draws of it, since a spec may say what is never drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import vl_convert

__all__ = ["Mark", "contrast", "length", "marks"]

_VL = "6.4"


@dataclass(frozen=True)
class Mark:
    """One layer as it is drawn: rect, rule, symbol, line or text, its items, and the titles in its tooltip."""

    kind: str
    items: list[dict[str, Any]]
    tips: tuple[str, ...]

    def said(self, at: int) -> dict[str, str]:
        """What an item tells, title by title: the lines of its tooltip, and its axes."""
        return dict(part.split(": ", 1) for part in self.items[at]["description"].split("; ") if ": " in part)

    def where(self, **values: Any) -> list[dict[str, Any]]:
        """The items that look so."""
        return [item for item in self.items if all(item.get(name) == value for name, value in values.items())]


def marks(chart: Any) -> list[Mark]:
    """The layers of a chart from back to front, without its axes, legends and titles."""
    spec = chart.to_dict()
    tips = {mark["name"]: _tips(mark) for mark in _vega(vl_convert.vegalite_to_vega(spec, vl_version=_VL))}
    found: dict[str, Mark] = {}
    for name, mark in _drawn(vl_convert.vegalite_to_scenegraph(spec, vl_version=_VL)["scenegraph"], tips):
        if name in found and mark.kind != "line":
            found[name].items.extend(mark.items)  # bars with round ends come in a group each
        else:
            found[name if name not in found else f"{name} {len(found)}"] = mark
    return list(found.values())


def _vega(group: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for mark in group.get("marks", []):
        yield from [mark] if "name" in mark else []
        yield from _vega(mark)


def _tips(mark: dict[str, Any]) -> tuple[str, ...]:
    told = mark.get("encode", {}).get("update", {}).get("tooltip", {})
    signal = told.get("signal", "") if isinstance(told, dict) else ""
    return tuple(re.findall(r'[{,] ?"([^"]+)": ', signal))


def _drawn(mark: dict[str, Any], tips: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, Mark]]:
    if mark.get("role") == "mark" and mark["marktype"] != "group":
        yield mark["name"], Mark(mark["marktype"], mark["items"], tips.get(mark["name"], ()))
    elif mark["marktype"] == "group" and mark.get("role") in ("frame", "scope", "mark", None, "pathgroup"):
        for group in mark["items"]:
            for inner in group.get("items", []):
                yield from _drawn(inner, tips)


def length(item: dict[str, Any]) -> float:
    """Pixels from the left end of a rule to its right one."""
    return abs(float(item.get("x2", item.get("x", 0))) - float(item.get("x", 0)))


def contrast(one: str, other: str) -> float:
    """How far apart two colours are, from 1 to 21, as the Web's rules for readable text count it."""
    light = sorted((_luminance(colour) for colour in (one, other)), reverse=True)
    return (light[0] + 0.05) / (light[1] + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
