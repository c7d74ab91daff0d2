"""Deals: somebody's real trades from MetaTrader's history, and the actions that repeat them bar by bar."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from neuronet.bars.bars import Bars, Floats, counted, stamp
from neuronet.bars.numbers import find_number_format, is_missing
from neuronet.bars.text import read_text
from neuronet.bars.times import find_time_format
from neuronet.errors import DataError
from neuronet.market.deal_layouts import Cells, find_table
from neuronet.market.orders import ACTION, Actions
from neuronet.market.rules import Rules
from neuronet.nanoseconds import nanoseconds

log = logging.getLogger(__name__)

NEVER = np.iinfo(np.int64).max  # closes after all bars


@dataclass(frozen=True)
class Deal:
    """One position of an account: from its opening to its closing, or a part that was closed at once.

    opened, closed  ns, on the clock of the history; NEVER while it is open
    side            1 bought, -1 sold; lots its volume
    tp, sl          prices, None where there is none
    """

    symbol: str
    opened: int
    closed: int
    side: int
    lots: float
    tp: float | None = None
    sl: float | None = None


def read_deals(path: str | Path, *, date_format: str | None = None, decimal: str | None = None) -> list[Deal]:
    """Read a history of deals, oldest first, for all its symbols.

    path         a text file with tabs, semicolons or commas, in one of the layouts of deal_layouts.py
    date_format  where the dates leave it open: 'dmy', 'mdy', 'ymd' or a pattern
    decimal      where the prices leave it open: '.' or ','

    Balance operations, pending and cancelled orders are left out. Entries and exits of a table of deals are
    matched, the oldest entry first; 'in/out' closes what is open and enters the rest.

    Raises DataError, with file:line where there is one, for a layout that is not known and for cells that
    cannot be read.
    """
    text = read_text(path)
    lines = [text.line(i) for i in range(text.lines)]
    table = find_table(lines, text.name)
    parse = _Parser(table.rows, text.name, date_format, decimal)
    found = _matched(parse, text.name) if table.in_and_out else [_position(parse, row) for row in table.rows]
    deals = sorted((one for one in found if one is not None), key=lambda one: (one.opened, one.closed))
    if not deals:
        raise DataError("no deal of buying or selling", where=text.name, fix="export the history again")
    log.info("%s: %s as %s", text.name, counted(len(deals), "position"), table.layout)
    return deals


def of_symbol(deals: list[Deal], symbol: str, *, where: str, asked: bool = False) -> list[Deal]:
    """The deals of one symbol, whatever case it is written in and whatever the broker adds to it.

    asked  the user named the symbol, so only that one counts

    Raises DataError naming the symbols when there is none, or when deals of more than one would fit.
    """
    want = symbol.upper()
    names = {one.symbol for one in deals}
    fits = {name for name in names if name.upper() == want}
    if not fits and not asked:
        fits = {name for name in names if want and name.upper().startswith(want)} or (
            names if len(names) == 1 and not want else set()
        )
    if len(fits) != 1:
        raise DataError(
            f"no deals of {symbol or 'the bars, which have no symbol'}; there are deals of "
            f"{', '.join(sorted(names))}",
            where=where,
            fix="name the symbol of the deals with --signals-symbol",
        )
    kept = [one for one in deals if one.symbol in fits]
    if len(kept) < len(deals):
        log.info("%s: %d of %d positions are of other symbols", where, len(deals) - len(kept), len(deals))
    return kept


def deal_actions(deals: list[Deal], bars: Bars, rules: Rules, *, where: str = "deals") -> Actions:
    """Actions [bars, 6] that hold what the deals held, each from the first open at or after its opening.

    At each close the lots of the deals that are open at the next bar's open are added up by side; take-profit
    and stop-loss are the furthest of theirs, as distances from the close. A position closes at the first open
    at or after its closing. The articles enter at the open BEFORE the deal and take the closing price for
    its target: both know the future, so neither is done here. From a close beyond its target or stop on a
    deal is over, whatever the history says. From a close beyond its target or
    stop on a deal is over, whatever the history says.

    Warns of deals that no open of a bar lies within. Raises DataError when that is so for all.
    """
    after = np.concatenate([bars.time[1:], [bars.time[-1] + bars.step]])  # when the action is filled
    actions = np.zeros((len(bars), len(ACTION)))
    missed = 0
    for one in deals:
        first, last = np.searchsorted(after, [one.opened, one.closed])
        if one.opened <= bars.time[0] and one.closed > bars.time[0]:
            log.warning("%s: a deal of %s was open before the bars begin", where, stamp(one.opened))
        if first == last:
            missed += 1
            continue
        _hold(actions, one, slice(int(first), int(last)), bars.close, rules)
    if missed == len(deals):
        raise DataError(
            f"none of {len(deals)} deals ({stamp(deals[0].opened)} to {stamp(deals[-1].opened)}) is open at "
            f"the open of a bar ({stamp(bars.time[0])} to {stamp(bars.time[-1])})",
            where=where,
            fix="give bars of that time on the same clock (--tz, --utc-offset), or shorter bars",
        )
    if missed:
        log.warning(
            "%s: %d of %d deals lie between two opens and are not repeated", where, missed, len(deals)
        )
    return actions.astype(np.float32)


def _hold(actions: Floats, one: Deal, rows: slice, close: Floats, rules: Rules) -> None:
    """Add a deal to the actions of ``rows``, up to the first close beyond its target or stop."""
    column = 0 if one.side > 0 else 3
    beyond = np.zeros(rows.stop - rows.start, np.bool_)
    for price, sign in ((one.tp, one.side), (one.sl, -one.side)):
        if price is not None:
            beyond |= sign * (close[rows] - price) >= 0.0
    if beyond.any():
        rows = slice(rows.start, rows.start + int(beyond.argmax()))
    quote = close[rows] + (rules.spread * rules.point if one.side > 0 else 0.0)
    actions[rows, column] += one.lots
    for i, (price, sign, most) in enumerate(
        ((one.tp, one.side, rules.max_tp), (one.sl, -one.side, rules.max_sl)), 1
    ):
        if price is not None:
            share = np.maximum(sign * (price - quote) / (rules.point * most), 0.0)
            actions[rows, column + i] = np.maximum(actions[rows, column + i], share)


class _Parser:
    """Reads cells; how numbers and times are written is found from all of them."""

    def __init__(self, rows: list[Cells], where: str, date_format: str | None, decimal: str | None) -> None:
        self.rows, self.where = rows, where
        numbers = [row[name] for row in rows for name in ("volume", "price", "tp", "sl") if name in row]
        self.form = find_number_format([n for n in numbers if n], where=where, decimal=decimal)
        times = [row[name] for row in rows for name in ("time", "closed") if row.get(name)]
        form = find_time_format(times[:2_000], where=where, date_format=date_format)
        if form is None or form.kind != "text":
            raise DataError(
                f"the times are no dates, such as {times[0] if times else ''!r}",
                where=where,
                fix="export them as in 2024.01.31 13:00:00",
            )
        self.pattern = form.pattern

    def time(self, row: Cells, name: str) -> int:
        try:
            when = datetime.strptime(row[name].strip(), self.pattern)
            time, lost = nanoseconds(np.array([when], "datetime64[us]"))
            if lost[0]:
                raise ValueError
            return int(time[0])
        except ValueError:
            raise self.wrong(row, name, f"a time as in {self.rows[0][name]!r}") from None

    def number(self, row: Cells, name: str) -> float:
        text = row[name].strip().replace("\u00a0", "").replace(" ", "")
        if self.form.thousands:
            text = text.replace(self.form.thousands, "")
        try:
            return float(text.replace(self.form.decimal, "."))
        except ValueError:
            raise self.wrong(row, name, "a number") from None

    def price(self, row: Cells, name: str) -> float | None:
        """A price; None for an empty cell and for 0."""
        if name not in row or is_missing(row[name]):
            return None
        return self.number(row, name) or None

    def side(self, row: Cells) -> int:
        """1 for buy, -1 for sell, 0 for what is no trade."""
        return {"buy": 1, "sell": -1}.get(row["type"].strip().lower(), 0)

    def wrong(self, row: Cells, name: str, wanted: str) -> DataError:
        return DataError(
            f"{name} is {row[name]!r}, not {wanted}",
            where=f"{self.where}:{row.line}",
            fix="repair the line or export the history again",
        )


def _position(parse: _Parser, row: Cells) -> Deal | None:
    """A row of a table of positions."""
    side = parse.side(row)
    if not side or is_missing(row["volume"]):
        return None
    closed = NEVER if is_missing(row["closed"]) else parse.time(row, "closed")
    return Deal(
        symbol=row["symbol"].strip(),
        opened=parse.time(row, "time"),
        closed=closed,
        side=side,
        lots=_lots(parse, row),
        tp=parse.price(row, "tp"),
        sl=parse.price(row, "sl"),
    )


def _lots(parse: _Parser, row: Cells) -> float:
    lots = parse.number(row, "volume")
    if lots <= 0.0:
        raise parse.wrong(row, "volume", "more than 0")
    return lots


def _matched(parse: _Parser, where: str) -> list[Deal]:
    """Entries and exits of a table of deals as positions, the oldest entry closed first."""
    rows = [row for row in parse.rows if parse.side(row)]
    order = sorted(range(len(rows)), key=lambda i: (parse.time(rows[i], "time"), i))
    opened: dict[str, list[Deal]] = {}
    done: list[Deal] = []
    unknown = 0
    for row in (rows[i] for i in order):
        kind = row["direction"].strip().lower().replace(" ", "")
        if kind not in ("in", "out", "in/out", "outby"):
            raise parse.wrong(row, "direction", "in, out, in/out or out by")
        symbol, side, time = row["symbol"].strip(), parse.side(row), parse.time(row, "time")
        lots, queue = _lots(parse, row), opened.setdefault(row["symbol"].strip(), [])
        if kind != "in":
            lots = _close(queue, -side, lots, time, done)
            if kind != "in/out" and lots > 1e-9:
                unknown += 1
        if kind in ("in", "in/out") and lots > 1e-9:
            queue.append(
                Deal(symbol, time, NEVER, side, lots, parse.price(row, "tp"), parse.price(row, "sl"))
            )
    if unknown:
        log.warning("%s: %d exits have no entry before them and are left out", where, unknown)
    return done + [one for queue in opened.values() for one in queue]


def _close(queue: list[Deal], side: int, lots: float, time: int, done: list[Deal]) -> float:
    """Close the oldest deals of a side; return the lots for which none was open."""
    for one in [one for one in queue if one.side == side]:
        part = min(one.lots, lots)
        if part <= 1e-9:
            break
        done.append(replace(one, closed=time, lots=part))
        at = next(i for i, other in enumerate(queue) if other is one)
        rest = round(one.lots - part, 9)
        queue[at : at + 1] = [replace(one, lots=rest)] if rest > 1e-9 else []
        lots = round(lots - part, 9)
    return lots
