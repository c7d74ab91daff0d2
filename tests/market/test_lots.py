"""Backtests of lots: by hand, beside the backtest of shares, and beside chance."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.synthetic import make_bars
from neuronet.errors import ShapeError
from neuronet.market.actors import actions_of
from neuronet.market.backtest import Backtest, backtest
from neuronet.market.chance import Chance, chance
from neuronet.market.lots import Rotated, backtest_lots, hold_lots, profits_of
from neuronet.market.report import Report, report
from neuronet.market.rules import Rules, find_point

_spec = importlib.util.spec_from_file_location("broker", Path(__file__).with_name("broker.py"))
assert _spec is not None
assert _spec.loader is not None
broker = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(broker)


def test_a_report_of_lots_by_hand() -> None:
    """One lot, 100 units, spread 0.20, commission 2 a fill: bought at 100.20, target 101.20, so bid 101.20
    (+100 - 4). Then short at 101, stopped at the ask 101.50, bid 101.30 (-50 - 4); nothing after.
    """
    rows = [(100, 100), (100, 101.3, 100, 101), (101, 101.4, 100.9, 101), (101, 101)]
    actions = [broker.buy(1, tp=100), broker.sell(1, sl=50), broker.FLAT, broker.FLAT]
    test = backtest_lots(broker.bars_of(rows), actions, broker.rules(spread=20, commission=2.0))
    won, lost = test.trades
    assert (won.exit, won.side, won.size, won.bars) == ("take profit", 1, 100.0, 1)
    assert (won.entry_price, won.exit_price) == (pytest.approx(100.0), pytest.approx(101.2))
    assert (won.gross, won.costs, won.net) == tuple(map(pytest.approx, (120.0, 24.0, 96.0)))
    assert (lost.exit, lost.side, lost.bars) == ("stop loss", -1, 1)
    assert (lost.entry_price, lost.exit_price) == (pytest.approx(101.0), pytest.approx(101.3))
    assert (lost.gross, lost.costs, lost.net) == tuple(map(pytest.approx, (-30.0, 24.0, -54.0)))
    np.testing.assert_allclose(test.equity, [10_000, 10_096, 10_042, 10_042])
    assert list(test.units) == [0, 100, -100, 0]
    found = Report.of(test)
    assert (found.trades, found.winners, found.exposure) == (2, 1, 0.5)
    assert (found.average_win, found.average_loss) == (pytest.approx(96), pytest.approx(-54))
    assert found.profit_factor == pytest.approx(96 / 54)
    assert found.costs == pytest.approx(48.0)
    assert found.exits["take profit"] == found.exits["stop loss"] == 1
    assert sum(found.exits.values()) == 2
    text = "\n".join(report({"strategy": found}))
    assert "1 by take-profit, 1 by stop-loss" in text
    assert "\nwinners" in text


def test_net_of_the_trades_is_the_profit() -> None:
    bars = make_bars(1_500, seed=4)
    rules = Rules(point=find_point(bars), spread=12, commission=3.5, swap_long=-6.6, swap_short=1.2)
    random = np.random.Generator(np.random.PCG64(2))
    p = np.repeat(random.uniform(-1, 1, 125), 12)
    test = backtest_lots(bars, actions_of(p, rules, lots=0.5, tp=0.004, sl=0.003), rules)
    assert len(test.trades) > 100
    assert test.equity[-1] - test.cash == pytest.approx(test.trades.net.sum())
    assert test.costs.sum() == pytest.approx(test.trades.costs.sum())
    hold = hold_lots(bars, 0.5, rules)
    (trade,) = hold.trades
    assert (trade.side, trade.size, trade.bars, trade.exit) == (1, 50_000.0, 1_499, "end")
    assert trade.entry_price == pytest.approx(bars.open[1])
    assert trade.exit_price == pytest.approx(bars.close[-1])
    with pytest.raises(ShapeError, match="expected"):
        backtest_lots(bars, np.zeros((3, 6)), rules)


@pytest.mark.parametrize("seed", range(5))
def test_the_backtest_of_shares_is_the_simulator_without_stops(seed: int) -> None:
    """The units of the one as lots of the other, in steps of 0.001: equal but for half a cent a fill."""
    bars = make_bars(600, seed=seed)
    point = find_point(bars)
    random = np.random.Generator(np.random.PCG64(seed))
    positions = np.repeat(random.choice([-1.0, -0.5, 0.0, 0.7, 1.0], 100), 6)
    for spread in (0, 15):
        shares = backtest(
            bars, positions, spread=spread * point, commission=0.0, slippage=0.0, max_gap=None, cash=10_000.0
        )
        units = np.append(shares.units[1:], 0.0)
        rules = Rules(
            point=point, spread=spread, contract=1.0, lot_step=1e-3, min_lot=1e-3, max_lot=1e5, leverage=1e6,
            stop_out=0,
        )  # fmt: skip
        actions = actions_of(np.sign(units), rules, lots=1.0) * np.abs(units)[:, None]
        lots = backtest_lots(bars, actions, rules, cash=10_000.0)
        assert len(lots.trades) == len(shares.trades)
        np.testing.assert_array_equal(lots.trades.side, shares.trades.side)
        np.testing.assert_array_equal(lots.trades.entry_time, shares.trades.entry_time)
        np.testing.assert_array_equal(lots.trades.exit_time, shares.trades.exit_time)
        np.testing.assert_allclose(lots.trades.net, shares.trades.net, atol=0.011)
        if not spread:
            np.testing.assert_allclose(lots.equity, shares.equity, atol=0.5)
        assert lots.equity[-1] == pytest.approx(shares.equity[-1], abs=0.5)


def test_chance_has_the_exposure_and_not_the_skill() -> None:
    """A strategy that knows the next bar beats all; one that holds always is nobody's better."""
    bars = make_bars(400, seed=1)
    free = {"spread": 0.0, "commission": 0.0, "slippage": 0.0, "max_gap": None}
    ahead = np.sign(np.append(bars.close[1:] - bars.open[1:], 0.0))

    def with_positions(p: np.ndarray) -> tuple[Backtest, float, int]:
        strategy = backtest(bars, p, **free)  # type: ignore[arg-type]
        found = chance(strategy, lambda late: backtest(bars, np.roll(p, late), **free))  # type: ignore[arg-type]
        for test in (strategy, found.median):
            assert np.mean(test.units != 0) == pytest.approx(np.mean(p != 0), abs=0.01)
        return found.median, found.beaten, found.agents

    median, beaten, agents = with_positions(ahead)
    assert (beaten, agents) == (1.0, 99)
    assert abs(median.equity[-1] - 10_000) < 0.3 * (backtest(bars, ahead, **free).equity[-1] - 10_000)  # type: ignore[arg-type]
    assert with_positions(np.ones(400))[1] == 0.0
    some = (np.arange(400) % 40 < 10).astype(float)
    assert 0.0 < with_positions(some)[1] < 1.0


