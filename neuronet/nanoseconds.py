"""Times as int64 nanoseconds since 1970, which hold the years 1678 to 2261."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BEGIN, END = np.datetime64("1678-01-01"), np.datetime64("2262-01-01")
FINER = ("ps", "fs", "as")  # units of datetime64 that reach none of those years


def nanoseconds(times: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """datetime64 as ns, and where there is no such number: NaT, and other years.

    NumPy itself wraps around there, and from 2.5 on raises OverflowError.
    """
    lost = np.isnat(times)
    if np.datetime_data(times.dtype)[0] not in FINER:
        lost |= (times < BEGIN) | (times >= END)
    held = np.where(lost, np.array("NaT", times.dtype), times)
    return held.astype("datetime64[ns]").astype(np.int64), lost
