"""Each option of reading: what it changes, and that a wrong one is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.options import ReadOptions
from neuronet.bars.read import read_bars
from neuronet.errors import DataError, SpecError

Writer = Callable[..., Path]
Same = Callable[..., None]
Rewriter = Callable[..., Path]
HOUR = 3_600 * 10**9
COLUMNS = ("time", "open", "high", "low", "close", "volume")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _rows(bars: Bars, keep: Any) -> Bars:
    return Bars(*(getattr(bars, name)[keep] for name in COLUMNS))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("nan", "maybe", r"--nan: nan cannot be 'maybe'\nFix: choose drop, ffill, error"),
        ("bad_bars", "x", "--bad-bars: bad_bars cannot be 'x'"),
        ("decimal", ";", "choose ., ,"),
        ("utc_offset", 30, "give hours from UTC"),
        ("date_format", "ddmm", "choose dmy, mdy, ymd, or a pattern"),
        ("tz", 5, "give a text"),
        ("columns", "open=1", "give a dict"),
        ("columns", {"bid": 1}, "'bid' is no role"),
    ],
)
def test_wrong_options(option: str, value: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        ReadOptions(**{option: value})


def test_chosen_options_are_kept(bars: Bars, write: Writer) -> None:
    path = write(bars)
    assert read_bars(path).source["options"] == {}
    read = read_bars(path, nan="ffill", columns={"volume": "volume"}, utc_offset=2, strict=True)
    assert read.source["options"] == {"columns": {"volume": "volume"}, "utc_offset": 2, "nan": "ffill"}


def test_nan(bars: Bars, write: Writer, same: Same, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = _lines(path)
    for row in (1, 11, 12):
        cells = lines[row].split(",")
        lines[row] = ",".join([cells[0], "", *cells[2:]])
    path = rewrite(path, lines)
    same(read_bars(path), _rows(bars, np.setdiff1d(np.arange(len(bars)), [0, 10, 11])))
    filled = read_bars(path, nan="ffill")
    assert filled.source["warnings"][0] == (
        "2 rows without open filled with the close before: lines 12, 13; 1 at the start dropped"
    )
    want = {name: getattr(bars, name)[1:].copy() for name in COLUMNS}
    for name in COLUMNS[1:5]:
        want[name][9:11] = bars.close[9]
    want["volume"][9:11] = 0.0
    same(filled, Bars(**want))
    with pytest.raises(
        DataError, match=r"3 rows without open: lines 2, 12, 13\nFix: .* --nan drop or --nan ffill"
    ):
        read_bars(path, nan="error")


def test_bad_bars(bars: Bars, write: Writer, same: Same) -> None:
    high, low = bars.high.copy(), bars.low.copy()
    high[20], low[20] = low[20], high[20]
    low[40] = 0.0
    path = write(Bars(bars.time, bars.open, high, low, bars.close, bars.volume))
    kept = read_bars(path)
    assert kept.high[20] == high[20]
    assert kept.source["warnings"] == [
        "1 row with high or low inside the body, kept: line 22",
        "1 row with a lone price of 0, kept: line 42",
    ]
    dropped = read_bars(path, bad_bars="drop")
    same(dropped, _rows(bars, np.setdiff1d(np.arange(len(bars)), [20, 40])))
    assert dropped.source["warnings"][0] == "1 row with high or low inside the body, dropped: line 22"
    fixed = read_bars(path, bad_bars="fix")
    low[20], low[40] = bars.low[20], min(bars.open[40], bars.close[40])
    same(fixed, Bars(bars.time, bars.open, bars.high, low, bars.close, bars.volume))
    with pytest.raises(
        DataError, match=r"refused: line 22; 1 row with a lone price of 0.*\n.*--bad-bars keep"
    ):
        read_bars(path, bad_bars="error")


def test_a_lone_negative_price_is_a_bad_print(bars: Bars, write: Writer) -> None:
    low = bars.low.copy()
    low[7] = -low[7]
    path = write(Bars(bars.time, bars.open, bars.high, low, bars.close, bars.volume))
    assert read_bars(path).source["warnings"] == ["1 row with a lone price of 0 or less, kept: line 9"]


def test_a_spike(bars: Bars, write: Writer, same: Same) -> None:
    high = bars.high.copy()
    high[7] = 1e30
    path = write(Bars(bars.time, bars.open, high, bars.low, bars.close, bars.volume))
    told = "1 row with a lone price 10 times those before and after, "
    assert read_bars(path).source["warnings"] == [f"{told}kept: line 9"]
    for choice in ("drop", "fix"):
        read = read_bars(path, bad_bars=choice)
        same(read, _rows(bars, np.arange(len(bars)) != 7))
        assert read.source["warnings"][0] == f"{told}dropped: line 9"


def test_adjusted(bars: Bars, write: Writer, rewrite: Rewriter) -> None:
    path = write(bars)
    with pytest.raises(
        DataError, match=r"--adjusted needs a column of adjusted closes; the columns are time"
    ):
        read_bars(path, adjusted=True)
    head, *lines = _lines(path)
    scaled = [f"{line},{float(line.split(',')[4]) * 0.5:.10g}" for line in lines]
    path = rewrite(path, [f"{head},Adj Close", *scaled])
    assert read_bars(path).close[0] == bars.close[0]
    read = read_bars(path, adjusted=True)
    for name in COLUMNS[1:5]:
        np.testing.assert_allclose(getattr(read, name), getattr(bars, name) * 0.5, rtol=1e-9)
    np.testing.assert_array_equal(read.volume, bars.volume)
    frame = pd.read_csv(path, index_col=0, parse_dates=True)
    np.testing.assert_array_equal(read_bars(frame, adjusted=True).high, read.high)


def test_flat_bars(bars: Bars, write: Writer, same: Same) -> None:
    """A source that fills the weekends: two days of bars without volume and without a move a week."""
    time = bars.time[0] + np.arange(14 * 24) * HOUR
    open_ = (time // (24 * HOUR) + 3) % 7 < 5
    row = np.maximum(np.cumsum(open_) - 1, 0)
    values = {name: np.where(open_, getattr(bars, name)[row], bars.close[row]) for name in COLUMNS[1:5]}
    path = write(Bars(time, **values, volume=np.where(open_, bars.volume[row], 0.0)))
    assert read_bars(path).source["warnings"] == [
        "96 rows on weekends without volume and without a move: --drop-flat leaves such bars out"
    ]
    read = read_bars(path, drop_flat=True)
    same(read, bars[: open_.sum()])
    assert read.source["warnings"] == ["96 rows without volume and without a move dropped (--drop-flat)"]
    with pytest.raises(DataError, match="the only bar is without volume"):
        read_bars(write(Bars(time[:1], *(np.ones(1) for _ in range(4)), volume=np.zeros(1))), drop_flat=True)  # type: ignore[misc]


def test_skip_bad_rows(bars: Bars, write: Writer, same: Same, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = _lines(path)
    path = rewrite(path, [*lines[:50], lines[50] + lines[51], *lines[52:]])
    with pytest.raises(DataError, match=r"bars.csv:51: 11 fields instead of 6.*\nFix: .*--skip-bad-rows"):
        read_bars(path)
    read = read_bars(path, skip_bad_rows=True)
    same(read, _rows(bars, np.setdiff1d(np.arange(len(bars)), [49, 50])))
    assert read.source["warnings"][0] == "1 row with a wrong number of fields left out: line 51"


def test_strict(bars: Bars, write: Writer, rewrite: Rewriter) -> None:
    path = write(bars)
    assert len(read_bars(path, strict=True)) == len(bars)
    lines = _lines(path)
    with pytest.raises(DataError, match=r"1 warning under --strict: 1 row repeated by an equal row.*\nFix: "):
        read_bars(rewrite(path, [*lines, lines[-1]]), strict=True)


@pytest.mark.parametrize(
    "head",
    [
        "Price,Close,Close,High,High,Low,Low,Open,Open\nTicker,{0},{1},{0},{1},{0},{1},{0},{1}\nDate,,,,,,,,",
        ",{0},{1},{0},{1},{0},{1},{0},{1}\nDate,Close,Close,High,High,Low,Low,Open,Open",
        "Date,{0}.Close,{1}.Close,{0}.High,{1}.High,{0}.Low,{1}.Low,{0}.Open,{1}.Open",
        "Date,Close_{0},Close_{1},High_{0},High_{1},Low_{0},Low_{1},Open_{0},Open_{1}",
    ],
)
def test_symbols_side_by_side(head: str, bars: Bars, write: Writer, same: Same, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = []
    for line in _lines(path)[1:]:
        time, *prices = line.split(",")[:5]
        o, h, low, c = prices
        lines.append(
            ",".join([time, *(cell for p in (c, h, low, o) for cell in (f"{float(p) * 2:.10g}", p))])
        )
    path = rewrite(path, [head.format("VVV", "AAA"), *lines])
    with pytest.raises(
        DataError, match=r"2 symbols side by side in one file: AAA, VVV\nFix: choose one with --symbol AAA"
    ):
        read_bars(path)
    read = read_bars(path, symbol="AAA")
    same(read, bars, COLUMNS[:5])
    assert read.symbol == "AAA"
    np.testing.assert_allclose(read_bars(path, symbol="VVV").close, bars.close * 2, rtol=1e-9)
    with pytest.raises(DataError, match="AAA, VVV, not CCC"):
        read_bars(path, symbol="CCC")


def test_one_ticker_above_the_columns(bars: Bars, write: Writer) -> None:
    head = "Price,Open,High,Low,Close,Volume\nTicker,V,V,V,V,V\nDate,,,,,"
    assert read_bars(write(bars, header=head)).symbol == "V"