def test_many_agents_at_once_earn_what_one_earns() -> None:
    bars = make_bars(300, seed=5)
    rules = Rules(point=find_point(bars), spread=5)
    actions = actions_of(np.sin(np.arange(300) / 9), rules, lots=0.4, tp=0.002, sl=0.002)
    late = [1, 17, 250]
    found = profits_of(bars, Rotated(actions, late), rules, cash=10_000.0)
    for one, profit in zip(late, found, strict=True):
        alone = backtest_lots(bars, np.roll(actions, one, axis=0), rules)
        assert alone.equity[-1] - 10_000 == pytest.approx(profit, abs=1e-9)


def test_chance_says_nothing_of_a_strategy_that_never_trades() -> None:
    flat = backtest(make_bars(40), np.zeros(40), spread=0.0, commission=0.0, slippage=0.0, max_gap=None)
    found = chance(flat, lambda late: pytest.fail("no agent is run"))
    assert (found.median is flat, found.agents, found.beaten) == (True, 0, None)
    assert "none, as the strategy made no trade" in found.note()
    held = backtest(make_bars(40), np.ones(40), spread=0.0, commission=0.0, slippage=0.0, max_gap=None)
    assert "earned more than 25% of them" in Chance(held, 99, 0.25).note()
    assert (
        "earned more than 25% of them" in Chance(flat, 99, 0.25).note()
    )  # an agent in the middle that rests


def test_lots_say_why_nothing_was_traded() -> None:
    bars = make_bars(40)
    rules = Rules(point=find_point(bars))
    last = np.append(np.zeros(39), 1.0)
    for positions, lots, words in (
        (np.zeros(40), 0.1, "every decision was flat"),
        (last, 0.1, "the only decision that was not flat is the last bar's"),
        (
            np.ones(40),
            100.0,
            "40 decisions were not flat, but the broker's rules of volume, stops and margin",
        ),
        (np.ones(40), 0.1, ""),
    ):
        done = backtest_lots(bars, actions_of(positions, rules, lots=lots), rules)
        assert done.idle.startswith(words)
        assert bool(done.idle) == (len(done.trades) == 0)
