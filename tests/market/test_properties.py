"""Properties of any backtest: money is conserved, costs only cost, and nothing sees the future."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neuronet.bars.bars import Bars
from neuronet.market.backtest import Backtest, backtest
from neuronet.market.report import Report

HOUR = 3_600 * 10**9
EXAMPLES = int(os.environ.get("NEURONET_FUZZ", "60"))
PRICE = st.floats(50.0, 150.0)
POSITION = st.sampled_from([-1.0, -0.7, -0.25, 0.0, 0.3, 0.5, 1.0, float("nan")])
COST = st.sampled_from([0.0, 1e-6, 0.001, 0.02])


@dataclass(frozen=True)
class Case:
    bars: Bars
    positions: list[float]
    spread: float
    commission: float
    slippage: float
    max_gap: int | None
    carry_gaps: bool

    def run(self, **changes: object) -> Backtest:
        chosen = {name: value for name, value in vars(self).items() if name not in ("bars", "positions")}
        bars, positions = changes.pop("bars", self.bars), changes.pop("positions", self.positions)
        return backtest(bars, positions, **{**chosen, **changes})  # type: ignore[arg-type]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rows = draw(
        st.lists(st.tuples(PRICE, PRICE, st.sampled_from([1, 1, 1, 2, 9]), POSITION), min_size=1, max_size=30)
    )
    opens, closes, hours, positions = zip(*rows, strict=True)
    o, c = np.array(opens), np.array(closes)
    bars = Bars(
        np.cumsum(hours) * HOUR, o, np.maximum(o, c), np.minimum(o, c), c, np.zeros(len(o)), step=HOUR
    )
    gap = draw(st.sampled_from([None, 3 * HOUR, HOUR]))
    return Case(bars, list(positions), draw(COST), draw(COST), draw(COST), gap, draw(st.booleans()))


@settings(max_examples=EXAMPLES, deadline=None)
@given(cases())
def test_the_change_of_equity_is_the_net_of_the_trades(case: Case) -> None:
    test = case.run()
    trades = test.trades
    assert abs(test.equity[-1] - test.cash - trades.net.sum()) < 1e-7
    assert abs(test.costs.sum() - trades.costs.sum()) < 1e-7
    assert test.equity[0] == test.cash
    assert np.all(trades.size > 0.0)
    assert np.all(trades.bars >= 1)
    assert trades.bars.sum() == np.count_nonzero(test.units)  # each bar belongs to one trade
    assert np.all(trades.entry_time[1:] >= trades.exit_time[:-1])
    assert np.allclose(trades.gross, [t.net + t.costs for t in trades])
    simple = [t for t in trades if t.entry_price * t.size > 0 and t.bars == 1]
    for t in simple:  # filled in one step each way
        assert abs(t.gross - t.side * t.size * (t.exit_price - t.entry_price)) < 1e-7


@settings(max_examples=EXAMPLES, deadline=None)
@given(cases())
def test_costs_only_cost(case: Case) -> None:
    cheap = case.run()
    assert np.all(cheap.costs >= 0.0)
    for name in ("spread", "commission", "slippage"):
        dear = case.run(**{name: getattr(case, name) + 0.01})
        if cheap.ruined is None and dear.ruined is None:
            assert np.all(dear.costs >= cheap.costs)
            assert np.all(dear.equity <= cheap.equity + 1e-9)
            assert (dear.equity[-1] < cheap.equity[-1]) == (len(cheap.trades) > 0)


@settings(max_examples=EXAMPLES, deadline=None)
@given(cases(), st.integers(1, 30))
def test_cutting_the_future_changes_no_earlier_equity(case: Case, end: int) -> None:
    whole, part = case.run(), case.run(bars=case.bars[:end], positions=case.positions[:end])
    known = min(end, len(case.bars)) - 1  # the last bar pays for closing
    for name in ("equity", "units", "costs"):
        np.testing.assert_array_equal(getattr(part, name)[:known], getattr(whole, name)[:known])
    assert part.units[known] == whole.units[known]


@settings(max_examples=EXAMPLES, deadline=None)
@given(cases(), st.data())
def test_a_flat_bar_never_changes_the_equity(case: Case, data: st.DataObject) -> None:
    test = case.run()
    still = (test.units == 0.0) & (np.concatenate([[0.0], test.units[:-1]]) == 0.0)
    moved = np.diff(test.equity, prepend=test.cash)
    assert np.all(moved[still] == 0.0)
    flat = case.run(positions=[data.draw(st.sampled_from([0.0, float("nan")])) for _ in case.positions])
    assert np.all(flat.equity == flat.cash)


@settings(max_examples=EXAMPLES, deadline=None)
@given(cases())
def test_a_report_holds_numbers_or_none(case: Case) -> None:
    found = Report.of(case.run()).to_dict()
    for name, value in found.items():
        assert not isinstance(value, float) or np.isfinite(value), name
    assert found["drawdown_bars"] >= 0
    assert 0.0 <= found["exposure"] <= 1.0
    assert found["max_drawdown"] >= 0.0
    assert sum(found["exits"].values()) == found["trades"]


@settings(max_examples=EXAMPLES, deadline=None)
@given(cases())
def test_a_loop_over_the_bars_says_the_same(case: Case) -> None:
    """The rules once more, one bar after the other."""
    test, b, p = case.run(), case.bars, np.nan_to_num(case.positions)
    cash, units, held, equity = test.cash, 0.0, 0.0, []
    money, ruined = cash, False

    def fill(target: float, price: float) -> None:
        nonlocal units, money
        size = abs(target - units)
        money -= (target - units) * price
        money -= size * (case.spread / 2 + case.slippage + case.commission * price)
        units = target

    for t in range(len(b)):
        hole = t > 0 and case.max_gap is not None and b.time[t] - b.time[t - 1] > case.max_gap
        wanted = 0.0 if t == 0 or ruined or (hole and not case.carry_gaps) else p[t - 1]
        if wanted != held:
            fill(wanted * cash / b.open[t], b.open[t])
            held = wanted
        last = t == len(b) - 1
        ahead = not last and case.max_gap is not None and b.time[t + 1] - b.time[t] > case.max_gap
        if last or (ahead and not case.carry_gaps):
            fill(0.0, b.close[t])
            held = 0.0
        equity.append(money + units * b.close[t])
        ruined = ruined or equity[-1] <= 0.0
    np.testing.assert_allclose(test.equity, equity, rtol=1e-9, atol=1e-6)
