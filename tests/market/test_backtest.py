"""The backtest against trades worked out by hand, to the cent; refusals; a peer's recorded result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.synthetic import make_bars
from neuronet.errors import DataError, ShapeError, SpecError
from neuronet.market.backtest import DAY, Backtest, backtest, buy_and_hold, default_max_gap
from neuronet.market.trades import EXITS, Trade

Make = Callable[..., Bars]
PEER = {  # what backtesting.py 0.6.6 printed, see test_a_peer_says_the_same
    "trades": 39,
    "profit": -2786078.8357085735,
    "commission": 156131.92605861343,
    "drawdown": 0.07458290997405359,
}
NAN = float("nan")
FREE = {"spread": 0.0, "commission": 0.0, "slippage": 0.0, "max_gap": 4 * DAY}


def run(bars: Bars, positions: Any, **changes: Any) -> Backtest:
    return backtest(bars, positions, **{**FREE, **changes})


def cents(values: Any) -> list[float]:
    return [round(float(value), 2) for value in values]


def test_1_a_long_trade_and_every_cost(make: Make) -> None:
    """100 units, bought at 100 and sold at 102; each fill costs 0.05 + 0.02 a unit and 0.1 % of the value."""
    bars = make([100, 100, 102], [100, 101, 103])
    test = run(bars, [1, NAN, 1], spread=0.10, commission=0.001, slippage=0.02)
    # 200 - (7 + 10) - (7 + 10.20); the decision at the last close has no bar to be taken in
    assert cents(test.equity) == [10_000.00, 10_083.00, 10_165.80]
    assert list(test.trades) == [
        Trade(
            entry_time=int(bars.time[1]),
            entry_price=100.0,
            exit_time=int(bars.time[2]),
            exit_price=102.0,
            exit="decision",
            side=1,
            size=100.0,
            bars=1,
            gross=200.0,
            costs=pytest.approx(34.20),  # type: ignore[arg-type]
            net=pytest.approx(165.80),  # type: ignore[arg-type]
        )
    ]
    assert cents(test.costs) == [0, 17.00, 17.20]
    assert cents(test.traded) == [0, 10_000, 10_200]
    assert list(test.units) == [0, 100, 0]


def test_2_a_flip_is_two_trades_at_one_open(make: Make) -> None:
    """100 units 100 -> 110: +1000 - 10 - 11. Then 10000/110 units short 110 -> 105: 454.55 - 10 - 9.55."""
    test = run(make([100, 100, 110, 105], [100, 108, 107, 105]), [1, -1, 0, 0], commission=0.001)
    assert cents(test.trades.net) == [979.00, 435.00]
    assert list(test.trades.side) == [1, -1]
    assert cents(test.equity) == [10_000.00, 10_790.00, 11_241.73, 11_414.00]


def test_3_partial_positions_are_one_trade_at_mean_prices(make: Make) -> None:
    """50 bought at 100, 30 at 125 (8750); 48.75 sold at 80, 31.25 at 90 (6712.50); 0.1 % of both."""
    test = run(make([100, 100, 125, 80, 90], [100, 110, 100, 85, 90]), [0.5, 1, 0.25, 0, 0], commission=0.001)
    (trade,) = test.trades
    assert (trade.entry_price, trade.exit_price) == (109.375, pytest.approx(83.90625))
    assert (trade.size, trade.bars, trade.exit) == (80.0, 3, "decision")
    assert cents([trade.gross, trade.costs, trade.net]) == [-2_037.50, 15.46, -2_052.96]
    assert cents(test.equity[-1:]) == [7_947.04]


def gap_bars(make: Make) -> Bars:
    opens, closes = [100, 100, 101, 150, 151, 152], [100, 100.5, 102, 149, 152, 153]
    return make(opens, closes, [0, 1, 2, 122, 123, 124])


def test_4_nothing_is_held_or_decided_over_a_gap(make: Make) -> None:
    """100 -> 102 at the last close before; the next decision is that at the first close after: 151 -> 153."""
    test = run(gap_bars(make), np.ones(6), spread=0.02)
    assert [(t.exit, t.bars, t.entry_price, t.exit_price) for t in test.trades] == [
        ("gap", 2, 100.0, 102.0),
        ("end", 2, 151.0, 153.0),
    ]
    # 100 x (2 - 0.02), and 10000/151 x (2 - 0.02)
    assert cents(test.trades.net) == [198.00, 131.13]
    assert cents(test.equity) == [10_000, 10_049, 10_198, 10_198, 10_263.56, 10_329.13]


def test_5_carried_over_a_gap_when_asked(make: Make) -> None:
    for changes in ({"carry_gaps": True}, {"max_gap": None}, {"max_gap": 120 * 3_600 * 10**9}):
        test = run(gap_bars(make), np.ones(6), **changes)
        assert [(t.exit, t.bars) for t in test.trades] == [("end", 5)]
        assert cents(test.equity) == [10_000, 10_050, 10_200, 14_900, 15_200, 15_300]


def test_6_a_decision_right_before_a_gap_lapses(make: Make) -> None:
    positions = [0, 0, -1, 0, 0, 0]
    assert len(run(gap_bars(make), positions).trades) == 0
    # carried: 10000/150 units short from 150 to 151
    assert cents(run(gap_bars(make), positions, carry_gaps=True).trades.net) == [-66.67]


def test_7_the_end_of_the_data_closes_at_the_last_close(make: Make) -> None:
    """10000/80 = 125 units short, 80 -> 78, 0.1 % each side: 250 - 10 - 9.75."""
    test = run(make([100, 90, 80], [95, 85, 78]), [0, -1, 1], commission=0.001)
    assert [(t.exit, t.entry_price, t.exit_price, t.bars) for t in test.trades] == [("end", 80.0, 78.0, 1)]
    assert cents(test.equity) == [10_000, 10_000, 10_230.25]


@pytest.mark.parametrize("positions", [[NAN] * 4, [0.0] * 4, [-0.0, NAN, 0, 0]])
def test_8_flat_and_undecided_cost_nothing(make: Make, positions: list[float]) -> None:
    test = run(make([100, 90, 80, 70], [95, 85, 78, 60]), positions, spread=1.0, commission=0.01)
    assert list(test.equity) == [10_000.0] * 4
    assert len(test.trades) == 0
    assert test.costs.sum() == 0.0
    assert list(test.trades.csv()) == [
        "entry_time,entry_price,exit_time,exit_price,exit,side,size,bars,gross,costs,net\n"
    ]


def test_9_one_bar(make: Make) -> None:
    test = run(make([100], [110]), [1], spread=1.0)
    assert list(test.equity) == [10_000.0]
    assert len(test.trades) == 0
    assert list(buy_and_hold(make([100], [110]), spread=1, commission=0, slippage=0).equity) == [10_000.0]


def test_10_volume_is_not_looked_at(make: Make) -> None:
    bars = gap_bars(make)
    some = replace(bars, volume=np.array([5, 0, 7, 0, 0, 1.0]))
    np.testing.assert_array_equal(run(bars, np.ones(6)).equity, run(some, np.ones(6)).equity)


def test_11_a_decision_that_stays_trades_nothing(make: Make) -> None:
    """0.5 of 10000 at 100: 50 units for all bars, whatever the price; 1.5 % of 5000 and of 5000."""
    test = run(make([100, 100, 200, 100], [100, 200, 100, 100]), [0.5] * 4, commission=0.015)
    assert list(test.units) == [0, 50, 50, 50]
    assert cents(test.costs) == [0, 75, 0, 75]
    assert cents(test.equity) == [10_000, 14_925, 9_925, 9_850]


def test_12_ruin_ends_it(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    """100 units short at 100; at 210 all is lost, closed at the next open 190: 10000 - 9000."""
    test = run(make([100, 100, 200, 190, 50, 40], [100, 150, 210, 60, 50, 40]), [-1] * 6)
    assert test.ruined == 2
    assert cents(test.equity) == [10_000, 5_000, -1_000, 1_000, 1_000, 1_000]
    assert [t.exit for t in test.trades] == ["ruin"]
    assert "the capital was gone at the close of 2024-01-01 02:00:00" in caplog.text


def test_a_hole_that_hides_a_jump_earns_nothing(make: Make) -> None:
    bars = make([1, 1, 1, 11, 11], [1, 1, 1, 11, 11], [0, 1, 2, 300, 301])
    assert list(run(bars, np.ones(5)).equity) == [10_000.0] * 5
    assert run(bars, np.ones(5), max_gap=None).equity[-1] == 110_000.0


def test_buy_and_hold_holds_over_gaps_under_the_same_costs(make: Make) -> None:
    test = buy_and_hold(gap_bars(make), spread=0.02, commission=0.001, slippage=0.0)
    assert cents(test.equity[-1:]) == [10_000 + 5_300 - 2 - 10 - 15.30]


def test_default_gap(make: Make) -> None:
    assert default_max_gap(make([1, 1], [1, 1])) == 4 * DAY
    assert default_max_gap(make_bars(20, step="1d")) == 4 * DAY  # Friday to Monday are 3
    assert default_max_gap(replace(make([1, 1], [1, 1]), step=7 * DAY)) == 14 * DAY


def test_trades_as_csv(make: Make) -> None:
    text = "".join(run(gap_bars(make), np.ones(6), spread=0.02).trades.csv()).splitlines()
    assert text[1] == "2024-01-01 01:00:00,100,2024-01-01 02:00:00,102,gap,long,100,2,200,2,198"
    assert text[2].startswith("2024-01-06 03:00:00,151,2024-01-06 04:00:00,153,end,long,66.22516556,2,")
    assert len(text) == 3


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"spread": -1.0}, SpecError, "--spread: spread cannot be -1\nFix: choose 0 or more"),
        ({"spread": 20.0}, SpecError, "--spread: the spread would be 20% of a price of 101"),
        ({"slippage": NAN}, SpecError, "--slippage: slippage cannot be nan"),
        ({"commission": 0.5}, SpecError, "0.01 % is 0.0001"),
        ({"cash": 0.0}, SpecError, "--cash: the start capital cannot be 0"),
        ({"cash": 1e308}, SpecError, "--cash: the start capital cannot be 1e+308"),
        ({"positions": [1, 2, 0]}, DataError, "position 2 at 2024-01-01 01:00:00 is outside [-1, 1]"),
        ({"positions": [1, np.inf, 0]}, DataError, "position inf at"),
        ({"positions": [1, 1]}, ShapeError, "positions have shape (2,), there are 3 bars"),
        ({"opens": [100, 0, 100]}, DataError, "the open of 2024-01-01 01:00:00 is 0 (1 such bars)"),
        ({"closes": [100, 101, NAN]}, DataError, "the close of 2024-01-01 02:00:00 is nan"),
    ],
)
def test_refusals(make: Make, changes: dict[str, Any], error: type[Exception], message: str) -> None:
    bars = make(changes.pop("opens", [100, 100, 102]), changes.pop("closes", [100, 101, 103]))
    with pytest.raises(error) as caught:
        run(bars, changes.pop("positions", [1, 0, 0]), **changes)
    assert message in str(caught.value)
    assert "Fix: " in str(caught.value)


def test_no_bars(make: Make) -> None:
    with pytest.raises(DataError, match="no bars"):
        run(make([], []), [])


def test_positions_given_are_not_changed(make: Make) -> None:
    positions = np.array([-1.0, -1, -1, -1, NAN])
    kept = positions.copy()
    run(make([100, 100, 200, 190, 50], [100, 150, 210, 60, 50]), positions)
    np.testing.assert_array_equal(positions, kept)


def peer_signals() -> tuple[Bars, np.ndarray]:
    bars = make_bars(2_000, seed=5)
    blocks = np.random.Generator(np.random.PCG64(1)).integers(-1, 2, size=84)
    positions = np.repeat(blocks.astype(float), 24)[:2_000]
    positions[:24] = positions[-3:] = 0.0
    return bars, positions


def test_a_peer_says_the_same() -> None:
    """backtesting.py 0.6.6 on these signals: whole units, exit and entry orders at the next open, commission
    of each fill, all else off. It rounds to whole units of 1e8, hence a cent a trade.
    """
    bars, positions = peer_signals()
    test = run(bars, positions, commission=2e-5, max_gap=None, cash=1e8)
    assert len(test.trades) == PEER["trades"]
    assert test.equity[-1] - 1e8 == pytest.approx(PEER["profit"], abs=0.02)
    assert test.costs.sum() == pytest.approx(PEER["commission"], abs=0.01)
    fall = 1.0 - test.equity / np.maximum.accumulate(test.equity)
    assert fall.max() == pytest.approx(PEER["drawdown"], abs=1e-8)
    assert {EXITS[i] for i in test.trades.exit} == {"decision"}
