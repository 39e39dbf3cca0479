"""Why: what a call costs is computed from its tokens, by the price of its model on the day of its run.

A new price goes into `data/prices.toml` (or the file that EVALKIT_PRICES names), and comes before `genai-prices`::

    [[price]]
    model = "my-model"                   # as the agent's file names it
    input = 0.50                         # dollars per million tokens
    cached = 0.05                        # of input found in a cache; left out: as input
    output = 2.00                        # reasoning is output

Calls are priced one by one: a sum of tokens has no price, as steps and dates make two calls cost other than one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from evalkit.errors import UsageError
from evalkit.project import data_dir
from evalkit.reading import LINE, Faults, number, read_toml

__all__ = ["Cost", "Price", "Prices", "Tokens", "load_prices"]

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """Of one call or of many: `cached` is a part of `input`, `reasoning` a part of `output`."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """Input and output."""
        return self.input + self.output

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens."""

    input: float
    cached: float
    output: float


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars of one call, whose price it was, and the provider where one is known."""

    dollars: float
    source: str
    provider: str | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """Private prices by model, named by their file and its digest; behind them stands `genai-prices`."""

    private: Mapping[str, Price] = field(default_factory=dict)
    source: str = ""

    def cost(
        self, tokens: Tokens, model: str, *, provider: str | None, base_url: str | None, when: datetime
    ) -> Cost | None:
        """What one call costs; None where no price is known: a model's name alone does not tell who charges for it."""
        if (price := self.private.get(model)) is not None:
            fresh = tokens.input - tokens.cached
            micro = fresh * price.input + tokens.cached * price.cached + tokens.output * price.output
            return Cost(micro / MILLION, self.source, provider)
        if provider is None and not base_url:
            return None
        try:
            import genai_prices
        except ImportError:
            raise UsageError("prices need genai-prices: pip install evalkit[models]") from None
        usage = genai_prices.Usage(
            input_tokens=tokens.input, cache_read_tokens=tokens.cached, output_tokens=tokens.output
        )
        try:
            if provider is not None:
                found = genai_prices.calc_price(usage, model, provider_id=provider, genai_request_timestamp=when)
            else:
                found = genai_prices.calc_price(usage, model, provider_api_url=base_url, genai_request_timestamp=when)
        except (LookupError, ValueError):  # no such provider or model, or a price with more parts than tokens tell
            return None
        return Cost(float(found.total_price), f"genai-prices {genai_prices.__version__}", found.provider.id)


def load_prices(path: Path | str | None = None) -> Prices:
    """The private prices of a file; by default of EVALKIT_PRICES, else of `data/prices.toml`, which need not be there.

    Raises AuthoringError with every fault of the file.
    """
    named = path or os.environ.get("EVALKIT_PRICES")
    file = Path(named) if named else data_dir() / "prices.toml"
    if not named and not file.exists():
        return Prices()
    faults = Faults()
    private: dict[str, Price] = {}
    if table := read_toml(file, file.name, faults):
        for row in table.tables("price"):
            model, fresh = row.take("model", LINE), row.take("input", number(0))
            if model in private:
                row.error("model", "has a price already")
            private[model] = Price(fresh, row.take("cached", number(0), fresh), row.take("output", number(0)))
        table.finish()
    faults.raise_errors()
    return Prices(private, f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()[:16]}")
