"""Exports as vendors and programs write them: read right, or refused naming the option."""

# ruff: noqa: E501

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.read import read_bars
from neuronet.bars.synthetic import make_bars
from neuronet.errors import DataError

NAMES = ("time", "open", "high", "low", "close", "volume")
HOURS = make_bars(300, seed=3)
MINUTES = make_bars(600, seed=4, step="1m")
DAYS = make_bars(200, seed=5, step="1d", price=123.0)
BIG = make_bars(200, seed=6, step="1d", price=43_210.0)  # prices with groups of thousands


class Layout(NamedTuple):
    """A header, and a line to be filled with t (datetime), s and ms (epochs), o, h, l, c, v."""

    line: str
    header: str = ""
    bars: Bars = HOURS
    encoding: str = "utf-8"
    newest_first: bool = False
    comma: bool = False  # swap . and , in all cells of numbers: write them as {o:,.2f}
    footer: str = ""
    newline: str = "\n"
    volume: bool = True


OHLCV = "{o:.5f},{h:.5f},{l:.5f},{c:.5f},{v:.0f}"
TABS = OHLCV.replace(",", "\t")
SEMI = OHLCV.replace(",", ";")
INVESTING = '"{t:%d.%m.%Y}","{c:,.2f}","{o:,.2f}","{h:,.2f}","{l:,.2f}","{k:,.2f}K","-0,01%"'
VENDORS = {
    "Dukascopy, old": Layout("{t:%d.%m.%Y %H:%M:%S}.000," + OHLCV, "Gmt time,Open,High,Low,Close,Volume"),
    "Dukascopy, UTC column": Layout(
        "{t:%d.%m.%Y %H:%M:%S}.000 UTC," + OHLCV, "UTC,Open,High,Low,Close,Volume"
    ),
    "Dukascopy, new": Layout("{ms}," + OHLCV, "timestamp,open,high,low,close,volume"),
    "Dukascopy, offset": Layout(
        "{t:%d.%m.%Y %H:%M:%S}.000 GMT+0000," + OHLCV, "Local time,Open,High,Low,Close,Volume"
    ),
    "TrueFX-like": Layout("EUR/USD,{t:%Y%m%d %H:%M:%S}.000," + OHLCV),
    "TradingView, epoch": Layout("{s}," + OHLCV + ",NaN", "time,open,high,low,close,Volume,Plot"),
    "TradingView, zone": Layout("{t:%Y-%m-%dT%H:%M:%S}+00:00," + OHLCV, "time,open,high,low,close,Volume"),
    "cTrader": Layout("{t:%d/%m/%Y %H:%M}," + OHLCV, "Time,Open,High,Low,Close,Volume"),
    "cTrader, two columns": Layout("{t:%Y.%m.%d},{t:%H:%M}," + OHLCV),
    "NinjaTrader": Layout("{t:%Y%m%d %H%M%S};" + SEMI, bars=MINUTES),
    "NinjaTrader, daily": Layout("{t:%Y%m%d};" + SEMI, bars=DAYS),
    "MetaStock": Layout(
        "EURUSD,60,{t:%Y%m%d},{t:%H%M%S}," + OHLCV + ",0",
        "<TICKER>,<PER>,<DTYYYYMMDD>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>",
    ),
    "AmiBroker": Layout(
        "EURUSD,{t:%Y-%m-%d},{t:%H:%M:%S}," + OHLCV, "Ticker,Date,Time,Open,High,Low,Close,Volume"
    ),
    "AmiBroker, US": Layout(
        "SPY,{t:%m/%d/%Y %H:%M:%S}," + OHLCV, "Ticker,Date/Time,Open,High,Low,Close,Volume"
    ),
    "TradeStation": Layout(
        '{t:%m/%d/%Y},{t:%H:%M},{o:.5f},{h:.5f},{l:.5f},{c:.5f},{v:.0f},0',
        '"Date","Time","Open","High","Low","Close","Up","Down"', volume=False,
    ),
    "Yahoo": Layout(
        "{t:%Y-%m-%d},{o:.6f},{h:.6f},{l:.6f},{c:.6f},{a:.6f},{v:.0f}",
        "Date,Open,High,Low,Close,Adj Close,Volume", bars=DAYS,
    ),
    "Yahoo, web table": Layout(
        '"{t:%b %d, %Y}",{o:.2f},{h:.2f},{l:.2f},{c:.2f},{a:.2f},"{v:,.0f}"',
        "Date,Open,High,Low,Close,Adj Close,Volume", bars=DAYS, newest_first=True,
    ),
    "Stooq, web": Layout("{t:%Y-%m-%d}," + OHLCV, "Date,Open,High,Low,Close,Volume", bars=DAYS, newline="\r\n"),
    "Stooq, Polish": Layout(
        "{t:%Y-%m-%d}," + OHLCV, "Data,Otwarcie,Najwyzszy,Najnizszy,Zamkniecie,Wolumen", bars=DAYS
    ),
    "Alpha Vantage, intraday": Layout(
        "{t:%Y-%m-%d %H:%M:%S}," + OHLCV, "timestamp,open,high,low,close,volume", newest_first=True
    ),
    "Polygon": Layout("{v:.0f},{o:.5f},{o},{c},{h},{l},{ms},17", "v,vw,o,c,h,l,t,n"),
    "Polygon, flat file": Layout(
        "EURUSD,{v:.0f},{o},{c},{h},{l},{ns},5", "ticker,volume,open,close,high,low,window_start,transactions"
    ),
    "Binance, header": Layout(
        "{ms}," + OHLCV + ",{ms},1.5,7,0.5,0.5,0",
        "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,"
        "taker_buy_quote_volume,ignore",
    ),
    "Kraken, API": Layout("{s},{o:.5f},{h:.5f},{l:.5f},{c:.5f},{m:.5f},{v:.2f},12"),
    "Bitstamp, CryptoDataDownload": Layout(
        "{s},{t:%Y-%m-%d %H:%M:%S},BTC/USD,{o},{h},{l},{c},{v:.0f},5.5",
        "https://www.CryptoDataDownload.com\nunix,date,symbol,open,high,low,close,Volume BTC,Volume USD",
        newest_first=True,
    ),
    "CryptoDataDownload, AM PM": Layout(
        "{t:%Y-%m-%d %I-%p},BTCUSD,{o},{h},{l},{c},{v:.0f},5.5",
        "https://www.CryptoDataDownload.com\nDate,Symbol,Open,High,Low,Close,Volume BTC,Volume USD",
        newest_first=True,
    ),
    "Finam": Layout(
        "SBER,60,{t:%Y%m%d},{t:%H%M%S}," + OHLCV, "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>"
    ),
    "Finam, dd/mm/yy": Layout(
        "SBER;60;{t:%d/%m/%y};{t:%H:%M};" + SEMI, "<TICKER>;<PER>;<DATE>;<TIME>;<OPEN>;<HIGH>;<LOW>;<CLOSE>;<VOL>"
    ),
    "Finam, no ticker": Layout("{t:%Y%m%d}\t{t:%H%M}\t" + TABS, "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<VOL>"),
    "MOEX": Layout(
        "{o};{c};{h};{l};1000.5;{v:.0f};{t:%Y-%m-%d %H:%M:%S};{t:%Y-%m-%d %H}:59:59",
        "candles\n\nopen;close;high;low;value;volume;begin;end", encoding="cp1251",
    ),
    "Nasdaq Data Link": Layout(
        "{t:%Y-%m-%d},{o},{h},{l},{c},{v:.0f},0.0,1.0,{o},{h},{l},{c},{v:.0f}",
        "Date,Open,High,Low,Close,Volume,Ex-Dividend,Split Ratio,Adj. Open,Adj. High,Adj. Low,Adj. Close,"
        "Adj. Volume", bars=DAYS, newest_first=True,
    ),
    "Nasdaq, dollars": Layout(
        "{t:%m/%d/%Y},${c:.2f},{v:.0f},${o:.2f},${h:.2f},${l:.2f}", "Date,Close/Last,Volume,Open,High,Low",
        bars=DAYS, newest_first=True,
    ),
    "Investing, English": Layout(
        '"{t:%m/%d/%Y}","{c:,.2f}","{o:,.2f}","{h:,.2f}","{l:,.2f}","{k:.2f}K","0.10%"',
        '"Date","Price","Open","High","Low","Vol.","Change %"', BIG, "utf-8-sig", newest_first=True,
    ),
    "Investing, German": Layout(
        INVESTING, '"Datum","Zuletzt","Eröffn.","Hoch","Tief","Vol.","+/- %"', BIG, "utf-8-sig", True, True
    ),
    "Investing, French": Layout(
        INVESTING.replace("%d.%m.%Y", "%d/%m/%Y"),
        '"Date","Dernier","Ouv."," Plus Haut","Plus Bas","Vol.","Variation %"', BIG, "utf-8-sig", True, True,
    ),
    "Investing, Spanish": Layout(
        INVESTING, '"Fecha","Último","Apertura","Máximo","Mínimo","Vol.","% var."', BIG, "utf-8-sig", True, True
    ),
    "Investing, Italian": Layout(
        INVESTING, '"Data","Ultimo","Apertura","Massimo","Minimo","Vol.","Var. %"', BIG, "utf-8-sig", True, True
    ),
    "Investing, Russian": Layout(
        INVESTING, '"Дата","Цена","Откр.","Макс.","Мин.","Объём","Изм. %"', BIG, "utf-8-sig", True, True
    ),
    "Investing, Turkish": Layout(
        INVESTING, '"Tarih","Şimdi","A\u00e7\u0131l\u0131\u015f","Yüksek","Düşük","Hac.","Fark %"', BIG, "utf-8-sig", True, True
    ),
    "Investing, Polish": Layout(
        INVESTING, '"Data","Ostatnio","Otwarcie","Max.","Min.","Wol.","Zmiana%"', BIG, "utf-8-sig", True, True
    ),
    "Investing, Chinese": Layout(
        '"{t:%Y-%m-%d}","{c:,.2f}","{o:,.2f}","{h:,.2f}","{l:,.2f}","{k:.2f}K","0.10%"',
        '"日期","收盘","开盘","高","低","交易量","涨跌幅"', BIG, "utf-8-sig", newest_first=True,
    ),
    "Investing, Japanese": Layout(
        '"{t:%Y}年{t:%m}月{t:%d}日","{c:,.2f}","{o:,.2f}","{h:,.2f}","{l:,.2f}","{k:.2f}K","0.10%"',
        '"日付け","終値","始値","高値","安値","出来高","変化率 %"', BIG, "utf-8-sig", newest_first=True,
    ),
    "Bloomberg": Layout(
        "{t:%m/%d/%Y},{c},{o},{h},{l},{v:.0f}",
        "Security,SPX Index,,,,\nStart Date,1/2/2023,,,,\nPeriod,D,,,,\nCurrency,USD,,,,\n,,,,,\n"
        "Date,PX_LAST,PX_OPEN,PX_HIGH,PX_LOW,PX_VOLUME", bars=DAYS, newest_first=True,
    ),
    "Refinitiv": Layout(
        '{t:%d-%b-%Y},{c:.2f},0.1,0.01%,{o:.2f},{l:.2f},{h:.2f},"{v:,.0f}","1,000,000"',
        "Exchange Date,Close,Net,%Chg,Open,Low,High,Volume,Turnover", bars=DAYS, newest_first=True,
    ),
    "Refinitiv, tick history": Layout(
        "EUR=,,Market Price,{t:%Y-%m-%dT%H:%M:%S}.000000000Z,+0,Intraday 1Hour,{o},{h},{l},{c},{v:.0f}",
        "#RIC,Alias Underlying RIC,Domain,Date-Time,GMT Offset,Type,Open,High,Low,Last,Volume",
    ),
    "IB TWS": Layout("{t:%Y%m%d  %H:%M:%S}," + OHLCV + ",1.1,77", "Date,Open,High,Low,Close,Volume,WAP,Count"),
    "Oanda": Layout("{t:%Y-%m-%dT%H:%M:%S}.000000000Z," + OHLCV + ",True", "time,o,h,l,c,volume,complete"),
    "Oanda, mid": Layout(
        "True,{v:.0f},{t:%Y-%m-%dT%H:%M:%S}.000000000Z,{o},{h},{l},{c}", "complete,volume,time,mid.o,mid.h,mid.l,mid.c"
    ),
    "HistData": Layout("{t:%Y%m%d %H%M%S};" + SEMI),
    "HistData, MetaTrader": Layout("{t:%Y.%m.%d},{t:%H:%M}," + OHLCV),
    "MT5, thousands by spaces": Layout(
        "{t:%Y.%m.%d}\t{o:_.2f}\t{h:_.2f}\t{l:_.2f}\t{c:_.2f}\t{v:.0f}\t0\t5",
        "<DATE>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>", bars=BIG, encoding="utf-16",
    ),
    "dd/mm/yyyy hh:mm": Layout("{t:%d/%m/%Y %H:%M}," + OHLCV, "Datetime,Open,High,Low,Close,Volume"),
    "Excel, sep=": Layout("{t:%d.%m.%Y %H:%M};" + SEMI, "sep=;\nDatum;Eröffnung;Hoch;Tief;Schluss;Volumen", encoding="cp1252"),
    "Russian, cp1251": Layout("{t:%d.%m.%Y %H:%M};" + SEMI, "Дата;Открытие;Максимум;Минимум;Закрытие;Объем", encoding="cp1251"),
    "Chinese, GB18030": Layout("{t:%Y/%m/%d %H:%M}," + OHLCV, "日期,开盘,最高,最低,收盘,成交量", encoding="gb18030"),
    "Japanese, Shift-JIS": Layout("{t:%Y/%m/%d}," + OHLCV, "日付,始値,高値,安値,終値,出来高", DAYS, "shift_jis"),
    "Korean, cp949": Layout("{t:%Y-%m-%d}," + OHLCV, "날짜,시가,고가,저가,종가,거래량", DAYS, "cp949"),
    "Polish, cp1250": Layout("{t:%Y-%m-%d}," + OHLCV, "Data,Otwarcie,Najwyższy,Najniższy,Zamknięcie,Wolumen", DAYS, "cp1250"),
    "UTF-16, big endian": Layout("{t:%Y.%m.%d %H:%M}\t" + TABS, encoding="utf-16-be"),
    "Barchart": Layout(
        "{t:%m/%d/%Y},{o},{h},{l},{c},0.1,0.01%,{v:.0f}", "Time,Open,High,Low,Last,Change,%Chg,Volume", DAYS,
        newest_first=True, footer='"Downloaded from Barchart.com as of 01-02-2024 02:30am CST"\n',
    ),
    "Postgres": Layout("{t:%Y-%m-%d %H:%M:%S}+00," + OHLCV, "ts,open,high,low,close,volume"),
}  # fmt: skip


