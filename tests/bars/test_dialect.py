"""Layouts of the real world, and random mixtures of them, around the same bars."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.read import read_bars
from neuronet.bars.synthetic import make_bars
from neuronet.errors import DataError, SpecError

Writer = Callable[..., Path]
Same = Callable[..., None]
Rewriter = Callable[..., Path]
HOUR = 3_600 * 10**9
COLUMNS = ("time", "open", "high", "low", "close", "volume")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


LAYOUTS = {
    "MT5 tab": dict(
        header="<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>",
        time="%Y.%m.%d\t%H:%M:%S", separator="\t",
    ),
    "MT5 joined": dict(
        header="DATETIME\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>", time="%Y.%m.%d %H:%M:%S", separator="\t"
    ),
    "MT5 script": dict(header=None, time="%Y.%m.%d %H:%M:%S", encoding="utf-16", newline="\r\n"),
    "UTF-16 without mark": dict(header=None, time="%Y.%m.%d %H:%M:%S", encoding="utf-16-be"),
    "MT4 history": dict(header=None, time="%Y.%m.%d,%H:%M", newline="\r\n"),
    "MT4 with header": dict(header="Date,Time,Open,High,Low,Close,Volume", time="%Y.%m.%d,%H:%M"),
    "one name for date and clock": dict(header="Date,Open,High,Low,Close,Volume", time="%Y-%m-%d,%H:%M:%S"),
    "HistData": dict(header=None, time="%Y%m%d %H%M%S", separator=";"),
    "unnamed index": dict(header=",Open,High,Low,Close,Volume"),
    "BOM and quotes": dict(header='"Time","Open","High","Low","Close","Volume"', encoding="utf-8-sig"),
    "upper case": dict(header="TIME,OPEN,HIGH,LOW,CLOSE,VOLUME"),
    "one letter": dict(header="time,o,h,l,c,volume"),
    "comment header": dict(
        header="# time,close,high,low,open,volume", order=["close", "high", "low", "open", "volume"]
    ),
    "close first": dict(
        header="date,close,volume,open,high,low", order=["close", "volume", "open", "high", "low"]
    ),
    "Chinese": dict(
        header="时间,开盘,收盘,最高,最低,成交量", order=["open", "close", "high", "low", "volume"]
    ),
    "German": dict(
        header="Datum;Zeit;Eröffnung;Hoch;Tief;Schluss;Volumen", time="%d.%m.%Y;%H:%M", separator=";",
        encoding="cp1252", number=lambda value: f"{value:.10g}".replace(".", ","),
    ),
    "bid and ask": dict(
        header="date,bidopen,bidclose,bidhigh,bidlow,tickqty",
        order=["open", "close", "high", "low", "volume"],
    ),
    "prefixed": dict(header="Index,AAPL.Open,AAPL.High,AAPL.Low,AAPL.Close,AAPL.Volume"),
    "yfinance": dict(
        header="Price,Close,High,Low,Open,Volume\nTicker,X,X,X,X,X\nDatetime,,,,,",
        order=["close", "high", "low", "open", "volume"], time="%Y-%m-%d %H:%M:%S+00:00",
    ),
    "TradingView": dict(header="time,open,high,low,close,Volume", time="%Y-%m-%dT%H:%M:%SZ"),
    "Dukascopy": dict(header="Gmt time,Open,High,Low,Close,Volume", time="%d.%m.%Y %H:%M:%S.000"),
    "day first": dict(header="Date,Open,High,Low,Close,Vol", time="%d/%m/%Y %H:%M"),
    "month first": dict(header="Date,Open,High,Low,Close,Vol", time="%m/%d/%Y %I:%M:%S %p"),
    "lines above": dict(header="Created on 12-30-2020,https://example.org\n\nDate,Open,High,Low,Close,Volume"),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str, bars: Bars, write: Writer, same: Same) -> None:
    read = read_bars(write(bars, **LAYOUTS[layout]))
    same(read, bars)
    assert read.source["warnings"] == []
    assert read.step == HOUR


def test_daily_export_without_clock(write: Writer, same: Same) -> None:
    bars = make_bars(40, step="1d")
    path = write(
        bars, header="<DATE>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>", time="%Y.%m.%d", separator="\t"
    )
    same(read_bars(path), bars)


def test_integer_prices_are_no_clock_times(write: Writer, same: Same) -> None:
    bars = make_bars(40, step="1d")
    points = Bars(bars.time, *(np.round(getattr(bars, n) * 1200) for n in COLUMNS[1:5]), volume=bars.volume)  # type: ignore[misc]
    same(read_bars(write(points, header=None, time="%Y-%m-%d")), points)
    same(read_bars(write(points, header="Date,Open,High,Low,Close,Volume", time="%Y-%m-%d")), points)


@pytest.mark.parametrize("unit", [10**9, 10**6, 10**3, 1])
@pytest.mark.parametrize("header", [None, "unix,open,high,low,close,volume"])
def test_epochs(
    unit: int, header: str | None, bars: Bars, tmp_path: Path, same: Same, rewrite: Rewriter
) -> None:
    rows = zip(bars.time // unit, *(getattr(bars, name) for name in COLUMNS[1:]), strict=True)
    lines = [
        *([header] if header else []),
        *(",".join(f"{v:.10g}" if i else str(v) for i, v in enumerate(r)) for r in rows),
    ]
    same(read_bars(rewrite(tmp_path / "bars.csv", lines)), bars)


def test_a_change_of_unit_is_reported(
    bars: Bars, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same: Same, rewrite: Rewriter
) -> None:
    monkeypatch.setattr("neuronet.bars.table.CHUNK", 100)
    units = np.where(np.arange(len(bars)) < 100, 10**9, 10**6)
    rows = zip(bars.time // units, bars.open, bars.high, bars.low, bars.close, bars.volume, strict=True)
    read = read_bars(rewrite(tmp_path / "bars.csv", [",".join(map(str, row)) for row in rows]))
    same(read, bars)
    assert read.source["warnings"] == [
        "the unit of time changes within the file: 100 rows in s, 260 rows in ms"
    ]


def test_row_numbers_before_the_time(bars: Bars, write: Writer, same: Same, rewrite: Rewriter) -> None:
    path = write(bars)
    lines = _lines(path)
    body = [f"{i},{line}" for i, line in enumerate(lines[1:])]
    same(read_bars(rewrite(path, ["," + lines[0], *body])), bars)
    same(read_bars(rewrite(path, [lines[0], *body])), bars)  # as R writes it: one name too few


def test_undecidable_dates_need_the_option(write: Writer, same: Same) -> None:
    bars = make_bars(8, step="1d", start="2024-02-01")
    path = write(bars, header="Date,Open,High,Low,Close,Volume", time="%d/%m/%Y")
    with pytest.raises(DataError, match="--date-format"):
        read_bars(path)
    same(read_bars(path, date_format="dmy"), bars)
    same(read_bars(path, date_format="%d/%m/%Y"), bars)
    assert read_bars(path, date_format="mdy").time[0] == np.datetime64("2024-01-02", "ns").astype(np.int64)


def test_columns_by_name_or_number(bars: Bars, write: Writer, same: Same) -> None:
    prices = {"open": "a", "high": "b", "low": 4, "close": "5"}
    path = write(bars, header="when,hour,a,b,c,d,e", time="%d. %b %Y,%Hh%M")
    with pytest.raises(DataError, match="not bars: no column holds times; the columns are when, hour, a, b"):
        read_bars(path)
    options = {"columns": {"date": "when", "time": "hour", "volume": "e", **prices}}
    same(read_bars(path, date_format="%d. %b %Y %Hh%M", **options), bars)
    with pytest.raises(
        DataError, match=r"columns: open=x fits none of when, hour, a, .*\nFix: give names or"
    ):
        read_bars(path, columns={"open": "x"})
    with pytest.raises(SpecError, match="'bid' is no role: use date, time, open"):
        read_bars(path, columns={"bid": "a"})


def test_undecidable_decimals_need_the_option(bars: Bars, write: Writer) -> None:
    path = write(
        bars,
        separator=";",
        header="time;open;high;low;close;volume",
        number=lambda v: f"1,{int(v * 100) % 900 + 100}",
    )
    with pytest.raises(DataError, match="--decimal"):
        read_bars(path)
    assert 1.0 < read_bars(path, decimal=",").close[0] < 2.0
    assert read_bars(path, decimal=".").close[0] > 1_000.0
