"""Positions from a file: a column of times and one named position."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, stamp
from neuronet.errors import DataError, NoColumnError
from neuronet.series.frequency import SECOND, Frequency
from neuronet.series.table import read_series

log = logging.getLogger(__name__)

COLUMN = "position"


def read_positions(path: str | Path, bars: Bars, **options: Any) -> NDArray[np.float64]:
    """Read the positions [bars] decided at the closes of bars; NaN for bars of which the file says nothing.

    path     a text file with times and a column ``position``, such as one of 'neuronet predict'. A time is
             that of a bar, when it opens, on the clock of ``bars``
    options  date_format and decimal, see read_series

    Warns of rows at whose time there is no bar, and when half of the bars in between have no row. Raises
    DataError when no row has the time of a bar.
    """
    every = Frequency(max(1, bars.step // SECOND), "s")  # positions may be irregular: nothing goes on from it
    try:
        (found,) = read_series(path, COLUMN, frequency=every, **options)
    except NoColumnError as error:
        fix = f"give a column of times and one of numbers named {COLUMN}"
        raise DataError(error.what, where=error.where, fix=fix) from None
    rows = np.minimum(np.searchsorted(bars.time, found.times), len(bars) - 1)
    known = bars.time[rows] == found.times
    if not known.any():
        raise DataError(
            f"no bar has the time of one of the {len(found)} positions ({stamp(found.times[0])} to "
            f"{stamp(found.times[-1])}); the bars are from {stamp(bars.time[0])} to {stamp(bars.time[-1])}",
            where=Path(path).name,
            fix="write the times as those of the bars, when each opens, on the same clock",
        )
    if not known.all():
        log.warning(
            "%s: %d of %d positions have a time without a bar and count for nothing, the first at %s",
            Path(path).name, int((~known).sum()), len(known), stamp(found.times[~known][0]),
        )  # fmt: skip
    inside = slice(int(rows[known][0]), int(rows[known][-1]) + 1)
    without = len(bars[inside]) - int(known.sum())
    if 2 * without >= len(bars[inside]):  # a list of changes, it seems, not of positions
        log.warning(
            "%s: %d of %d bars between its first and last position have no row and are flat: a position "
            "does not go on by itself",
            Path(path).name, without, len(bars[inside]),
        )  # fmt: skip
    positions = np.full(len(bars), np.nan)
    positions[rows[known]] = found.values[known]
    return positions
