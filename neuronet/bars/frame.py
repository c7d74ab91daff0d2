"""A pandas DataFrame of bars -> the same table that a file gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from neuronet.bars.bars import PRICES
from neuronet.bars.names import role_of
from neuronet.bars.options import ReadOptions
from neuronet.bars.table import Table, adjusted, no_adjusted
from neuronet.bars.times import NO_TIME, find_time_format, parse_times
from neuronet.errors import DataError, NoColumnError
from neuronet.nanoseconds import nanoseconds

if TYPE_CHECKING:
    import pandas as pd

WHERE = "DataFrame"


def frame_table(frame: pd.DataFrame, options: ReadOptions) -> tuple[Table, bool, dict[str, Any]]:
    """Return the table, whether its times are in UTC, and the decisions.

    Times come from a DatetimeIndex, else from a column named as time; line numbers are row numbers from 1.
    """
    if len(frame) == 0:
        raise DataError("no bars in the DataFrame", where=WHERE, fix="give at least one row")
    names = [_name(column) for column in frame.columns]
    chosen: dict[str, int] = {}
    for role in ("time", *PRICES, "adj_close", "tick_volume", "real_volume", "symbol"):
        found = [(hit[1], i) for i, name in enumerate(names) if (hit := role_of(name)) and hit[0] == role]
        if found:
            chosen[role] = min(found)[1]
    for role, name in (options.columns or {}).items():
        if name not in names and not isinstance(name, int):
            raise NoColumnError(
                f"no column {name!r} among {', '.join(names)}", where=WHERE, fix="check columns"
            )
        chosen[role] = name if isinstance(name, int) else names.index(name)
    missing = [role for role in PRICES if role not in chosen]
    if missing:
        raise NoColumnError(
            f"no column for {', '.join(missing)} among {', '.join(names)}",
            where=WHERE,
            fix="name the columns open, high, low, close, or give columns={'open': ...}",
        )
    time, in_utc = _times(frame, chosen, options.date_format)
    volume = next((chosen[role] for role in ("volume", "tick_volume", "real_volume") if role in chosen), None)
    prices = {role: _numbers(frame.iloc[:, chosen[role]]) for role in PRICES}
    if options.adjusted:
        if "adj_close" not in chosen:
            raise no_adjusted(names, WHERE)
        prices = adjusted(prices, _numbers(frame.iloc[:, chosen["adj_close"]]))
    table = Table(
        time,
        prices,
        None if volume is None else _numbers(frame.iloc[:, volume]),
        frame.iloc[:, chosen["symbol"]].astype(object).to_numpy() if "symbol" in chosen else None,
        np.arange(1, len(frame) + 1),
        (),
    )
    used = {role: names[i] for role, i in chosen.items()}
    return table, in_utc, {"columns": used, "encoding": "DataFrame"}


def _name(column: Any) -> str:
    return str(column[0] if isinstance(column, tuple) else column)


def _numbers(column: pd.Series[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    import pandas as pd

    return np.asarray(pd.to_numeric(column, errors="coerce"), np.float64)


def _times(frame: pd.DataFrame, chosen: dict[str, int], date_format: str | None) -> tuple[Any, bool]:
    import pandas as pd

    values: pd.Series[Any]
    if "time" in chosen and not isinstance(frame.index, pd.DatetimeIndex):
        values = frame.iloc[:, chosen["time"]].reset_index(drop=True)
    else:
        values = frame.index.to_series().reset_index(drop=True)
    if not pd.api.types.is_datetime64_any_dtype(values):
        cells = values.astype(str)
        form = find_time_format(cells.iloc[:500].tolist(), where=WHERE, date_format=date_format)
        if form is None:
            raise DataError(
                f"no times: the index holds {values.iloc[0]}", where=WHERE, fix="use a DatetimeIndex"
            )
        return parse_times(cells, form)[0], form.has_zone
    in_utc = values.dt.tz is not None
    if in_utc:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    time, lost = nanoseconds(values.to_numpy())
    return np.where(lost, NO_TIME, time), in_utc
