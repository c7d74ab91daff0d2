"""Properties: any mixture of layouts reads back equal; a damaged byte is told, or changes its cell only."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuronet.bars.bars import Bars
from neuronet.bars.read import read_bars
from neuronet.bars.synthetic import make_bars
from neuronet.errors import DataError

Writer = Callable[..., Path]
Same = Callable[..., None]
COLUMNS = ("time", "open", "high", "low", "close", "volume")
EXAMPLES = int(os.environ.get("NEURONET_FUZZ", "40"))
LONG = EXAMPLES > 40  # a long run has other examples each time; --hypothesis-seed repeats it
HANG = 5_000  # milliseconds in which any file is read or refused
HEALTH = [HealthCheck.function_scoped_fixture]
NAMES = {
    "open": ["open", "<OPEN>", "Open", "Abertura", "AAPL.Open", "o"],
    "high": ["high", "<HIGH>", " High", "Máxima", "AAPL.High", "h"],
    "low": ["low", "<LOW>", "Low ", "Mínima", "AAPL.Low", "l"],
    "close": ["close", "<CLOSE>", "Last", "Price", "AAPL.Close", "c"],
    "volume": ["volume", "<TICKVOL>", "Vol.", "tick_volume", "v"],
}
DATES = ["%Y.%m.%d", "%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%b-%Y"]
CLOCKS = ["%H:%M", "%H:%M:%S", "%H:%M:%S.000", "%H%M%S", "%I:%M %p", "%I:%M:%S %p"]


def _number(decimal: str, thousands: str) -> Callable[[float], str]:
    marks = str.maketrans({".": decimal, ",": thousands})
    return lambda value: f"{value:,.10g}".translate(marks) if abs(value) < 1e9 else f"{value:.10g}"


@settings(max_examples=2 * EXAMPLES, deadline=HANG, derandomize=not LONG, suppress_health_check=HEALTH)
@given(data=st.data())
def test_any_mixture_of_layouts(data: st.DataObject, write: Writer, same: Same) -> None:
    """Read equal, or refused with the option that decides; never read as other bars."""
    draw = data.draw
    step, price = draw(st.sampled_from([("1h", 1.1), ("1d", 123.0), ("1h", 43_210.0), ("15m", 0.0123)]))
    bars = make_bars(draw(st.sampled_from([3, 60])), seed=draw(st.integers(0, 99)), step=step, price=price)
    bars = bars[:: draw(st.sampled_from([1, 1, 2]))]
    order = draw(st.permutations(COLUMNS[1:])) if draw(st.booleans()) else COLUMNS[1:]
    separator = draw(st.sampled_from("\t;,|"))
    date, clock = draw(st.sampled_from(DATES)), draw(st.sampled_from(CLOCKS))
    split = draw(st.booleans())
    decimal = draw(st.sampled_from([".", "."] if separator == "," else [".", ","]))
    thousands = draw(st.sampled_from(["", "", "'", " "] + [","] * (decimal == "." and separator != ",")))
    header = None
    if order != COLUMNS[1:] or draw(st.booleans()):
        words = [
            *(["Date", "Time"] if split else ["time"]),
            *(draw(st.sampled_from(NAMES[n])) for n in order),
        ]
        header = separator.join(words)
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"]))
    path = write(
        bars,
        header=header,
        order=order,
        time=f"{date}{separator if split else ' '}{clock}" if step != "1d" or split else date,
        separator=separator,
        number=_number(decimal, thousands),
        encoding=encoding,
        newline=draw(st.sampled_from(["\n", "\r\n", "\r"])),
    )
    if draw(st.booleans()):
        _turn_round(path, encoding, lines_above=0 if header is None else 1)
    try:
        read = read_bars(path)
    except DataError as error:
        assert "--date-format" in str(error) or "--decimal" in str(error), str(error)  # noqa: PT017
    else:
        same(read, bars)


def _turn_round(path: Path, encoding: str, lines_above: int) -> None:
    lines = path.read_bytes().decode(encoding).splitlines()
    text = "\n".join([*lines[:lines_above], *lines[: lines_above - 1 if lines_above else None : -1], ""])
    path.write_bytes(text.encode(encoding))


BARS = make_bars(40, seed=1)
BASES: dict[str, dict[str, Any]] = {
    "comma": {},
    "headerless": {"header": None, "time": "%Y.%m.%d,%H:%M"},
    "MetaTrader": {
        "header": "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>",
        "time": "%Y.%m.%d\t%H:%M:%S",
        "separator": "\t",
        "newline": "\r\n",
    },
    "decimal comma": {
        "header": "Datum;Eröffnung;Hoch;Tief;Schluss;Volumen",
        "time": "%d.%m.%Y %H:%M",
        "separator": ";",
        "encoding": "cp1252",
        "number": _number(",", ""),
    },
    "UTF-16": {"header": None, "encoding": "utf-16"},
    "UTF-8": {"header": "时间,开盘,最高,最低,收盘,成交量"},
    "quoted": {
        "header": '"Date","Price","Open","High","Low","Vol."',
        "order": ["close", "open", "high", "low", "volume"],
        "time": '"%m/%d/%Y %H:%M"',
        "number": lambda value: f'"{value * 1000:,.2f}"',
    },
    "day first": {"time": "%d/%m/%Y %H:%M", "number": lambda value: f"{value:.5f}"},
}
KINDS = ("replaced", "replaced", "replaced", "deleted", "inserted", "cut")


def damage(raw: bytes, at: int, new: int, kind: str) -> bytes:
    """Return the bytes with one of them replaced, deleted or inserted, or with the rest cut off."""
    if kind == "cut":
        return raw[:at]
    return raw[:at] + (b"" if kind == "deleted" else bytes([new])) + raw[at + (kind != "inserted") :]


def rows_of(bars: Bars) -> list[tuple[float, ...]]:
    """Return bars as tuples of time, prices and volume."""
    return list(zip(*(getattr(bars, name).tolist() for name in COLUMNS), strict=True))


def check_damaged(path: Path, whole: Bars, *, header: bool, kind: str) -> None:
    """Read a damaged file and check what is lost and what is new against the undamaged one.

    A file that was cut may have lost its end. Otherwise at most two bars are lost: the one that was hit, and
    one whose time it took; and at most one is new. Without a warning the new bar is an old one with one other
    cell. A header that was hit may have lost the name of the volume, nothing else.
    """
    try:
        read = read_bars(path)
    except DataError as error:
        assert "\nFix: " in str(error)  # noqa: PT017
        return
    warnings = read.source["warnings"]
    old, now = rows_of(whole), rows_of(read)
    if header and read.source["columns"]["volume"] == "none":
        old = [(*row[:5], 0.0) for row in old]
    lost, new = [row for row in old if row not in set(now)], [row for row in now if row not in set(old)]
    if kind == "cut":
        assert lost == old[len(old) - len(lost) :]
        assert len(new) <= 1
        return
    assert len(lost) <= 2, (warnings, lost, new)
    assert len(new) <= 1, (warnings, lost, new)
    if not warnings:
        assert len(lost) == len(new), (lost, new)
    if new and not warnings:
        assert sum(a != b for a, b in zip(lost[0], new[0], strict=True)) == 1, (lost, new)


@pytest.mark.parametrize("base", BASES)
def test_any_damaged_byte(base: str, write: Writer) -> None:
    path = write(BARS, **BASES[base])
    raw, whole = path.read_bytes(), read_bars(path)
    assert len(whole) == len(BARS)
    first = len(BASES[base].get("header", "time,open,high,low,close,volume") or "")

    @settings(max_examples=EXAMPLES, deadline=HANG, derandomize=not LONG)
    @given(at=st.integers(0, len(raw) - 1), new=st.integers(0, 255), kind=st.sampled_from(KINDS))
    def check(at: int, new: int, kind: str) -> None:
        path.write_bytes(damage(raw, at, new, kind))
        check_damaged(path, whole, header=at <= 4 * first, kind=kind)

    check()
