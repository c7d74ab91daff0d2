"""read_bars: bars from a file or a DataFrame, in whatever layout, with every decision and warning kept."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuronet.bars.bars import Bars
from neuronet.bars.checks import clean
from neuronet.bars.dialect import sniff_text
from neuronet.bars.findings import Findings
from neuronet.bars.frame import frame_table
from neuronet.bars.options import ReadOptions
from neuronet.bars.store import is_hdf5, read_stored
from neuronet.bars.table import OnProgress, parse_table
from neuronet.bars.text import read_text
from neuronet.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)
PACKED = (".gz", ".zip")


def read_bars(
    source: str | Path | pd.DataFrame, *, on_progress: OnProgress | None = None, **options: Any
) -> Bars:
    """Read bars, oldest first, in UTC; what is doubtful is warned of (log and ``Bars.source``) or refused.

    source       a text file in any usual layout, also in .gz or .zip; a file that write_bars or 'neuronet
                 convert' wrote; or a DataFrame with a DatetimeIndex
    on_progress  called with (rows read, rows in all) from time to time
    options      the fields of ReadOptions: columns, date_format, decimal, tz, utc_offset, symbol, nan,
                 bad_bars, adjusted, drop_flat, skip_bad_rows, strict

    Raises DataError, with what was seen and the option that helps, for what is not bars.
    """
    return load_bars(source, on_progress=on_progress, **options)[0]


def load_bars(
    source: str | Path | pd.DataFrame, *, on_progress: OnProgress | None = None, **options: Any
) -> tuple[Bars, Findings]:
    """Read bars as read_bars does and return the findings beside them."""
    chosen = ReadOptions(**options)
    if isinstance(source, (str, Path)) and is_hdf5(source):
        bars, findings = read_stored(source, chosen)
    else:
        bars, findings = _load(source, chosen, on_progress)
    told = {name: value for name, value in bars.source.items() if name != "warnings"}
    log.info("%s: %s", findings.where, told)
    if chosen.strict and findings.warnings:
        count = len(findings.warnings)
        raise DataError(
            f"{count} warning{'s' if count > 1 else ''} under --strict: {'; '.join(findings.warnings)}",
            where=findings.where,
            fix="correct the file, or leave out --strict",
        )
    return bars, findings


def _load(
    source: str | Path | pd.DataFrame, options: ReadOptions, on_progress: OnProgress | None
) -> tuple[Bars, Findings]:
    decisions: dict[str, Any]
    zone, symbol = None, ""
    if isinstance(source, (str, Path)):
        text = read_text(source)
        dialect = sniff_text(text, options)
        table, where, guess = parse_table(text, dialect, options, on_progress), text.name, symbol_of(source)
        form, decisions, symbol = dialect.time_format, dialect.to_dict(), dialect.symbol
        has_zone, zone = form.has_zone, form.named_zone
        del text  # as large as the bars
    else:
        table, has_zone, decisions = frame_table(source, options)
        where, guess = "DataFrame", ""
    bars, findings = clean(table, where, options, has_zone=has_zone, tz=zone, symbol=symbol)
    in_utc = has_zone or decisions.get("time_format") == "epoch"
    clock = options.tz or zone or ("UTC" if in_utc else "as written")
    decisions |= {
        "file": where,
        "order": "newest first" if len(table.time) > 1 and table.time[0] > table.time[-1] else "oldest first",
        "time_zone": clock if options.utc_offset is None else f"UTC{options.utc_offset:+g} h",
        "options": options.chosen(),
        "warnings": findings.warnings,
    }
    return replace(bars, symbol=bars.symbol or guess, source=decisions), findings


def symbol_of(path: str | Path) -> str:
    """Guess the symbol by a file name: its first word in capitals that is no time frame, else the name."""
    path = Path(path)
    stem = path.with_suffix("").stem if path.suffix.lower() in PACKED else path.stem
    for word in re.split(r"[_\s,;()-]+", stem):
        match = re.fullmatch(r"([A-Z]{6})([MHDW]?\d+|MN1?)?|([A-Z][A-Z0-9.#]{2,}?)([MHDW]\d+|MN1?)?", word)
        if match and not re.fullmatch(r"([MHDW]|MN)\d+", word):
            return match[1] or match[3]
    return stem
