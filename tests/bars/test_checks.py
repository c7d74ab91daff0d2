"""Each kind of fault in a file: what is kept, dropped or refused, with its line numbers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.read import load_bars, read_bars
from neuronet.bars.synthetic import make_bars
from neuronet.errors import DataError

Writer = Callable[..., Path]
Same = Callable[..., None]
Rewriter = Callable[..., Path]
HOUR = 3_600 * 10**9
COLUMNS = ("time", "open", "high", "low", "close", "volume")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_newest_first_is_a_layout(bars: Bars, write: Writer, same: Same, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = _lines(path)
    read = read_bars(rewrite(path, [lines[0], *lines[:0:-1]]))
    same(read, bars)
    assert read.source["order"] == "newest first"
    assert read.source["warnings"] == []


def test_unsorted_rows_give_the_same_bars(
    bars: Bars, write: Writer, caplog: pytest.LogCaptureFixture, same: Same, rewrite: Rewriter
) -> None:
    path = write(bars)
    lines = _lines(path)
    lines[61], lines[62] = lines[62], lines[61]
    with caplog.at_level(logging.WARNING, "neuronet"):
        same(read_bars(rewrite(path, lines)), bars)
    assert caplog.messages == ["bars.csv: 2 rows not in order of time, sorted: lines 62, 63"]
    shuffled = [lines[0], *np.random.default_rng(0).permutation(lines[1:])]
    same(read_bars(rewrite(path, shuffled)), bars)


def test_duplicates(bars: Bars, write: Writer, same: Same, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = _lines(path)
    exact = read_bars(rewrite(path, [*lines[:50], lines[49], *lines[50:]]))
    same(exact, bars)
    assert exact.source["warnings"] == ["1 row repeated by an equal row, dropped: line 50"]
    wrong = ",".join([*lines[49].split(",")[:4], "1.00001", "5"])
    newer = read_bars(rewrite(path, [*lines[:49], wrong, *lines[49:]]))
    same(newer, bars)
    assert newer.source["warnings"] == [
        "1 row with the time of a later row but other values, the later kept: line 50"
    ]


def test_times_that_lost_digits(bars: Bars, tmp_path: Path, rewrite: Rewriter) -> None:
    rows = [
        f"{t / 1e6:.5E},{o},{h},{lo},{c}"
        for t, o, h, lo, c in zip(*(getattr(bars, n) for n in COLUMNS[:5]), strict=True)
    ]
    path = rewrite(tmp_path / "excel.csv", ["time,open,high,low,close", *rows])
    with pytest.raises(
        DataError, match=r"have the time of another row but other prices, lines 2, 3, .*\n.*lost digits"
    ):
        read_bars(path)


def test_missing_prices_and_volumes(bars: Bars, write: Writer, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = _lines(path)
    for row, cells in ((10, ["", None]), (20, ["NULL", None]), (30, ["inf", None]), (40, [None, ""])):
        parts = lines[row].split(",")
        parts[2], parts[5] = (
            new if new is not None else old for new, old in zip(cells, (parts[2], parts[5]), strict=True)
        )
        lines[row] = ",".join(parts)
    read = read_bars(rewrite(path, lines))
    assert len(read) == len(bars) - 3
    assert read.volume[read.time == bars.time[39]] == 0.0
    assert read.source["warnings"][:2] == [
        "3 rows without high dropped: lines 11, 21, 31",
        "1 row without volume, taken as 0: line 41",
    ]


def test_unreadable_times(bars: Bars, write: Writer, same: Same, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = _lines(path)
    read = read_bars(rewrite(path, ["-(" + lines[1], *lines[2:]]))
    same(read, bars[1:])
    assert read.source["warnings"] == ["1 row without a readable time dropped: line 1"]
    with pytest.raises(DataError, match="50 of 360 rows have no readable time, lines 52, 53, 54 and 47 more"):
        read_bars(rewrite(path, [*lines[:51], *("x" + line for line in lines[51:101]), *lines[101:]]))


def test_impossible_candles(bars: Bars, write: Writer, same: Same, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = _lines(path)
    parts = lines[21].split(",")
    parts[2], parts[3] = parts[3], parts[2]
    lines[21] = ",".join(parts)
    read, findings = load_bars(rewrite(path, lines))
    assert len(read) == len(bars)
    assert findings.counts["impossible"] == 1
    assert findings.bad_lines == [22]
    assert findings.warnings == ["1 row with high or low inside the body, kept: line 22"]
    wrong_order = write(bars, order=("open", "close", "high", "low", "volume"))
    with pytest.raises(DataError, match="are the columns in the order you think"):
        read_bars(wrong_order)
    right = {"open": "open", "close": "high", "high": "low", "low": "close"}
    same(read_bars(wrong_order, columns=right), bars)


def test_zero_and_negative_prices(bars: Bars, write: Writer, same: Same) -> None:
    low = bars.low.copy()
    low[11] = 0.0
    odd = Bars(bars.time, bars.open, bars.high, low, bars.close, bars.volume)
    read = read_bars(write(odd))
    same(read, odd)
    assert read.source["warnings"] == ["1 row with a lone price of 0, kept: line 13"]
    oil = Bars(bars.time, *(getattr(bars, n) - 1.05 for n in COLUMNS[1:5]), volume=bars.volume)  # type: ignore[misc]
    assert read_bars(write(oil)).source["warnings"] == []


def test_several_symbols(bars: Bars, write: Writer, same: Same, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = _lines(path)
    both = [
        "symbol," + lines[0],
        *("AAA," + x for x in lines[1:]),
        *("BBB," + x.replace(",1.", ",2.") for x in lines[1:]),
    ]
    with pytest.raises(
        DataError, match=r"2 symbols in one file: AAA, BBB\nFix: choose one with --symbol AAA"
    ):
        read_bars(rewrite(path, both))
    read = read_bars(path, symbol="AAA")
    same(read, bars)
    assert read.symbol == "AAA"
    with pytest.raises(DataError, match="2 symbols in one file: AAA, BBB, not CCC"):
        read_bars(path, symbol="CCC")


def test_offset_from_utc(bars: Bars, write: Writer) -> None:
    path = write(bars)
    ahead = read_bars(path, utc_offset=2)
    np.testing.assert_array_equal(ahead.time, bars.time - 2 * HOUR)
    assert ahead.source["time_zone"] == "UTC+2 h"
    assert read_bars(path).source["time_zone"] == "as written"
    with pytest.raises(DataError, match="both a time zone and an offset"):
        read_bars(path, utc_offset=2, tz="UTC")
    with pytest.raises(DataError, match="unknown time zone 'Mars/Olympus'"):
        read_bars(path, tz="Mars/Olympus")
    with pytest.raises(DataError, match="carry their own offset"):
        read_bars(write(bars, time="%Y-%m-%dT%H:%M:%SZ"), tz="Europe/Athens")


@pytest.mark.parametrize("minutes", [60, 15])
def test_clock_changes(minutes: int, write: Writer, same: Same, rewrite: Rewriter) -> None:
    """A repeated hour goes to its two passes in order, a skipped one leaves no gap."""
    for start in ("2024-11-02T20:00", "2024-03-09T20:00"):
        time = (
            np.datetime64(start, "ns").astype(np.int64) + np.arange(20 * 60 // minutes) * minutes * 60 * 10**9
        )
        base = make_bars(len(time))
        utc = Bars(time, base.open, base.high, base.low, base.close, base.volume)
        local = (
            pd.DatetimeIndex(time.view("datetime64[ns]")).tz_localize("UTC").tz_convert("America/New_York")
        )
        path = write(utc)
        lines = _lines(path)
        stamps = local.strftime("%Y-%m-%d %H:%M:%S")
        rows = [f"{s},{line.split(',', 1)[1]}" for s, line in zip(stamps, lines[1:], strict=True)]
        read = read_bars(rewrite(path, [lines[0], *rows]), tz="America/New_York")
        same(read, utc)
        backwards = read_bars(rewrite(path, [lines[0], *rows[::-1]]), tz="America/New_York")
        same(backwards, utc)
        assert read.source["warnings"] == []
        if start > "2024-06":
            path = rewrite(path, [lines[0], *rows])
            assert "looks like a clock change: give --tz" in " ".join(read_bars(path).source["warnings"])
