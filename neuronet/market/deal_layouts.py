"""Layouts of MetaTrader's history: which lines of a text are a table of deals or positions, and its columns.

    MT5 report, Deals      Time Deal Symbol Type Direction Volume Price ... Profit Balance Comment
    MT5 report, Positions  Time Position Symbol Type Volume Price S/L T/P Time Price Commission Swap Profit
    MT5 signal export      Time Type Volume Symbol Price [S/L T/P] [Volume] Time Price Commission Swap Profit
    MT4 statement          Ticket OpenTime Type Size Item Price S/L T/P CloseTime Price Commission ... Profit

Separated by tabs, semicolons or commas; a report holds several tables below each other, with titles. Columns
are found by name; a second Time (or Price) is that of the closing. The articles' signal files, which may have
no header, are told by their order: time; type; volume; symbol; price; volume; time; price; ...
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from neuronet.errors import DataError

SEPARATORS = "\t;,"
NAMES = {  # column as written, lower case and letters only -> role
    **dict.fromkeys(("time", "opentime", "timeopen", "opentimeutc"), "time"),
    **dict.fromkeys(("closetime", "timeclose"), "closed"),
    **dict.fromkeys(("type", "side", "action"), "type"),
    **dict.fromkeys(("direction", "entry"), "direction"),
    **dict.fromkeys(("volume", "size", "lots", "volumelots"), "volume"),
    **dict.fromkeys(("symbol", "item", "instrument"), "symbol"),
    **dict.fromkeys(("price", "openprice", "priceopen"), "price"),
    **dict.fromkeys(("sl", "stoploss"), "sl"),
    **dict.fromkeys(("tp", "takeprofit"), "tp"),
}
DEALS = {"time", "type", "direction", "volume", "symbol"}
POSITIONS = {"time", "type", "volume", "symbol", "closed"}
ORDER = ("time", "type", "volume", "symbol", "price", "", "closed")  # of the articles' files
LAYOUTS = "Deals or Positions of an MT5 report, an MT5 signal's history, or an MT4 statement"


class Cells(dict[str, str]):
    """The cells of a row by role, and its line in the file."""

    line: int = 0


@dataclass(frozen=True)
class Table:
    """Rows of one table; ``in_and_out``: a row is an entry or an exit, not a whole position."""

    layout: str
    rows: list[Cells]
    in_and_out: bool


def find_table(lines: Sequence[str], where: str) -> Table:
    """Find the table of positions, or else of deals. DataError when there is neither."""
    head = "\n".join(lines[:5]).lower()
    if "<html" in head or "<!doctype html" in head:
        raise DataError(
            "is a web page, not a table",
            where=where,
            fix="open it in a spreadsheet and save it as CSV, or export the report as Open XML and then CSV",
        )
    found: dict[bool, Table] = {}
    for number, line in enumerate(lines):
        separator = max(SEPARATORS, key=line.count)
        if not line.count(separator):
            continue
        roles = _roles(_split(line, separator))
        if set(roles) >= DEALS or set(roles) >= POSITIONS:
            in_and_out = "direction" in roles
            rows = _rows(lines, number + 1, separator, roles)
            if rows and in_and_out not in found:
                layout = f"a table of {'deals' if in_and_out else 'positions'}"
                found[in_and_out] = Table(layout, rows, in_and_out)
    if not found:
        rows = _without_header(lines)
        if not rows:
            first = next((line for line in lines if line.strip()), "")
            raise DataError(
                f"no table of deals is known in it; it begins with {first[:60]!r}",
                where=where,
                fix=f"export {LAYOUTS} as CSV, in English",
            )
        return Table("positions without a header", rows, False)
    return found.get(False) or found[True]


def _roles(header: list[str]) -> list[str]:
    """The role of each column; '' for those that are not needed. A second time is that of closing.

    None for a table of orders, which has a state: placed ones are no deals.
    """
    names = [re.sub(r"[^a-z]", "", name.lower()) for name in header]
    roles: list[str] = []
    for name in () if "state" in names else names:
        role = NAMES.get(name, "")
        if role in roles:
            role = "closed" if role == "time" and "closed" not in roles else ""
        roles.append(role)
    return roles


def _rows(lines: Sequence[str], begin: int, separator: str, roles: list[str]) -> list[Cells]:
    """Rows below a header, to the first line that has no time: the end of the table."""
    rows: list[Cells] = []
    for number in range(begin, len(lines)):
        cells = _split(lines[number], separator)
        row = Cells({role: cell.strip() for role, cell in zip(roles, cells, strict=False) if role})
        if not re.match(r"\d", row.get("time", "")):
            if rows or any(cell.strip() for cell in cells):
                break
            continue
        for role in roles:
            if role:
                row.setdefault(role, "")
        row.line = number + 1
        rows.append(row)
    return rows


def _without_header(lines: Sequence[str]) -> list[Cells]:
    """Rows in the order of the articles' files: a time, then buy or sell."""
    rows: list[Cells] = []
    for number, line in enumerate(lines):
        cells = [cell.strip() for cell in _split(line, max(SEPARATORS, key=line.count))]
        is_deal = len(cells) > 7 and cells[1].lower() in ("buy", "sell") and re.match(r"\d", cells[6])
        if is_deal and re.match(r"\d", cells[0]):
            row = Cells({role: cell for role, cell in zip(ORDER, cells, strict=False) if role})
            row.line = number + 1
            rows.append(row)
    return rows


def _split(line: str, separator: str) -> list[str]:
    return next(csv.reader([line], delimiter=separator), [])
