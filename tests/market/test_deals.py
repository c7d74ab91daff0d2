"""MetaTrader's histories: each layout gives the same deals; their actions by hand; what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.errors import DataError
from neuronet.market.actors import Fixed
from neuronet.market.deals import NEVER, Deal, deal_actions, of_symbol, read_deals
from neuronet.market.rules import Rules
from neuronet.market.simulator import simulate

HOUR = 3_600 * 10**9
RULES = Rules(point=0.0001)


def ns(text: str) -> int:
    return int(np.datetime64(text, "ns").astype(np.int64))


FIRST = Deal("EURUSD", ns("2024-01-02T10:15"), ns("2024-01-02T13:30:05"), 1, 0.3, tp=1.1080, sl=1.0990)
SECOND = Deal("EURUSD", ns("2024-01-02T15:00"), ns("2024-01-03T09:00"), -1, 1.0)

POSITIONS = """Trade History Report
Name:,Somebody
Account:,1234

Positions
Time,Position,Symbol,Type,Volume,Price,S / L,T / P,Time,Price,Commission,Swap,Profit
2024.01.02 10:15:00,11,EURUSD,buy,0.3,1.10000,1.09900,1.10800,2024.01.02 13:30:05,1.10100,0.00,0.00,30.00
2024.01.02 15:00:00,12,EURUSD,sell,1,1.10200,,,2024.01.03 09:00:00,1.10100,-3.50,-1.20,100.00
Orders
Open Time,Order,Symbol,Type,Volume,Price,S / L,T / P,Time,State,Comment
2024.01.02 10:15:00,5,EURUSD,buy,0.3 / 0.3,market,,,2024.01.02 10:15:00,filled,
"""
DEALS = """Deals
Time\tDeal\tSymbol\tType\tDirection\tVolume\tPrice\tOrder\tCommission\tFee\tSwap\tProfit\tBalance\tComment
2024.01.01 00:00:00\t1\t\tbalance\t\t\t\t\t0.00\t0.00\t0.00\t10 000.00\t10 000.00\t
2024.01.02 10:15:00\t2\tEURUSD\tbuy\tin\t0.3\t1.10000\t5\t0.00\t0.00\t0.00\t0.00\t10 000.00\t
2024.01.02 13:30:05\t3\tEURUSD\tsell\tout\t0.3\t1.10100\t6\t0.00\t0.00\t0.00\t30.00\t10 030.00\t
2024.01.02 15:00:00\t4\tEURUSD\tsell\tin\t1\t1.10200\t7\t0.00\t0.00\t0.00\t0.00\t10 030.00\t
2024.01.03 09:00:00\t5\tEURUSD\tbuy\tout\t1\t1.10100\t8\t-3.50\t0.00\t-1.20\t100.00\t10 125.30\t
"""
SIGNAL = """Time;Type;Volume;Symbol;Price;S/L;T/P;Time;Price;Commission;Swap;Profit
2024.01.02 15:00:00;Sell;1;EURUSD;1.102;;;2024.01.03 09:00:00;1.101;-3.5;-1.2;100
2024.01.02 10:15:00;Buy;0.3;EURUSD;1.1;1.099;1.108;2024.01.02 13:30:05;1.101;0;0;30
"""
MT4 = """Ticket;Open Time;Type;Size;Item;Price;S / L;T / P;Close Time;Price;Commission;Taxes;Swap;Profit
900;2024.01.01 00:00:00;balance;;Deposit;;;;;;;;;10000
901;2024.01.02 10:15:00;buy;0,30;eurusd;1,10000;1,09900;1,10800;2024.01.02 13:30:05;1,10100;0;0;0;30
902;2024.01.02 15:00:00;sell;1,00;eurusd;1,10200;0,00000;0,00000;2024.01.03 09:00:00;1,10100;0;0;0;100
903;2024.01.02 15:00:00;buy limit;1,00;eurusd;1,10200;0;0;2024.01.03 09:00:00;1,10100;0;0;0;0
"""
BARE = """2024.01.02 10:15:00;Buy;0.3;EURUSD;1.1;0.3;2024.01.02 13:30:05;1.101;0;0;30
2024.01.02 15:00:00;Sell;1;EURUSD;1.102;1;2024.01.03 09:00:00;1.101;-3.5;-1.2;100
"""


def write(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "Signal 1 ü.csv"
    path.write_text(text, encoding=encoding, newline="")
    return path


@pytest.mark.parametrize("name", ["POSITIONS", "DEALS", "SIGNAL", "MT4", "BARE"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig"])
def test_layouts(name: str, encoding: str, tmp_path: Path) -> None:
    deals = of_symbol(read_deals(write(tmp_path, globals()[name], encoding)), "EURUSD", where="test")
    stops = name not in ("DEALS", "BARE")  # have none
    assert [one.side for one in deals] == [1, -1]
    for found, want in zip(deals, (FIRST, SECOND), strict=True):
        assert (found.opened, found.closed, found.lots) == (want.opened, want.closed, want.lots)
        assert (found.tp, found.sl) == ((want.tp, want.sl) if stops else (None, None))


def test_entries_and_exits_are_matched(tmp_path: Path) -> None:
    """0.5 and 0.3 bought; 0.6 sold close the first and 0.1 of the second; in/out of 0.5 leaves 0.3 short."""
    lines = ["Time,Symbol,Type,Direction,Volume,Price"]
    for clock, kind, way, lots in (
        ("10:00", "buy", "in", 0.5),
        ("11:00", "buy", "in", 0.3),
        ("12:00", "sell", "out", 0.6),
        ("13:00", "sell", "in/out", 0.5),
        ("14:00", "buy", "in", 0.2),  # a hedge, still open
    ):
        lines.append(f"2024.01.02 {clock}:00,EURUSD,{kind},{way},{lots},1.10000")
    deals = read_deals(write(tmp_path, "\n".join(lines)))
    got = [(one.side, one.lots, one.opened, one.closed) for one in deals]

    def at(hour: int) -> int:
        return ns(f"2024-01-02T{hour}:00")

    assert got == [
        (1, 0.5, at(10), at(12)),
        (1, 0.1, at(11), at(12)),
        (1, 0.2, at(11), at(13)),
        (-1, 0.3, at(13), NEVER),
        (1, 0.2, at(14), NEVER),
    ]


def test_an_exit_without_entry_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = "Time,Symbol,Type,Direction,Volume,Price\n2024.01.02 10:00:00,X,sell,out,1,1.1\n"
    text += "2024.01.02 11:00:00,X,sell,in,1,1.1\n"
    assert [one.side for one in read_deals(write(tmp_path, text))] == [-1]
    assert "1 exits have no entry before them" in caplog.text


def hours(count: int) -> Bars:
    close = 1.1 + 0.001 * np.arange(count)
    o = np.concatenate([[1.1], close[:-1]])
    time = ns("2024-01-02T09:00") + np.arange(count) * HOUR
    return Bars(time, o, np.maximum(o, close), np.minimum(o, close), close, np.zeros(count), "EURUSD", HOUR)


def test_actions_hold_what_the_deals_held(tmp_path: Path) -> None:
    """10:15 to 13:30: from the open of 11:00, decided at the close of 10:00, to that of 14:00."""
    bars = hours(8)
    actions = deal_actions([FIRST, SECOND], bars, RULES)
    np.testing.assert_allclose(actions[:, 0], [0, 0.3, 0.3, 0.3, 0, 0, 0, 0], atol=1e-7)
    np.testing.assert_allclose(actions[:, 3], [0, 0, 0, 0, 0, 1, 1, 1])  # at 15:00 sharp: that bar's open
    # target 1.1080 and stop 1.0990 from the closes 1.101, 1.102, 1.103, in thousands of 0.0001
    np.testing.assert_allclose(actions[1:4, 1], [0.07, 0.06, 0.05], atol=1e-6)
    np.testing.assert_allclose(actions[1:4, 2], [0.02, 0.03, 0.04], atol=1e-6)
    done = simulate(bars, RULES, Fixed(actions))
    assert list(done.trades.entry) == [2, 6]
    # bought at 1.101, sold at 1.104 (14:00): 0.3 x 300; short from 1.105 to the end 1.107: -200
    assert list(done.trades.gross) == [9_000, -20_000]
    for end in (3, 5, 7):
        np.testing.assert_array_equal(deal_actions([FIRST, SECOND], bars[:end], RULES), actions[:end])


def test_lots_add_up_and_the_furthest_stop_counts() -> None:
    bars = hours(4)
    more = Deal("EURUSD", FIRST.opened, FIRST.closed, 1, 0.2, tp=1.1050, sl=1.0980)
    actions = deal_actions([FIRST, more], bars, RULES)
    np.testing.assert_allclose(actions[1, :3], [0.5, 0.07, 0.03], atol=1e-6)


def test_a_deal_is_over_where_its_stop_is_passed() -> None:
    """Closes 1.101, 1.102, 1.103 of a short deal with its stop at 1.1025: the third is beyond."""
    short = Deal("EURUSD", FIRST.opened, FIRST.closed, -1, 1.0, sl=1.1025)
    np.testing.assert_allclose(deal_actions([short], hours(8), RULES)[:, 3], [0, 1, 1, 0, 0, 0, 0, 0])


def test_deals_between_two_opens_are_told(caplog: pytest.LogCaptureFixture) -> None:
    short = Deal("EURUSD", ns("2024-01-02T10:05"), ns("2024-01-02T10:50"), 1, 1.0)
    deal_actions([short, SECOND], hours(8), RULES)
    assert "1 of 2 deals lie between two opens" in caplog.text
    with pytest.raises(DataError, match="none of 1 deals"):
        deal_actions([short], hours(8), RULES)


def test_symbols(tmp_path: Path) -> None:
    deals = read_deals(write(tmp_path, SIGNAL.replace("Sell;1;EURUSD", "Sell;1;GBPUSD.m")))
    assert len(of_symbol(deals, "eurusd", where="x")) == 1
    assert len(of_symbol(deals, "GBPUSD", where="x")) == 1  # the broker's .m
    with pytest.raises(DataError, match=r"no deals of GBPUSD; there are deals of EURUSD, GBPUSD\.m"):
        of_symbol(deals, "GBPUSD", where="x", asked=True)
    with pytest.raises(DataError, match="--signals-symbol"):
        of_symbol(deals, "USDJPY", where="x")
    with pytest.raises(DataError, match="which have no symbol"):
        of_symbol(deals, "", where="x")
    assert len(of_symbol(deals[:1], "", where="x")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,open,high,low,close\n2024.01.01,1,2,1,2\n", "no table of deals is known in it"),
        ("<html><table><tr><td>Deals</td></tr></table></html>", "is a web page, not a table"),
        (SIGNAL.replace(";1.102;", ";1.1o2;").replace("Sell;1;", "Sell;one;"), ".csv:2: volume is 'one'"),
        (
            SIGNAL.replace("2024.01.03 09:00", "2024.13.03 09:00"),
            "closed is '2024.13.03 09:00:00', not a time",
        ),
        (
            SIGNAL.replace("2024.01.03 09:00", "2524.01.03 09:00"),
            "closed is '2524.01.03 09:00:00', not a time",
        ),
        (DEALS.replace("\tout\t1", "\tinto\t1"), "direction is 'into', not in, out, in/out or out by"),
        (SIGNAL.replace("Buy;0.3", "Buy;-0.3"), "volume is '-0.3', not more than 0"),
        ("\n".join(DEALS.splitlines()[:3]) + "\n", "no deal of buying or selling"),
    ],
)
def test_refusals(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_deals(write(tmp_path, text))
    assert message in str(caught.value)
    assert "Fix: " in str(caught.value)