def fill(layout: Layout) -> bytes:
    """Write the layout's bars in it."""
    lines = []
    for time, o, h, low, c, v in zip(*(getattr(layout.bars, n) for n in NAMES), strict=True):
        at, s = datetime.fromtimestamp(time / 1e9, UTC), int(time) // 10**9
        line = layout.line.format(
            t=at, s=s, ms=s * 10**3, ns=s * 10**9, o=o, h=h, l=low, c=c, v=v, k=v / 1e3, a=c * 0.9, m=(h + low) / 2
        )  # fmt: skip
        lines.append(line.replace("_", " "))
    if layout.comma:
        lines = [re.sub(r'"[0-9,]+[.][0-9]+K?"', _swapped, line) for line in lines]
    body = lines[::-1] if layout.newest_first else lines
    text = "\n".join([*([layout.header] if layout.header else []), *body, ""]) + layout.footer
    return text.replace("\n", layout.newline).encode(layout.encoding)


def _swapped(cell: re.Match[str]) -> str:
    return cell.group().translate(str.maketrans(".,", ",."))


@pytest.mark.parametrize("vendor", VENDORS)
def test_vendor(vendor: str, tmp_path: Path) -> None:
    layout = VENDORS[vendor]
    path = tmp_path / "bars.csv"
    path.write_bytes(fill(layout))
    read, bars = read_bars(path), layout.bars
    two_digits = ".2f" in layout.line and ".5f" not in layout.line
    np.testing.assert_array_equal(read.time, bars.time)
    for name in NAMES[1:5]:
        want = getattr(bars, name).round(2) if two_digits else getattr(bars, name)
        np.testing.assert_array_equal(getattr(read, name), want, err_msg=name)
    if layout.volume:
        rough = 10.0 if "{k" in layout.line else 0.0
        np.testing.assert_allclose(read.volume, bars.volume, rtol=1e-12, atol=rough)
    warnings = [text for text in read.source["warnings"] if "the last, has" not in text]
    assert warnings == []


