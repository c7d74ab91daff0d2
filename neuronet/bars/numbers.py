"""How a file writes numbers: decimal sign, groups of thousands, K M B endings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neuronet.bars.bars import Floats
from neuronet.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

CURRENCY = "$€£¥"
NUMBER = re.compile(
    rf"[{CURRENCY}]?[+-]?[{CURRENCY}]?([0-9][0-9., ']*|[.,][0-9]+)([eE][+-]?[0-9]+)?\s?[KMBT%\u041a\u041c]?"
)
MISSING = ("", "-", "--", "nan", "-nan", "null", "none", "n/a", "na", "#n/a", "inf", "-inf", "+inf")
ENDINGS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "\u041a": 1e3, "\u041c": 1e6}  # and Cyrillic
_GROUPS = re.compile(r"[0-9]{1,3}([., '])([0-9]{2,3}\1)*[0-9]{3}(?:[.,][0-9]*)?")


@dataclass(frozen=True)
class NumberFormat:
    """decimal '.' or ','; thousands '' or one of , . ' and space; why, in words."""

    decimal: str = "."
    thousands: str = ""
    evidence: str = "plain numbers"


def is_number(cell: str) -> bool:
    """Whether a cell holds a number in some notation."""
    return NUMBER.fullmatch(cell.strip()) is not None


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.strip().lower() in MISSING


def find_number_format(cells: Iterable[str], *, where: str, decimal: str | None = None) -> NumberFormat:
    """Decide between decimal point and comma from all the number cells of a sample.

    A cell with both signs, with one sign twice, or with one sign not before exactly three digits is proof.
    '134.185' alone is none: it is read with a decimal point unless another cell proves a decimal comma.
    '1,085' alone is refused, as it is as likely 1085.

    Raises DataError naming --decimal when the cells contradict each other or prove nothing.
    """
    proofs: dict[str, str] = {}
    groups = {"'": "", " ": "", ".": "", ",": ""}
    doubtful = {".": "", ",": ""}
    for cell in cells:
        digits = cell.strip().strip("+-" + CURRENCY).rstrip("% " + "".join(ENDINGS))
        if not NUMBER.fullmatch(digits) or "e" in digits.lower():
            continue
        for sign in "' ":
            if sign in digits:
                if _GROUPS.fullmatch(digits):
                    groups[sign] = cell
                digits = digits.replace(sign, "")
        signs = [c for c in digits if c in ".,"]
        if not signs:
            continue
        last, after = signs[-1], len(digits) - 1 - max(digits.rfind("."), digits.rfind(","))
        before = digits.find(last)
        if len(set(signs)) == 2:
            if _GROUPS.fullmatch(digits):
                proofs.setdefault(last, cell)
                groups["," if last == "." else "."] = cell
        elif len(signs) > 1:
            if _GROUPS.fullmatch(digits):
                groups[last] = cell
                proofs.setdefault("," if last == "." else ".", cell)
        elif after != 3 or before > 3 or digits[:before] in ("", "0"):
            proofs.setdefault(last, cell)
        else:
            doubtful[last] = cell
    spaces = "'" if groups["'"] else " " if groups[" "] else ""
    if decimal is None and len(proofs) == 2:
        raise DataError(
            f"{proofs['.']!r} has a decimal point and {proofs[',']!r} a decimal comma",
            where=where,
            fix="say which it is with --decimal . or --decimal ,",
        )
    if decimal is None and not proofs and doubtful[","] and not doubtful["."]:
        raise DataError(
            f"{doubtful[',']!r} may be a decimal comma or a group of thousands",
            where=where,
            fix="say which it is with --decimal . or --decimal ,",
        )
    sign = decimal or next(iter(proofs), ".")
    other = "," if sign == "." else "."
    thousands = other if groups[other] or doubtful[other] else spaces
    because = f"as in {proofs[sign]!r}" if sign in proofs else "as asked for" if decimal else "plain numbers"
    return NumberFormat(sign, thousands, because)


def parse_numbers(cells: pd.Series[str], form: NumberFormat, *, endings: bool = False) -> Floats:
    """Return cells as float64; NaN for what is no number.

    endings  take '7,81M' for 7810000, as volumes are written; otherwise it is no number
    """
    import pandas as pd

    if form.thousands or form.decimal == ",":
        return _parse_marks(cells, form, endings)
    values = np.array(pd.to_numeric(cells, errors="coerce"), np.float64)
    others = np.isnan(values) & cells.notna().to_numpy()
    if others.any():
        values[others] = _parse_marks(cells[others], form, endings)
    return values


def _parse_marks(cells: pd.Series[str], form: NumberFormat, endings: bool) -> Floats:
    import pandas as pd

    text = cells.astype(object).fillna("").str.strip().str.strip(CURRENCY)
    if form.thousands:
        grouped = text.str.contains(form.thousands, regex=False)
        sound = text.str.fullmatch(_sound_groups(form))
        text = text.where(~grouped | sound, "").str.replace(form.thousands, "", regex=False)
    if form.decimal == ",":
        text = text.str.replace(".", "x", regex=False).str.replace(",", ".", regex=False)
    if not endings:
        return np.asarray(pd.to_numeric(text, errors="coerce"), np.float64)
    factor = text.str[-1:].map(ENDINGS).astype(float)
    text = text.where(factor.isna(), text.str[:-1].str.rstrip())
    values = np.asarray(pd.to_numeric(text, errors="coerce"), np.float64)
    return values * np.asarray(factor.fillna(1.0), np.float64)


def _sound_groups(form: NumberFormat) -> str:
    """Return a pattern of numbers whose groups have three digits (two in India), whatever follows them."""
    sign, decimal = re.escape(form.thousands), re.escape(form.decimal)
    return (
        rf"[+-]?[{CURRENCY}]?[0-9]{{1,3}}({sign}[0-9]{{2,3}})*{sign}[0-9]{{3}}({decimal}[0-9]*)?([^0-9].*)?"
    )
