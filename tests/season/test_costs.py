"""What calls cost: priced one by one, by the price of the day; unknown is unknown; and no cap is passed by more."""

from __future__ import annotations

import math
import multiprocessing
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import AuthoringError, UsageError
from evalkit.season import load_season, play, standings
from evalkit.season.agents.prices import Price, Prices, Tokens, load_prices
from evalkit.season.pareto import front
from evalkit.season.purse import Purse
from evalkit.season.season import Season
from tests.season.modelwork import A_CALL, KEY, PRICES, Server, act, model_file, serving
from tests.season.seasonwork import make_season
from tests.season.test_season_store import run

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def dollars(tokens: Tokens, model: str, when: datetime = DAY, **place: str | None) -> float | None:
    place = {"provider": None, "base_url": None, **place}
    cost = Prices().cost(tokens, model, when=when, **place)  # type: ignore[arg-type]
    return None if cost is None else cost.dollars


class TestPrices:
    def test_the_public_table_prices_input_cached_and_output_and_says_which_version_it_is(self) -> None:
        tokens = Tokens(input=1_000_000, cached=400_000, output=100_000, reasoning=90_000)
        cost = Prices().cost(tokens, "gpt-5-mini", provider="openai", base_url=None, when=DAY)
        assert cost is not None and cost.dollars == pytest.approx(0.6 * 0.25 + 0.4 * 0.025 + 0.1 * 2.0)
        assert cost.source == f"genai-prices {version('genai-prices')}" and cost.provider == "openai"

    def test_a_call_is_priced_by_the_day_of_its_run(self) -> None:
        tokens = Tokens(input=300_000, output=1000)
        then, later = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 4))
        before = dollars(tokens, "claude-sonnet-4-6", then, provider="anthropic")
        after = dollars(tokens, "claude-sonnet-4-6", later, provider="anthropic")
        assert before is not None and after is not None and before > after

    def test_calls_are_priced_one_by_one_as_a_sum_of_tokens_costs_other_than_its_parts(self) -> None:
        one = dollars(Tokens(150_000, 0, 1, 0), "gemini-2.5-pro", provider="google")
        both = dollars(Tokens(300_000, 0, 2, 0), "gemini-2.5-pro", provider="google")
        assert one is not None and both is not None and both > 2 * one * 1.5

    @pytest.mark.parametrize(
        ("model", "place"),
        [
            ("gpt-5-mini", {}),
            ("gpt-5-mini", {"base_url": "http://127.0.0.1:8000/v1"}),
            ("a-model-of-ours", {"base_url": "https://api.openai.com/v1"}),
            ("gpt-5-mini", {"provider": "nobody"}),
        ],
    )
    def test_what_nobody_is_known_to_charge_for_has_no_price(self, model: str, place: dict[str, str]) -> None:
        assert dollars(Tokens(1, 0, 1, 0), model, **place) is None

    def test_the_address_tells_the_provider(self) -> None:
        assert dollars(Tokens(10**6, 0, 0, 0), "gpt-5-mini", base_url="https://api.openai.com/v1") == 0.25

    def test_private_prices_come_first_and_cached_input_costs_as_input_where_they_do_not_say(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "prices.toml"
        path.write_text(PRICES + '[[price]]\nmodel = "gpt-5-mini"\ninput = 2\noutput = 4\n')
        prices = load_prices(path)
        cost = prices.cost(Tokens(10**6, 500_000, 10**6, 0), "gpt-5-mini", provider="openai", base_url=None, when=DAY)
        assert cost is not None and cost.dollars == 6.0
        assert cost.source.startswith("prices.toml ") and len(cost.source) == len("prices.toml ") + 16
        assert prices.private["test-model"] == Price(10.0, 1.0, 100.0)

    def test_every_fault_of_a_table_of_prices_is_said_at_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "prices.toml"
        path.write_text(PRICES * 2 + '[[price]]\nmodel = "m"\ninput = -1\n')
        with pytest.raises(AuthoringError) as wrong:
            load_prices(path)
        assert {str(fault).partition(": ")[2] for fault in wrong.value.faults} == {
            "price#2.model: has a price already",
            "price#3.input: must be at least 0, not -1",
            "price#3.output: is missing: add output = 0",
        }
        monkeypatch.setenv("EVALKIT_PRICES", str(tmp_path / "none.toml"))
        with pytest.raises(AuthoringError, match="is missing"):
            load_prices()
        monkeypatch.delenv("EVALKIT_PRICES")
        monkeypatch.chdir(tmp_path)
        assert load_prices() == Prices()


class TestTotals:
    def test_a_total_that_holds_an_unpriced_run_is_incomplete_and_of_unpriced_ones_unknown(
        self, tmp_path: Path
    ) -> None:
        season = load_season(make_season(tmp_path))
        runs = [
            run(season_digest=season.digest, agent=agent, seed=seed, dollars=cost, tokens=tokens)
            for agent, seed, cost, tokens in [
                ("part", 0, 1.5, 10), ("part", 1, None, 20), ("none", 0, None, None), ("whole", 0, 1.0, 1),
                ("whole", 1, 0.25, 2),
            ]
        ]  # fmt: skip
        rows = {row.agent: (row.tokens, row.dollars, row.dollars_complete) for row in standings(runs, season)}
        assert rows == {"part": (30, 1.5, False), "none": (None, None, False), "whole": (3, 1.25, True)}


costs = st.lists(st.tuples(st.integers(0, 5).map(float), st.none() | st.integers(0, 5).map(float)), max_size=12)


class TestFront:
    def test_the_front_is_of_known_costs_alone_and_equal_rows_share_it(self) -> None:
        scores = [50.0, 50.0, 60.0, 40.0, 99.0, 60.0]
        assert front(scores, [1.0, 1.0, 2.0, 1.0, None, 3.0]) == [True, True, True, False, False, False]

    def test_it_is_computed_before_rounding(self) -> None:
        assert front([50.0001, 50.0002], [1.0, 1.0]) == [False, True]
        assert front([50.0, 50.0], [1.0000001, 1.0]) == [False, True]

    @given(costs)
    def test_a_row_is_on_it_exactly_where_no_other_dominates_it(self, rows: list[tuple[float, float | None]]) -> None:
        found = front([s for s, _ in rows], [c for _, c in rows])
        known = [(s, c) for s, c in rows if c is not None]
        for (score, cost), on in zip(rows, found, strict=True):
            beaten = cost is not None and any((s > score and c <= cost) or (s >= score and c < cost) for s, c in known)
            assert on is (cost is not None and not beaten)
        assert any(found) is bool(known)

    def test_what_cannot_be_compared_is_refused(self) -> None:
        for bad in ([math.nan], [math.inf]):
            with pytest.raises(ValueError):
                front(bad, [1.0])
        with pytest.raises(ValueError):
            front([1.0], [])


def _pays(purse: Purse) -> None:
    for _ in range(50):
        purse.pay(0.5)


class TestPurse:
    def test_payments_of_many_processes_add_up(self, tmp_path: Path) -> None:
        purse = Purse(tmp_path / "purse", 60.0)
        assert (purse.spent, purse.empty()) == (0.0, None)
        others = [multiprocessing.get_context("spawn").Process(target=_pays, args=(purse,)) for _ in range(2)]
        for other in others:
            other.start()
        _pays(purse)
        for other in others:
            other.join()
        assert purse.spent == 75.0 and "cap of 60 dollars is spent (75.0000" in str(purse.empty())


class TestCaps:
    @pytest.fixture
    def season(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Season:
        monkeypatch.setenv("TEST_MODEL_KEY", KEY)
        (tmp_path / "prices.toml").write_text(PRICES)
        monkeypatch.setenv("EVALKIT_PRICES", str(tmp_path / "prices.toml"))
        return load_season(make_season(tmp_path))

    @pytest.fixture
    def server(self) -> Server:  # type: ignore[misc]
        with serving() as running:
            yield running

    def test_a_run_ends_after_the_call_that_reached_its_cap_also_within_a_decision(
        self, season: Season, server: Server, tmp_path: Path
    ) -> None:
        agent = f"model:{model_file(tmp_path, server.url)}"
        played = play(season, level="hall", seed=0, agent=agent, dollar_cap=2.5 * A_CALL)
        assert (played.run.ended_by, played.run.decisions, len(server.bodies)) == ("dollar_cap", 2, 3)
        assert (played.run.dollars, played.run.dollar_cap) == (pytest.approx(3 * A_CALL), 2.5 * A_CALL)
        played.run.validate()
        server.bodies.clear()
        server.default = lambda request: act("fly 1")
        run_ = play(season, level="hall", seed=0, agent=agent, dollar_cap=1.5 * A_CALL, attempt=2).run
        assert (run_.ended_by, run_.decisions, len(server.bodies)) == ("dollar_cap", 0, 2)
        assert run_.provenance["noops"] == 0

    def test_a_cap_on_calls_without_a_price_is_refused_before_any_and_without_usage_after_the_first(
        self, season: Season, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        agent = f"model:{model_file(tmp_path, server.url)}"
        server.default = lambda request: act("wait 30", usage=None)
        run_ = play(season, level="hall", seed=0, agent=agent, dollar_cap=1.0).run
        assert run_.ended_by == "agent_error" and "no cap can be held" in str(run_.ungraded)
        assert len(server.bodies) == 1
        monkeypatch.delenv("EVALKIT_PRICES")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UsageError, match="a dollar cap cannot be held: no price of test-model is known"):
            play(season, level="hall", seed=0, agent=agent, dollar_cap=1.0)
        assert len(server.bodies) == 1
        server.default = lambda request: act("wait 30")
        unpriced = play(season, level="hall", seed=0, agent=agent).run
        assert (unpriced.dollars, unpriced.tokens) == (None, 1050 * unpriced.decisions)

    def test_a_run_that_the_others_leave_nothing_is_ungraded_and_one_that_has_not_begun_is_not_played(
        self, season: Season, server: Server, tmp_path: Path
    ) -> None:
        agent = f"model:{model_file(tmp_path, server.url)}"
        purse = Purse(tmp_path / "purse", 10 * A_CALL)
        purse.pay(7.5 * A_CALL)
        run_ = play(season, level="hall", seed=0, agent=agent, purse=purse).run
        run_.validate()
        assert (run_.ended_by, run_.decisions, run_.tokens) == ("agent_error", 2, 3 * 1050)
        assert "decision 3: the sweep's cap of" in str(run_.ungraded)
        assert run_.provenance["sweep_dollar_cap"] == purse.cap
        assert purse.spent == pytest.approx(10.5 * A_CALL)
        with pytest.raises(UsageError, match="not played: the sweep's cap"):
            play(season, level="hall", seed=1, agent=agent, purse=purse)
        assert len(server.bodies) == 3
        assert play(season, level="hall", seed=0, agent="random", purse=purse).run.ungraded is None
