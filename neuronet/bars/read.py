"""read_bars: bars from a file or a DataFrame, in whatever layout, with every decision and warning kept."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuronet.bars.bars import Bars
from neuronet.bars.checks import Findings, clean
from neuronet.bars.dialect import sniff_text
from neuronet.bars.frame import frame_table
from neuronet.bars.table import parse_table
from neuronet.bars.text import read_text

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)


def read_bars(
    source: str | Path | pd.DataFrame,
    *,
    columns: Mapping[str, str | int] | None = None,
    date_format: str | None = None,
    tz: str | None = None,
    utc_offset: float | None = None,
    decimal: str | None = None,
    symbol: str | None = None,
) -> Bars:
    """Read bars, oldest first, in UTC; what is doubtful is warned of (log and ``Bars.source``) or refused.

    source       a text file in any usual layout, or a DataFrame with a DatetimeIndex
    columns      role -> column name, or number from 0: date, time, open, high, low, close, volume
    date_format  'dmy', 'mdy' or 'ymd' where a file leaves it open, or a strptime pattern for the whole time
    tz           zone of the file's clock, as in 'Europe/Athens'; without it times are taken as they stand
    utc_offset   or hours that the file's clock is ahead of UTC
    decimal      '.' or ',' where a file leaves it open
    symbol       which one to read if the file has a column of symbols

    Raises DataError, with what was seen and the option that helps, for what is not bars.
    """
    return load_bars(
        source,
        columns=columns,
        date_format=date_format,
        tz=tz,
        utc_offset=utc_offset,
        decimal=decimal,
        symbol=symbol,
    )[0]


def load_bars(
    source: str | Path | pd.DataFrame,
    *,
    columns: Mapping[str, str | int] | None = None,
    date_format: str | None = None,
    tz: str | None = None,
    utc_offset: float | None = None,
    decimal: str | None = None,
    symbol: str | None = None,
) -> tuple[Bars, Findings]:
    """Read bars as read_bars does and return the findings beside them."""
    decisions: dict[str, Any]
    if isinstance(source, (str, Path)):
        text = read_text(source)
        dialect = sniff_text(text, columns=columns, date_format=date_format, decimal=decimal)
        table, where, guess = parse_table(text, dialect), text.name, symbol_of(Path(source).stem)
        has_zone, decisions = dialect.time_format.has_zone, dialect.to_dict()
        del text  # as large as the bars
    else:
        table, has_zone, decisions = frame_table(source, columns=columns, date_format=date_format)
        where, guess = "DataFrame", ""
    bars, findings = clean(table, where, tz=tz, utc_offset=utc_offset, has_zone=has_zone, symbol=symbol)
    in_utc = has_zone or decisions.get("time_format") == "epoch"
    clock = tz or ("UTC" if in_utc else "as written")
    decisions |= {
        "file": where,
        "order": "newest first" if len(table.time) > 1 and table.time[0] > table.time[-1] else "oldest first",
        "time_zone": clock if utc_offset is None else f"UTC{utc_offset:+g} h",
        "warnings": findings.warnings,
    }
    log.info("%s: %s", where, decisions)
    return replace(bars, symbol=bars.symbol or guess, source=decisions), findings


def symbol_of(stem: str) -> str:
    """Guess the symbol by a file name: its first word in capitals that is no time frame, else the name."""
    for word in re.split(r"[_\s,;()-]+", stem):
        match = re.fullmatch(r"([A-Z]{6})([MHDW]?\d+|MN1?)?|([A-Z][A-Z0-9.#]{2,}?)([MHDW]\d+|MN1?)?", word)
        if match and not re.fullmatch(r"([MHDW]|MN)\d+", word):
            return match[1] or match[3]
    return stem
