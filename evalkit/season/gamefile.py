"""Why: `game.toml` is read here, once, into a `Game`: with it, a cart that knows nothing of this kit is a level.

::

    module = "game.wasm"                 # shipped here, or left here by [build]; what is built states its digest too
    [boot]                               # the disk that the game reads as it starts; optional
    disk = "45564b31 00000000"
    level = { at = 4, type = "u8", values = { dam = 0, facility = 1 } }
    difficulty = { at = 5, values = { easy = 0, hard = 1 } }
    cheats = { invincible = { at = 6, value = 1 } }         # bits that are or-ed in
    [variables]                          # u8 (the default), i8, u16, i16, u32, i32; little-endian
    mode = { address = 0x8000 }
    ammo = { address = 0x8012, type = "u16", description = "rounds left" }       # what a participant is told of it
    [status]                             # `or` of comparisons; `playing` may be anything a `when` may be
    playing = "mode == 1"
    completed = "mode == 2"
    died = "mode == 3"
    failed = "mode == 4"
    objectives = { done = "taken", total = "wanted", form = "bits" }     # or "count", or a list of conditions
    [observation]
    variables = ["ammo"]
    picture = true
    [actions.shoot]                      # no two actions hold the same buttons: an input names one action
    buttons = ["x"]
    ticks = [4, 8]
    when = "ammo > 0 and mode == 1"
"""

from __future__ import annotations

import hashlib
import re
import struct
from pathlib import Path
from typing import Any

from evalkit.building.commands import COMMAND, Build
from evalkit.reading import (
    BOOLEAN,
    LINE,
    Faults,
    Kind,
    Table,
    Unfit,
    choice,
    describe,
    did_you_mean,
    file_in,
    integer,
    list_of,
    path_in,
    printable,
    read_bytes,
    read_toml,
)
from evalkit.sandbox.cart import MAX_CART_BYTES
from evalkit.sandbox.pacer import DISK_BYTES, FORMATS, MAX_CONDITIONS, PAGE
from evalkit.season.conditions import Rule, Variable, read_rule
from evalkit.season.game import BUTTONS, MOST_NAME, ActionRule, Boot, BootField, Game, Objectives, Status

__all__ = ["GAME", "read_game"]

GAME = "game.toml"
MOST_TICKS = 3600
"""A decision of more than a minute is no turn."""

_NAME = r"[A-Za-z_]\w*"
_NO_RULE = Rule("", ())
_NO_VARIABLE = Variable("", 0, "u8")
_TYPE: Kind[Any] = choice(*FORMATS)
_ADDRESS = integer(0, PAGE - 1)
_ANYTHING: Kind[Any] = Kind(lambda value: value, None, "")


def _hex(most: int) -> Kind[bytes]:
    def read(value: Any) -> bytes:
        if not isinstance(value, str):
            raise Unfit(f"must be hex digits in quotes, not {describe(value)}")
        try:
            data = bytes.fromhex(value)
        except ValueError:
            raise Unfit('must be hex digits in quotes, two a byte, such as "00 ff 10"') from None
        if len(data) > most:
            raise Unfit(f"has {len(data):,} bytes, more than {most:,}")
        return data

    return Kind(read, b"", '"00"')


