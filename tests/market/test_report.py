"""The report's numbers against their definitions, and what is printed when there is none."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.synthetic import make_bars
from neuronet.market.backtest import DAY, Backtest, backtest, buy_and_hold
from neuronet.market.report import Report, daily_equity, days_a_year, report

Make = Callable[..., Bars]
FREE = {"spread": 0.0, "commission": 0.0, "slippage": 0.0}


def held(make: Make, closes: list[float], days: list[int]) -> Backtest:
    """100 units bought at 100, at a bar on each of the days."""
    bars = make([100.0] * len(closes), closes, [24 * day for day in days])
    return backtest(replace(bars, step=DAY), np.ones(len(closes)), **FREE, max_gap=None)


def test_ratios_and_drawdown_by_their_definitions(make: Make) -> None:
    test = held(make, [100, 110, 99, 105, 88, 100, 112, 111], [0, 1, 2, 3, 4, 7, 8, 9])
    found = Report.of(test)
    equity = [10_000, 10_000, 11_000, 9_900, 10_500, 8_800, 10_000, 11_200, 11_100]
    returns = [b / a - 1 for a, b in itertools.pairwise(equity)]
    assert (found.factor, found.days, found.bars) == (252, 8, 8)
    mean = statistics.mean(returns)
    assert found.sharpe == pytest.approx(mean / statistics.stdev(returns) * 252**0.5)
    below = statistics.mean(min(r, 0) ** 2 for r in returns) ** 0.5
    assert found.sortino == pytest.approx(mean / below * 252**0.5)
    assert found.max_drawdown == pytest.approx(0.2)  # 11,000 to 8,800, over with 11,200
    assert (found.drawdown_bars, found.drawdown_ns) == (5, 7 * DAY)
    assert (found.drawdown_from, found.recovered) == ("2024-01-02 00:00:00", True)
    assert found.total_return == pytest.approx(0.11)
    assert found.exposure == 7 / 8
    assert found.turnover == pytest.approx(1.0 + 1.11)
    assert found.exits == {"decision": 0, "gap": 0, "end": 1, "ruin": 0}


def test_trades(make: Make) -> None:
    """Long 100 -> 103, short 103 -> 104, long 104 -> 104: +300, -97.09, and one that earned nothing."""
    opens = [100, 100, 103, 104, 104, 104]
    test = backtest(make(opens, opens), [1, -1, 1, 0, 0, 0], **FREE, max_gap=None)
    found = Report.of(test)
    assert found.trades == 3
    assert found.win_rate == pytest.approx(1 / 3)
    assert found.average_win == pytest.approx(300)
    assert found.average_loss == pytest.approx(-10_000 / 103)
    assert found.profit_factor == pytest.approx(300 / (10_000 / 103))


def test_a_drawdown_that_is_not_over_and_one_that_begins_at_the_start(make: Make) -> None:
    found = Report.of(held(make, [100, 99, 90, 95], [0, 1, 2, 3]))
    assert found.max_drawdown == pytest.approx(0.1)
    assert (found.drawdown_bars, found.drawdown_from, found.recovered) == (3, "2024-01-01 00:00:00", False)
    text = "\n".join(report({"strategy": found}))
    assert "3 days" in text
    assert "3, not over" in text


def test_nothing_undefined_is_a_number(make: Make) -> None:
    prices = [100.0, 101.0]
    found = Report.of(backtest(make(prices, prices), [0, 0], **FREE, max_gap=None))
    none = "sharpe sortino drawdown_from recovered win_rate profit_factor average_win average_loss ruined"
    assert [name for name, value in found.to_dict().items() if value is None] == none.split()
    lines = report({"strategy": found, "buy and hold": found}, symbol="TEST", step=3_600 * 10**9)
    assert lines[0] == "TEST: 2024-01-01 00:00:00 to 2024-01-01 01:00:00, 2 bars 1 h apart on 1 day"
    text = "\n".join(lines)
    assert text.isascii()
    assert text.count("n/a") == 16
    assert "none here: every decision was flat" in text
    for word in ("inf", "nan"):
        assert word not in text.lower().split()


@pytest.mark.parametrize(
    ("positions", "hours", "words"),
    [
        ([0, 0, -1], None, "the only decision that was not flat is the last bar's, which no open follows"),
        ([np.nan, 1, 0], [0, 1, 200], "1 decision was not flat, but before a gap one lapses, and no open"),
        ([0, 1, -1], [0, 1, 200], "2 decisions were not flat, but before a gap one lapses, and no open"),
        ([0, np.nan, 0], [0, 1, 200], "every decision was flat, as of a model that says 'no change'"),
    ],
)
def test_why_nothing_was_traded(
    make: Make, positions: list[float], hours: list[int] | None, words: str
) -> None:
    bars = make([100, 101, 102], [100, 101, 102], *([hours] if hours else []))
    found = Report.of(backtest(bars, positions, **FREE, max_gap=DAY))
    assert found.trades == 0
    assert found.idle is not None
    assert f"            none here: {words}" in "\n".join(report({"strategy": found}))
    traded = Report.of(backtest(bars, [1, 0, 0], **FREE, max_gap=DAY))
    assert (traded.trades, traded.idle) == (1, None)
    assert "none here" not in "\n".join(report({"strategy": traded}))


def test_a_single_bar(make: Make) -> None:
    assert Report.of(backtest(make([100], [100]), [0], **FREE, max_gap=None)).trades == 0


def test_ruin_and_forced_exits_are_said(make: Make) -> None:
    bars = make([100, 100, 200, 190, 50, 40], [100, 150, 210, 60, 50, 40])
    found = Report.of(backtest(bars, [-1] * 6, **FREE, max_gap=None))
    assert found.ruined == "2024-01-01 02:00:00"
    assert found.max_drawdown == pytest.approx(1.1)
    text = "\n".join(report({"strategy": found}))
    assert "ruin        the capital was gone at the close of 2024-01-01 02:00:00" in text
    assert "closed without a decision: 1 by ruin" in text


def around_the_clock(n: int, minutes: int) -> Bars:
    """The same walk of a market that never closes, in bars of so many minutes."""
    walk = 100.0 * np.exp(np.cumsum(np.random.default_rng(0).normal(2e-6, 3e-4, n * 1_440)))
    close = walk[minutes - 1 :: minutes]
    open_ = np.append(100.0, close[:-1])
    time = np.arange(len(close)) * minutes * (DAY // 1_440)
    return Bars(time, open_, np.maximum(open_, close), np.minimum(open_, close), close, close)


def test_sharpe_is_the_same_for_bars_of_any_length() -> None:
    """Returns per bar times sqrt(bars a year) would differ; the entry alone (first bar) does, a little."""
    found = [Report.of(buy_and_hold(around_the_clock(120, minutes), **FREE)) for minutes in (5, 60, 240)]
    assert {one.factor for one in found} == {365}
    assert {one.days for one in found} == {120}
    sharpe = [one.sharpe for one in found]
    assert sharpe == pytest.approx([sharpe[0]] * 3, rel=0.1)
    daily = Report.of(buy_and_hold(around_the_clock(120, 1_440), **FREE))  # enters a day later
    assert daily.sharpe == pytest.approx(sharpe[0], rel=0.3)


def test_days_a_year() -> None:
    assert days_a_year(make_bars(400).time, 3_600 * 10**9) == 252
    assert days_a_year(around_the_clock(30, 60).time, 3_600 * 10**9) == 365
    week = make_bars(24 * 5 * 8).time
    sundays = np.arange(8) * 7 * DAY + int(np.datetime64("2023-01-01T23:00", "ns").astype(np.int64))
    with_sundays = np.sort(np.concatenate([week, sundays]))
    assert days_a_year(with_sundays, 3_600 * 10**9) == 313
    assert days_a_year(np.delete(with_sundays, np.searchsorted(with_sundays, sundays[:6])), 1) == 252
    assert days_a_year(np.arange(60) * 7 * DAY, 7 * DAY) == 52
    assert days_a_year(np.zeros(1, np.int64), 0) == 252


def test_idle_days_count(make: Make) -> None:
    """The same trades with flat days around them: the mean of the daily returns falls."""
    bars = make_bars(24 * 60, seed=2)
    positions = np.where(np.arange(len(bars)) < 24 * 10, 1.0, 0.0)
    short = Report.of(backtest(bars[: 24 * 10], positions[: 24 * 10], **FREE, max_gap=None))
    whole = Report.of(backtest(bars, positions, **FREE, max_gap=None))
    assert (short.days, whole.days) == (10, 60)
    assert abs(whole.sharpe or 0) < abs(short.sharpe or 0)
    assert whole.exposure == pytest.approx(240 / 1_440)


def test_daily_equity(make: Make) -> None:
    time = make([1] * 5, [1] * 5, [0, 23, 24, 47, 96]).time
    np.testing.assert_array_equal(daily_equity(time, np.arange(5.0)), [1, 3, 4])
