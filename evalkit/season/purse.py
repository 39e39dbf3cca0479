"""Why: the runs of a sweep are many processes, and one dollar cap holds for all of them together."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Purse"]


@dataclass(frozen=True, slots=True)
class Purse:
    """What runs on one machine may spend together: a cap in dollars, and a file that adds up what they say they spent.

    A run asks before each call and pays after it, so each run in flight can overshoot by the one call that it was
    making when another reached the cap.
    """

    path: Path
    cap: float

    def pay(self, dollars: float) -> float:
        """Add to what was spent, and return all of it."""
        with closing(sqlite3.connect(self.path, timeout=60, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("CREATE TABLE IF NOT EXISTS payments (dollars REAL NOT NULL)")
            if dollars:
                connection.execute("INSERT INTO payments VALUES (?)", (dollars,))
            total: float = connection.execute("SELECT total(dollars) FROM payments").fetchone()[0]
            connection.execute("COMMIT")
        return total

    @property
    def spent(self) -> float:
        """Dollars spent so far."""
        return self.pay(0.0)

    def empty(self) -> str | None:
        """In a line that nothing more may be spent; None where something may."""
        spent = self.spent
        said = f"the sweep's cap of {self.cap:g} dollars is spent ({spent:.4f} by all its runs): sweep again to go on"
        return said if spent >= self.cap else None