def _digest(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
        raise Unfit(f"must be 64 lower-case hex digits, not {describe(value)}")
    return value


DIGEST: Kind[str] = Kind(_digest, "", '"the SHA-256 of the module"')


def read_game(root: Path, prefix: str, faults: Faults) -> Game | None:
    """Read `root/game.toml`; None where there is no such TOML file. `prefix` leads its name in messages."""
    file = f"{prefix}{GAME}"
    table = read_toml(root / GAME, file, faults)
    if table is None:
        return None
    game = _Reader(root, prefix, table, faults).game()
    table.finish()
    return game


class _Reader:
    """Reads one game file key by key; where one is wrong, the game holds a blank and the faults say why."""

    def __init__(self, root: Path, prefix: str, table: Table, faults: Faults) -> None:
        self.root, self.prefix, self.table, self.faults = root, prefix, table, faults
        self.variables: dict[str, Variable] = {}
        self.rule: Kind[Rule] = Kind(self._rule, _NO_RULE, '"mode == 2"')
        self.variable: Kind[Variable] = Kind(self._variable, _NO_VARIABLE, '"score"')

    def game(self) -> Game:
        name = self.table.take("name", LINE, self.root.name)
        build, module, digest = self.module()
        self.read_variables()
        observed, picture = self.observation()
        data = read_bytes(self.root / GAME, f"{self.prefix}{GAME}", Faults()) or b""
        return Game(
            root=self.root,
            name=name,
            module=module,
            build=build,
            digest=digest,
            file_digest=hashlib.sha256(data).hexdigest(),
            boot=self.boot(),
            variables=self.variables,
            status=self.status(),
            observed=observed,
            picture=picture,
            actions=self.actions(),
        )

    def module(self) -> tuple[Build | None, str, str]:
        given = self.table.take("digest", DIGEST, None)
        if "build" in self.table:
            table = self.table.table("build")
            module = self.table.take("module", path_in(self.root))
            if table is None:
                return None, module, given or ""
            build = Build(table.take("install", COMMAND, None), table.take("build", COMMAND), module)
            return build, module, given or ""
        path = self.table.take("module", file_in(self.root))
        if path == self.root:  # a blank stands for a file whose absence is already a fault
            return None, "", ""
        name = path.relative_to(self.root).as_posix()
        data = read_bytes(path, f"{self.prefix}{name}", self.faults, MAX_CART_BYTES) or b""
        found = hashlib.sha256(data).hexdigest()
        if given is not None and data and given != found:
            self.table.error("digest", f"the module {name} is another: its digest is {found}")
        return None, name, found

    def read_variables(self) -> None:
        table = self.table.table("variables")
        if table is None:
            if "variables" not in self.table:
                self.table.error("variables", "is missing: add [variables] with lines such as x = { address = 0x19a0 }")
            return
        names = table.keys()
        for name in names:
            row = table.table(name)
            if row is None:
                continue
            if not re.fullmatch(_NAME, name):
                table.error(name, "is no name of a variable: use letters, digits and underscores")
            form: Any = row.take("type", _TYPE, "u8")
            variable = Variable(name, row.take("address", _ADDRESS), form, row.take("description", LINE, None))
            if variable.address > PAGE - struct.calcsize(FORMATS[variable.type]):
                row.error("address", f"{variable.address:#x}: its {variable.type} ends outside of the game's page")
                variable = Variable(name, 0, form)
            self.variables[name] = variable

    def _rule(self, value: Any) -> Rule:
        return read_rule(LINE.read(value), self.variables)

    def _variable(self, value: Any) -> Variable:
        name = LINE.read(value)
        if name not in self.variables:
            near = did_you_mean(name, self.variables) or ": add it under [variables]"
            raise Unfit(f'there is no variable "{printable(name)}"{near}')
        return self.variables[name]

    def observation(self) -> tuple[tuple[Variable, ...], bool]:
        table = self.table.table("observation")
        if table is None:
            if "observation" not in self.table:
                self.table.error("observation", "is missing: add [observation] with variables = [] that agents see")
            return (), False
        return table.take("variables", list_of(self.variable)), table.take("picture", BOOLEAN, False)

    def boot(self) -> Boot:
        table = self.table.table("boot")
        if table is None:
            return Boot()
        template = table.take("disk", _hex(DISK_BYTES), b"")
        level, difficulty = (self.boot_field(table.table(key), template) for key in ("level", "difficulty"))
        cheats: dict[str, BootField] = {}
        if (rows := table.table("cheats")) is not None:
            names = rows.keys()
            for name in names:
                if len(name) > MOST_NAME or not name.strip():  # a replay names it
                    rows.error(f'"{name[:40]}"', f"is no name of a cheat: use 1 to {MOST_NAME} characters")
                if (row := rows.table(name)) is not None:
                    field = self.place(row, template)
                    cheats[name] = BootField(*field, {name: row.take("value", self.fitting(field[1]), 1)})
        return Boot(template, level, difficulty, cheats)

    def boot_field(self, row: Table | None, template: bytes) -> BootField | None:
        if row is None:
            return None
        at, type_ = self.place(row, template)
        values: dict[str, int] = {}
        words = row.table("values")
        if words is None or not words.keys():
            if words is not None or "values" not in row:
                row.error("values", "is missing: add values = { a-word = 0 }")
        else:
            known = words.keys()
            values = {word: words.take(word, self.fitting(type_)) for word in known}
        return BootField(at, type_, values)

    def place(self, row: Table, template: bytes) -> tuple[int, Any]:
        type_: Any = row.take("type", _TYPE, "u8")
        at = row.take("at", integer(0, DISK_BYTES))
        if at + struct.calcsize(FORMATS[type_]) > len(template):
            row.error("at", f"{at} and its {type_} lie outside of the {len(template)} bytes of boot.disk")
            return 0, type_
        return at, type_

    def fitting(self, type_: str) -> Kind[int]:
        bits = int(type_[1:])
        return integer(0, 2**bits - 1) if type_[0] == "u" else integer(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    def status(self) -> Status:
        table = self.table.table("status")
        nothing = Status(completed=_NO_RULE, objectives=Objectives())
        if table is None:
            if "status" not in self.table:
                self.table.error("status", 'is missing: add [status] with completed = "mode == 2" and objectives')
            return nothing
        optional = {word: table.take(word, self.rule, None) for word in ("playing", "died", "failed")}
        status = Status(completed=table.take("completed", self.rule), objectives=self.objectives(table), **optional)
        for word, rule in status.endings():
            if not rule.watchable:
                table.error(word, "must be comparisons without a mask, joined by or: the console stops at one of them")
        if (watched := sum(len(rule.groups) for _, rule in status.endings())) > MAX_CONDITIONS:
            table.error("", f"its endings are {watched} comparisons, and the console watches at most {MAX_CONDITIONS}")
        return status

    def objectives(self, table: Table) -> Objectives:
        if not isinstance(table.take("objectives", _ANYTHING, None), dict):
            return Objectives(rules=table.take("objectives", list_of(self.rule, least=1)))
        total: Kind[Variable | int] = Kind(self._total, 1, '"total"')
        row = table.table("objectives")
        assert row is not None
        return Objectives(
            done=row.take("done", self.variable),
            total=row.take("total", total),
            bits=row.take("form", choice("count", "bits")) == "bits",
        )

    def _total(self, value: Any) -> Variable | int:
        return integer(1, 2**32 - 1).read(value) if isinstance(value, int) else self._variable(value)

    def actions(self) -> dict[str, ActionRule]:
        table = self.table.table("actions")
        if table is None or not table.keys():
            if table is not None or "actions" not in self.table:
                self.table.error("actions", "is missing: add [actions.wait] with ticks = [30], and what else there is")
            return {}
        found: dict[str, ActionRule] = {}
        pads: dict[int, str] = {}
        names = table.keys()
        for name in names:
            row = table.table(name)
            if row is None:
                continue
            if not re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", name) or len(name) > MOST_NAME:
                why = f"use lower-case letters and digits, joined by hyphens, {MOST_NAME} at most"
                table.error(name[:60], f"is no name of an action: {why}")
            known = len(self.faults.errors())
            buttons: tuple[str, ...] = row.take("buttons", list_of(choice(*BUTTONS)), ())
            pad = sum(BUTTONS[button] for button in set(buttons))
            if pad in pads and len(self.faults.errors()) == known:
                row.error("buttons", f"are those of {pads[pad]}: a pad must name one action")
            pads.setdefault(pad, name)
            ticks: tuple[int, ...] = row.take("ticks", list_of(integer(1, MOST_TICKS), least=1))
            if len(set(ticks)) < len(ticks):
                row.error("ticks", "names one number twice")
            found[name] = ActionRule(
                name=name,
                pad=pad,
                ticks=tuple(sorted(ticks)),
                when=row.take("when", self.rule, None),
                description=row.take("description", LINE, None),
            )
        return found
