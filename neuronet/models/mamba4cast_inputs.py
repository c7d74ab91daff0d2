"""What callers of Mamba4Cast give in Python, checked: values, times, series, counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import DataError, SpecError
from neuronet.models.base import real_numbers
from neuronet.nanoseconds import nanoseconds
from neuronet.series.series import Series

WHERE = "Mamba4Cast.forecast"


def numbers_of(history: Any) -> NDArray[np.float64]:
    """``history`` as float64, None as NaN. DataError when it is no array of real numbers."""
    try:
        return real_numbers(history)
    except ValueError as error:
        raise DataError(
            f"the history is no array of numbers: {error}",
            where=WHERE,
            fix="give [n] real numbers, NaN for a missing one",
        ) from None


def stamps_of(times: Any) -> NDArray[np.int64]:
    """``times`` [n] as int64 ns since 1970. DataError for other types, shapes and years."""
    stamps = np.asarray(times)
    if stamps.dtype.kind == "M":
        given = stamps
        stamps, lost = nanoseconds(given)
        if (lost & ~np.isnat(given)).any():
            raise DataError(
                "times are outside the years 1678 to 2261", where=WHERE, fix="int64 ns cannot hold others"
            )
    elif stamps.dtype.kind not in "iu":
        raise DataError(
            f"times have dtype {stamps.dtype}",
            where=WHERE,
            fix="give datetime64, or int64 ns since 1970, such as np.asarray(times, 'M8[ns]')",
        )
    if stamps.ndim != 1:
        raise DataError(f"times have shape {stamps.shape}", where=WHERE, fix="give an array [n]")
    return stamps.astype(np.int64)


def check_series(series: Any, where: str) -> Sequence[Series]:
    """``series`` as a list. DataError when it is none of Series."""
    found = [series] if isinstance(series, Series) else list(series)
    for i, one in enumerate(found):
        if isinstance(series, Series) or not isinstance(one, Series):
            got = "one Series" if isinstance(series, Series) else f"{type(one).__name__} at position {i}"
            raise DataError(
                f"needs a list of Series, got {got}",
                where=where,
                fix="give [Series(...), ...], as of read_series",
            )
    return found


def check_count(name: str, value: Any, where: str, *, least: int = 1) -> None:
    """SpecError when ``value`` is no whole number from ``least`` on."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise SpecError(f"{name}={value!r} is no whole number from {least} on", where=where, fix="correct it")
