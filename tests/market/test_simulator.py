"""The simulator against sequences worked out by hand, to the cent. A lot earns 1.00 a point of 0.01."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuronet.errors import DataError, ShapeError, SpecError
from neuronet.market.actors import Fixed
from neuronet.market.ledger import AT_CLOSE, AT_OPEN, INSIDE
from neuronet.market.quotes import Quotes
from neuronet.market.rules import Rules, find_point
from neuronet.market.simulator import simulate

_spec = importlib.util.spec_from_file_location("broker", Path(__file__).parent / "broker.py")
assert _spec is not None
assert _spec.loader is not None
broker = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(broker)
buy, sell, trade, exits, money, equity = (
    broker.buy, broker.sell, broker.trade, broker.exits, broker.money, broker.equity
)  # fmt: skip
FLAT, KEEP = broker.FLAT, broker.KEEP


def test_01_a_long_trade_enters_at_the_next_open() -> None:
    """Decided at 100, bought at 101, sold at 103: 200 points of one lot."""
    done = trade([(100, 100), (101, 102), (103, 103)], [buy(1), FLAT])
    assert money(done) == 10_200.00
    assert exits(done) == ["decision"]
    assert equity(done) == [10_000.00, 10_100.00, 10_200.00]
    assert (done.trades.entry[0], done.trades.exit[0], done.trades.side[0]) == (1, 2, 1)


def test_02_a_short_trade() -> None:
    """Sold 0.5 lots at 101, bought back at 98: 300 points of half a lot."""
    done = trade([(100, 100), (101, 99), (98, 98)], [sell(0.5), FLAT])
    assert money(done) == 10_150.00
    assert equity(done) == [10_000.00, 10_100.00, 10_150.00]


def test_03_the_decision_at_the_last_close_is_never_taken() -> None:
    assert money(trade([(100, 100), (101, 120)], [FLAT, buy(1)])) == 10_000.00


def test_04_a_buy_pays_the_spread_and_a_sale_does_not() -> None:
    """Ask 100.20, bid 100: marked 20 lower at once."""
    done = trade([(100, 100), (100, 100), (100, 100)], [buy(1), FLAT], spread=20)
    assert equity(done) == [10_000.00, 9_980.00, 9_980.00]
    done = trade([(100, 100), (100, 100), (100, 100)], [sell(1), FLAT], spread=20)
    assert equity(done) == [10_000.00, 9_980.00, 9_980.00]


def test_05_commission_is_paid_for_each_fill() -> None:
    """3.33 a lot: 0.3 lots cost 0.999, so 1.00, twice; 100 points of 0.3 lots are 30."""
    done = trade([(100, 100), (100, 101), (101, 101)], [buy(0.3), FLAT], commission=3.33)
    assert money(done) == 10_028.00
    assert (done.trades.gross[0], done.trades.commission[0]) == (3_000, 200)


def test_06_opposite_lots_are_netted() -> None:
    """1.5 bought and 0.5 sold are one lot long, with the stops of the buy: target at 100 + 0.50."""
    action = (1.5, 0.05, 0.0, 0.5, 0.9, 0.9)
    done = trade([(100, 100), (100, 101, 99, 100)], [action])
    assert money(done) == 10_050.00
    assert exits(done) == ["take profit"]
    assert done.trades.most[0] == 10


def test_07_equal_opposite_lots_are_flat() -> None:
    done = trade([(100, 100), (100, 101), (101, 102)], [(0.7, 0, 0, 0.7, 0, 0)])
    assert money(done) == 10_000.00
    assert len(done.trades) == 0


def test_08_a_reversal_closes_and_opens_at_one_open() -> None:
    """Long one 100 -> 102: +200. Short two 102 -> 101: +200."""
    done = trade([(100, 100), (100, 101), (102, 102), (101, 101)], [buy(1), sell(2), FLAT])
    assert money(done) == 10_400.00
    assert list(done.trades.side) == [1, -1]
    assert list(done.trades.net) == [20_000, 20_000]


def test_09_adding_keeps_the_mean_of_the_entries() -> None:
    """One at 100, one at 104, mean 102; both sold at 105: 500 + 100."""
    done = trade([(100, 100), (100, 103), (104, 104), (105, 105)], [buy(1), buy(2), FLAT])
    assert money(done) == 10_600.00
    assert equity(done) == [10_000.00, 10_300.00, 10_400.00, 10_600.00]
    assert len(done.trades) == 1
    assert done.trades.most[0] == 20


def test_10_a_partial_close_books_its_part() -> None:
    """Three steps at 100.00 and one at 100.01: 4 steps cost 40001 step points. One given up at 101.00 takes
    10000.25 of them, so 10000: 100 points x 0.10 = 10.00. The rest cost 30001: 30600 - 30001 = 599: 59.90.
    """
    rows = [(100, 100), (100, 100.01), (100.01, 101), (101, 102), (102, 102)]
    done = trade(rows, [buy(0.3), buy(0.4), buy(0.3), FLAT])
    assert done.records is not None
    assert list(done.records.balance[0]) == [1_000_000, 1_000_000, 1_000_000, 1_001_000, 1_006_990]
    assert (len(done.trades), money(done)) == (1, 10_069.90)


def test_11_volumes_are_rounded_to_steps_and_small_ones_are_none() -> None:
    """0.26 is 3 steps of 0.1, 0.24 is 2; 0.09 is below the least lot; 7 becomes the largest, 5."""
    rows = [(100, 100), (100, 101), (101, 101)]
    for lots, gain in ((0.26, 30), (0.24, 20), (0.09, 0), (0.1, 10), (7, 500)):
        assert money(trade(rows, [buy(lots), FLAT], max_lot=5.0)) == 10_000.00 + gain, lots


def test_12_take_profit_inside_a_bar() -> None:
    """Bought at 100, target 30 points: 100.30."""
    done = trade([(100, 100), (100, 100.5, 99.9, 100.4), (100.4, 100.4)], [buy(1, tp=30)])
    assert (money(done), exits(done)) == (10_030.00, ["take profit"])
    assert (done.trades.exit[0], done.trades.moment[0]) == (1, INSIDE)


def test_13_stop_loss_inside_a_bar() -> None:
    done = trade([(100, 100), (100, 100.1, 99.5, 99.6), (99.6, 99.6)], [buy(1, tp=30, sl=40)])
    assert (money(done), exits(done)) == (9_960.00, ["stop loss"])


def test_14_both_in_one_bar_is_the_loss() -> None:
    for order in (buy(1, tp=30, sl=40), sell(1, tp=30, sl=40)):
        done = trade([(100, 100), (100, 101, 99, 101)], [order])
        assert (money(done), exits(done)) == (9_960.00, ["stop loss"])


def test_15_a_price_that_is_just_reached_counts() -> None:
    assert money(trade([(100, 100), (100, 100.3, 100, 100)], [buy(1, tp=30)])) == 10_030.00
    assert money(trade([(100, 100), (100, 100.29, 100, 100)], [buy(1, tp=30)])) == 10_000.00
    assert money(trade([(100, 100), (100, 100, 99.6, 100)], [buy(1, sl=40)])) == 9_960.00
    assert money(trade([(100, 100), (100, 100, 99.61, 100)], [buy(1, sl=40)])) == 10_000.00


def test_16_a_gap_through_the_stop_is_filled_at_the_open() -> None:
    """Stop at 99.60; the next bar opens at 98: 200 points lost, not 40."""
    done = trade([(100, 100), (100, 100), (98, 99)], [buy(1, sl=40)])
    assert (money(done), exits(done)) == (9_800.00, ["stop loss"])
    assert done.trades.moment[0] == AT_OPEN


def test_17_a_gap_through_the_target_is_filled_at_the_open() -> None:
    done = trade([(100, 100), (100, 100), (101, 99)], [buy(1, tp=30)])
    assert (money(done), exits(done)) == (10_100.00, ["take profit"])


def test_18_a_gap_for_a_short_position_counts_at_the_ask() -> None:
    """Sold at 100, stop at 100.40 (ask). The bar opens at bid 101, ask 101.10: 110 points lost."""
    done = trade([(100, 100), (100, 100), (101, 101)], [sell(1, sl=40)], spread=10)
    assert (money(done), exits(done)) == (9_890.00, ["stop loss"])


def test_19_a_short_stop_is_hit_by_the_ask_and_a_target_too() -> None:
    """Sold at 100. Ask is bid + 0.10: the stop at 100.40 needs a bid of 100.30, a target 99.70 of 99.60."""
    rows = [(100, 100), (100, 100.30, 100, 100)]
    assert money(trade(rows, [sell(1, sl=40)], spread=10)) == 9_960.00
    rows = [(100, 100), (100, 100.29, 100, 100)]
    assert money(trade(rows, [sell(1, sl=40)], spread=10)) == 9_990.00  # at the end, ask 100.10
    rows = [(100, 100), (100, 100, 99.61, 100)]
    assert exits(trade(rows, [sell(1, tp=30)], spread=10)) == ["end"]
    rows = [(100, 100), (100, 100, 99.60, 100)]
    assert (money(trade(rows, [sell(1, tp=30)], spread=10))) == 10_030.00


def test_20_stops_count_from_the_quote_of_the_entry() -> None:
    """Bought at the ask 100.10 with target 30: bid 100.40, a gain of 30."""
    done = trade([(100, 100), (100, 100.40, 100, 100)], [buy(1, tp=30)], spread=10)
    assert money(done) == 10_030.00


def test_21_a_stop_is_trailed_only_in_favour_and_a_target_anywhere() -> None:
    """Stop 99.60 and target 100.90 of bar 1. At 100.50 the stop goes to 100.10. At 100.20 a new one would be
    99.80: it stays at 100.10, and the target moves down to 100.70. The low 100.10 stops: +10.
    """
    rows = [(100, 100), (100, 100.5), (100.5, 100.2), (100.2, 100.6, 100.1, 100.3)]
    order = [buy(1, tp=90, sl=40)] * 2
    done = trade(rows, [*order, buy(1, tp=50, sl=40)])
    assert (money(done), exits(done)) == (10_010.00, ["stop loss"])
    rows[3] = (100.2, 100.7, 100.2, 100.3)
    done = trade(rows, [*order, buy(1, tp=50, sl=40)])
    assert (money(done), exits(done)) == (10_070.00, ["take profit"])


def test_22_keep_leaves_stops_where_they_are() -> None:
    """Target 101 of the entry at 100; without KEEP it would have moved on to 101.90."""
    rows = [(100, 100), (100, 100.9), (100.9, 101.2, 100.9, 101.1)]
    assert exits(trade(rows, [buy(1, tp=100), KEEP])) == ["take profit"]
    assert exits(trade(rows, [buy(1, tp=100), buy(1, tp=100)])) == ["end"]


def test_23_swap_over_a_weekend_is_one_night() -> None:
    """Bought on Friday 23:00, sold on Monday 01:00: one night, 7 points of 2 lots."""
    rows = [(100, 100), (100, 100), (100, 100), (100, 100)]
    done = trade(rows, [buy(2), KEEP, FLAT], hours=[0, 1, 50, 51], start="2024-01-05T22:00", swap_long=-7)
    assert money(done) == 9_986.00
    assert done.trades.swap[0] == -1_400
    assert equity(done) == [10_000.00, 10_000.00, 9_986.00, 9_986.00]


def test_24_swap_counts_three_nights_on_wednesday_and_seven_a_week() -> None:
    """Short, 2.5 points are paid out a night. Tuesday to Wednesday 1, to Thursday 3; a week has 7."""
    rows = [(100, 100)] * 4
    done = trade(rows, [sell(1), KEEP, FLAT], hours=[0, 1, 25, 26], start="2024-01-03T12:00", swap_short=2.5)
    assert money(done) == 10_007.50
    done = trade(rows, [sell(1), KEEP, FLAT], hours=[0, 1, 25, 26], start="2024-01-02T12:00", swap_short=2.5)
    assert money(done) == 10_002.50
    done = trade(rows, [sell(1), KEEP, FLAT], hours=[0, 1, 169, 170], swap_short=2.5)
    assert money(done) == 10_017.50
    friday = {"swap_short": 2.5, "triple_day": 4, "start": "2024-01-05T22:00"}
    assert money(trade(rows, [sell(1), KEEP, FLAT], hours=[0, 1, 50, 51], **friday)) == 10_007.50


def test_25_a_position_that_is_closed_before_midnight_pays_no_swap() -> None:
    rows = [(100, 100)] * 4
    done = trade(rows, [buy(1), FLAT], hours=[0, 1, 2, 30], start="2024-01-02T20:00", swap_long=-7)
    assert money(done) == 10_000.00


def test_26_an_order_without_margin_is_refused() -> None:
    """10 lots at 100 are worth 100,000: margin 1,000 of leverage 100. 1,000 are enough, 999.99 are not."""
    rows = [(100, 100), (100, 101), (101, 101)]
    assert money(trade(rows, [buy(10), FLAT], cash=1_000.00)) == 2_000.00
    done = trade(rows, [buy(10), FLAT], cash=999.99)
    assert money(done) == 999.99
    assert done.refused[0] == 1
    done = trade(rows, [buy(10), FLAT], cash=1_000.00, spread=1)  # equity is 990 after the fill
    assert (money(done), done.refused[0]) == (1_000.00, 1)


def test_27_a_refused_addition_leaves_the_position_and_a_reversal_its_closing() -> None:
    """One lot at 100 (margin 100). Adding 9 needs 1,000 of 500. Short 20 is refused, the long is closed."""
    rows = [(100, 100), (100, 100), (100, 100), (101, 100)]
    done = trade(rows, [buy(1), buy(10), sell(20)], cash=500.00)
    assert (money(done), exits(done)) == (600.00, ["decision"])
    assert done.refused[0] == 2


def test_28_stop_out_inside_a_bar() -> None:
    """10 lots at 100, margin 1,000, equity 1,500. At half the margin, 500, the price has fallen 1,000 / 10 =
    100 points to 99.00; there it is closed.
    """
    done = trade([(100, 100), (100, 100, 98, 99.5)], [buy(10)], cash=1_500.00)
    assert (money(done), exits(done)) == (500.00, ["stop out"])
    done = trade([(100, 100), (100, 100, 99.01, 99.5)], [buy(10)], cash=1_500.00)
    assert (money(done), exits(done)) == (1_000.00, ["end"])
    done = trade([(100, 100), (100, 100, 99, 99.5)], [buy(10)], cash=1_500.01)  # 500.01 are left
    assert (money(done), exits(done)) == (1_000.01, ["end"])


def test_29_stop_out_on_a_gap_may_leave_a_debt_and_nothing_is_opened_after() -> None:
    """The market opens at 98: 10 lots lose 2,000 of 1,500."""
    done = trade([(100, 100), (100, 100), (98, 98), (98, 99), (99, 99)], [buy(10), KEEP, buy(1)], cash=1_500)
    assert (money(done), exits(done)) == (-500.00, ["stop out"])
    assert done.refused[0] == 1


def test_30_the_nearer_of_stop_loss_and_stop_out_comes_first() -> None:
    """Stop-out of 10 lots and 1,500 is at 99.00. A stop-loss at 99.20 is reached before, one at 98.50 not."""
    rows = [(100, 100), (100, 100, 98, 98)]
    done = trade(rows, [buy(10, sl=80)], cash=1_500)
    assert (money(done), exits(done)) == (700.00, ["stop loss"])
    done = trade(rows, [buy(10, sl=150)], cash=1_500)
    assert (money(done), exits(done)) == (500.00, ["stop out"])


def test_31_the_end_of_the_data_closes_or_marks() -> None:
    """100 -> 103 with commission 2 each side."""
    rows = [(100, 100), (100, 101), (101, 103)]
    done = trade(rows, [buy(1)], commission=2.0)
    assert (money(done), exits(done)) == (10_296.00, ["end"])
    assert done.trades.moment[0] == AT_CLOSE
    done = trade(rows, [buy(1)], commission=2.0, close_at_end=False)
    assert (done.balance[0], done.equity[0], len(done.trades)) == (999_800, 1_029_800, 0)


def test_32_stops_nearer_than_the_broker_allows_mean_flat() -> None:
    """Level 20 and spread 10: a target of 20 and a stop of 30 points are too near, 21 and 31 are not."""
    rows = [(100, 100), (100, 100), (100, 100)]
    for order, held in (
        (buy(1, tp=20), False), (buy(1, tp=21), True), (sell(1, sl=30), False), (sell(1, sl=31), True)
    ):  # fmt: skip
        done = trade(rows, [order], stops_level=20, spread=10)
        assert (len(done.trades) == 1) == held
    done = trade(rows, [buy(1), buy(1, tp=5)], stops_level=20)
    assert exits(done) == ["decision"]


def test_33_stops_that_are_required() -> None:
    rows = [(100, 100), (100, 101), (101, 101)]
    assert len(trade(rows, [buy(1, tp=300)], stops_required=True).trades) == 0
    assert len(trade(rows, [buy(1, sl=300)], stops_required=True).trades) == 0
    assert len(trade(rows, [buy(1, tp=300, sl=300)], stops_required=True).trades) == 1


def test_34_a_stop_in_the_bar_of_the_stop_and_a_new_order_at_the_next_open() -> None:
    """Stopped at 99.60 (-40); the same action enters again at 99.50 and ends at 99.70 (+20)."""
    rows = [(100, 100), (100, 100, 99.5, 99.5), (99.5, 99.7, 99.45, 99.7)]
    done = trade(rows, [buy(1, sl=40), buy(1, sl=40)])
    assert (money(done), exits(done)) == (9_980.00, ["stop loss", "end"])


def test_35_cents_are_rounded_half_away_from_zero() -> None:
    """A step point is worth 0.5 cents: 1 point of 1 step is booked as 1 cent, a loss of 1 too; 3 as 2."""
    half = {"quote_value": 0.05}
    for end, cents in ((100.01, 1), (99.99, -1), (100.03, 2), (100.02, 1)):
        done = trade([(100, 100), (100, end), (end, end)], [buy(0.1), FLAT], **half)
        assert done.balance[0] == 1_000_000 + cents


def test_36_the_night_is_paid_before_the_open_is_looked_at() -> None:
    """10 lots, 1,500: the night costs 500, so half the margin is left at 99.50, where the day opens."""
    rows = [(100, 100), (100, 100), (99.5, 99.8)]
    done = trade(rows, [buy(10)], hours=[0, 1, 25], cash=1_500, swap_long=-50)
    assert (money(done), exits(done)) == (500.00, ["stop out"])
    assert done.trades.swap[0] == -50_000


def test_37_actions_of_agents_do_not_touch_each_other() -> None:
    rows = [(100, 100), (100, 101), (101, 102)]
    actions = np.array([[buy(1), sell(1), FLAT]] * 3)
    done = simulate(broker.bars_of(rows), broker.rules(), Fixed(actions), agents=3)
    assert list(done.balance) == [1_020_000, 980_000, 1_000_000]
    assert list(done.trades.of(1).net) == [-20_000]


def test_38_prices_beyond_the_range_of_a_bar_belong_to_it() -> None:
    """Low above the close, as in damaged bars: the close is reached all the same."""
    done = trade([(100, 100), (100, 100, 99.9, 99.5)], [buy(1, sl=40)])
    assert exits(done) == ["stop loss"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"point": 0.0}, "--point: point cannot be 0.0\nFix: choose more than 0"),
        ({"spread": 1.5}, "--spread: spread cannot be 1.5"),
        ({"leverage": 0.5}, "--leverage"),
        ({"min_lot": 0.15}, "--min-lot: min_lot cannot be 0.15\nFix: choose a multiple of 0.1"),
        ({"max_lot": 0.0}, "--max-lot"),
        ({"swap_long": float("nan")}, "--swap-long"),
        ({"triple_day": 7}, "--triple-day"),
        ({"cash": 0.001}, "--cash: the start capital cannot be 0.001"),
        ({"cash": 1e17}, "--cash: the start capital 1e+17 is more than int64 holds"),
        ({"max_lot": 1e13}, "more than int64 holds"),
        ({"point": 1_000.0}, "a point of 1000 is larger than the price 100"),
    ],
)
def test_rules_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        trade([(100, 100), (100, 100)], [FLAT], **changes)
    assert message in str(caught.value)
    assert "Fix: " in str(caught.value)


def test_actions_and_bars_that_cannot_be() -> None:
    rows = [(100, 100), (100, 100)]
    with pytest.raises(DataError, match="buy_lots of agent 0 is -1"):
        trade(rows, [(-1, 0, 0, 0, 0, 0)])
    with pytest.raises(DataError, match="sell_sl of agent 0 is inf"):
        trade(rows, [(0, 0, 0, 1, 0, np.inf)])
    with pytest.raises(DataError, match="no margin can be asked for it"):
        trade([(100, 100), (-1, 100)], [FLAT])
    with pytest.raises(DataError, match="no bars"):
        simulate(broker.bars_of(rows)[:0], Rules(), Fixed(np.zeros((0, 6))))
    with pytest.raises(ShapeError, match=r"actions have shape \(2, 6\), expected \(3, 6\)"):
        simulate(broker.bars_of(rows), Rules(point=0.01), Fixed(np.zeros((2, 2, 6))), agents=3)
    with pytest.raises(SpecError, match="0 agents"):
        simulate(broker.bars_of(rows), Rules(), Fixed(np.zeros((2, 6))), agents=0)


def test_currencies_metals_and_coins_fit_into_int64() -> None:
    """The default rules, though their contract is that of currencies, on years of hours of each."""
    for price, move, digits in ((1.1, 0.001, 5), (2_000.0, 5.0, 2), (60_000.0, 400.0, 2)):
        o = np.round(price + move * np.sin(np.arange(26_000)), digits)
        quotes = Quotes.of(broker.bars_of(np.stack([o, np.roll(o, 1)], 1)), Rules(point=10.0**-digits))
        assert quotes.open[0] == round(price * 10**digits)


def test_the_point_is_the_last_decimal() -> None:
    for prices, point in (((1.1, 1.10001), 1e-5), ((100.25, 100.5), 0.01), ((15_000, 15_001), 1.0)):
        assert find_point(broker.bars_of([prices])) == point
    many = [(1.1, 1.2)] * 1_000
    assert find_point(broker.bars_of([*many, (1.12345, 1.2)])) == 0.1  # later bars change nothing
    with pytest.raises(SpecError, match="more than 8 decimals"):
        find_point(broker.bars_of([(1 / 3, 1.0)]))


def test_prices_between_points_are_told(caplog: pytest.LogCaptureFixture) -> None:
    trade([(100, 100), (100.004, 100)], [FLAT])
    assert "2 of 8 prices lie between two points of 0.01 and are rounded" in caplog.text