UNDECIDABLE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "days below 13": (
        "Date,Open,High,Low,Close\n" + "".join(f"0{d}/02/2024,1.5,1.6,1.4,1.5\n" for d in range(1, 9)),
        "--date-format",
        {"date_format": "dmy"},
    ),
    "days below 13, with clock": (
        "Date,Open,High,Low,Close\n" + "".join(f"05/02/2024 0{h}:00,1.5,1.6,1.4,1.5\n" for h in range(9)),
        "--date-format",
        {"date_format": "dmy"},
    ),
    "comma before three digits": (
        "Date;Open;High;Low;Close\n"
        + "".join(f"2024-02-0{d};1,500;1,600;1,400;1,50{d}\n" for d in range(1, 9)),
        "--decimal",
        {"decimal": ","},
    ),
    "two symbols below each other": (
        "symbol,Date,Open,High,Low,Close\n"
        + "".join(f"{s},2024-02-0{d},1.5,1.6,1.4,1.5\n" for s in ("AAA", "BBB") for d in range(1, 9)),
        "--symbol",
        {"symbol": "BBB"},
    ),
    "columns that nothing names": (
        "a,b,c,d,e\n" + "".join(f"2024-02-0{d},1.5,1.6,1.4,1.5\n" for d in range(1, 9)),
        "--columns",
        {"columns": {"time": "a", "open": "b", "high": "c", "low": "d", "close": 4}},
    ),
    "closes only": (
        "Date;Close\n" + "".join(f"2024-02-0{d};1.5\n" for d in range(1, 9)),
        "--columns open=Close,high=Close,low=Close,close=Close",
        {"columns": dict.fromkeys(("open", "high", "low", "close"), "Close")},
    ),
    "a header that lost a comma": (
        "Date,Open,High,Low,Close Volume\n"
        + "".join(f"2024-02-0{d},1.5,1.6,1.4,1.5,7\n" for d in range(1, 9)),
        "--columns",
        {"columns": {"time": 0, "open": 1, "high": 2, "low": 3, "close": 4, "volume": 5}},
    ),
}


@pytest.mark.parametrize("case", UNDECIDABLE)
def test_what_the_file_leaves_open_needs_an_option(case: str, tmp_path: Path) -> None:
    text, option, choice = UNDECIDABLE[case]
    path = tmp_path / "bars.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(option)):
        read_bars(path)
    read = read_bars(path, **choice)
    assert len(read) == (9 if "clock" in case else 8)
    assert read.time[0].astype("datetime64[ns]").astype(str)[:7] == "2024-02"
    assert read.open[0] == 1.5
