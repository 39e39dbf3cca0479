"""Why: one way to read a TOML file a person wrote, so that a single pass reports everything that is wrong with it.

Nothing here knows what a case or a season is. A reader opens a file with `read_toml` and takes typed values out of the
`Table` it gets; whatever does not fit becomes a `Fault` in the shared `Faults`, and a blank value stands in so that
reading goes on. `Table.finish` reports the keys that nobody took. Every fault's text is one printable line, whatever
characters the file holds, so that it is safe on a terminal::

    faults = Faults()
    if table := read_toml(folder / "season.toml", "season.toml", faults):
        slug = table.take("slug", SLUG)
        ticks = table.take("tick_limit", integer(1), 36_000)
        table.finish()
    faults.raise_errors()
"""

from evalkit.reading.kinds import (
    BOOLEAN,
    LINE,
    SLUG,
    TEXT,
    Kind,
    Unfit,
    at_most,
    choice,
    describe,
    did_you_mean,
    file_in,
    folder_in,
    integer,
    list_of,
    number,
    path_in,
    printable,
)
from evalkit.reading.table import Faults, Table, read_bytes, read_toml

__all__ = [
    "BOOLEAN",
    "LINE",
    "SLUG",
    "TEXT",
    "Faults",
    "Kind",
    "Table",
    "Unfit",
    "at_most",
    "choice",
    "describe",
    "did_you_mean",
    "file_in",
    "folder_in",
    "integer",
    "list_of",
    "number",
    "path_in",
    "printable",
    "read_bytes",
    "read_toml",
]
