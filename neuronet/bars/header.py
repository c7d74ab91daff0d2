"""The header of a bar file: which line it is, one name a column, and which symbol each column belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neuronet.bars.bars import PRICES
from neuronet.bars.names import label_of, role_of
from neuronet.bars.numbers import is_number
from neuronet.bars.shapes import column_shape, is_clock
from neuronet.errors import DataError

Rows = list[list[str]]
TICKER_ROWS = ("", "ticker", "tickers", "symbol", "symbols")  # first cell of a line that names symbols


@dataclass(frozen=True)
class Header:
    """names: one a column, '' where there is none, () without a header. own: those of the chosen symbol only.

    symbol   what the header names, '' if nothing
    evidence how it was found, in words
    """

    names: tuple[str, ...]
    own: tuple[str, ...]
    symbol: str
    evidence: str


def find_header(
    head: Rows, data: Rows, *, where: str, symbol: str | None = None, asked: bool = False
) -> Header:
    """Take the line with the most known names; the lines around it are notes, tickers, units.

    head   lines above the data, data a sample of the lines of data: fields
    asked  the columns are given by an option, so that the number of names need not fit

    Raises DataError when names and fields differ in number, or the columns belong to several symbols.
    """
    if not head:
        return Header((), (), "", "the first line is data")
    width = len(data[0])
    hits = [[hit[0] for name in row if (hit := role_of(name))] for row in head]
    known = [(len(set(row)), len(row)) for row in hits]  # Visa's tickers V, V, V are one name
    best = max(range(len(head)), key=lambda i: (known[i], i))
    if not hits[best]:
        best = max((i for i, row in enumerate(head) if len(row) == width), default=len(head) - 1)
    names, evidence = _fitted([name.strip() for name in head[best]], data, where, asked)
    labels = _labels([row for i, row in enumerate(head) if i != best], names)
    prices = [i for i, name in enumerate(names) if (hit := role_of(name)) and hit[0] in PRICES]
    symbols = sorted({labels[i] for i in prices if labels[i]})
    if len(symbols) < 2:
        return Header(names, names, symbols[0] if symbols else "", evidence)
    if symbol not in symbols:
        raise DataError(
            f"{len(symbols)} symbols side by side in one file: {', '.join(symbols[:5])}"
            + (f", not {symbol}" if symbol else ""),
            where=where,
            fix=f"choose one with --symbol {symbols[0]}",
        )
    own = tuple(name if label in ("", symbol) else "" for name, label in zip(names, labels, strict=True))
    return Header(names, own, symbol, f"{evidence}; {', '.join(symbols[:5])} stand side by side")


def _fitted(names: list[str], data: Rows, where: str, asked: bool) -> tuple[tuple[str, ...], str]:
    """Bring the names to the number of fields; DataError when it is not clear which name belongs where."""
    width = len(data[0])
    evidence = f"it reads {', '.join(names)}"
    roles = [hit[0] if (hit := role_of(name)) else "" for name in names]
    if len(names) == width - 1 and "time" in roles[:1]:
        second = column_shape([row[1] for row in data])
        if is_clock(second) and "time" not in roles[1:2]:
            return (names[0], "time", *names[1:]), f"{evidence}; one name for date and clock"
        if "%d" in second and all(is_number(row[0]) for row in data):
            return ("", *names), f"{evidence}; no name for the row numbers"
    behind = names[width:] + [cell for row in data for cell in row[len(names) :]]
    if any(cell.strip() for cell in behind) and not asked:
        raise DataError(
            f"the header has {len(names)} names, the lines have {width} fields: {', '.join(names)}",
            where=where,
            fix="repair the header, or number the columns from 0, as in --columns "
            "time=0,open=1,high=2,low=3,close=4,volume=5",
        )
    return tuple((names + [""] * width)[:width]), evidence


def _labels(others: Rows, names: Sequence[str]) -> list[str]:
    """Return the symbol of each column: from a line of tickers, or from names like AAPL.Open, MSFT.Open."""
    roles = [role_of(name) for name in names]
    prices = [i for i, hit in enumerate(roles) if hit and hit[0] in PRICES and i]
    for row in others:
        cells = [cell.strip() for cell in (row + [""] * len(names))[: len(names)]]
        tickers = {cells[i] for i in prices}
        if cells[0].lower() in TICKER_ROWS and tickers and "" not in tickers:
            return ["", *cells[1:]]
    by_role: dict[str, set[str]] = {}
    for name, hit in zip(names, roles, strict=True):
        if hit and hit[0] in PRICES and hit[1] >= 2:
            by_role.setdefault(hit[0], set()).add(label_of(name))
    several = len(by_role) == len(PRICES) and len(set(map(frozenset, by_role.values()))) == 1
    if not several or len(by_role["open"]) < 2:
        return [""] * len(names)
    known = by_role["open"]
    return [label if (label := label_of(name)) in known else "" for name in names]
