"""Bars: open, high, low, close and volume over time as NumPy arrays; every other module works on it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Times = NDArray[np.int64]

PRICES = ("open", "high", "low", "close")


def most_common_step(time: Times) -> int:
    """Return the most common distance between neighbours in ns; the smallest of equals; 0 for one bar."""
    if len(time) < 2:
        return 0
    steps, counts = np.unique(np.diff(time), return_counts=True)
    return int(steps[np.argmax(counts)])


@dataclass(frozen=True, eq=False)
class Bars:
    """A series of bars, oldest first, no time twice.

    time     [bars] int64, when each bar opens: ns since 1970, UTC (or the file's clock if nothing named it)
    prices   open, high, low, close [bars] float64, in quote currency
    volume   [bars] float64: ticks, lots or contracts, as the source counts; 0 where the source has none
    symbol   name of the instrument, for reports
    step     ns between bars, the most common difference (found from ``time`` when left out)
    source   how the bars were read: decisions and warnings, JSON-able

    Raises DataError when the arrays differ in length or time does not ascend.
    """

    time: Times
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats
    symbol: str = ""
    step: int = 0
    source: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", np.ascontiguousarray(self.time, np.int64))
        for name in (*PRICES, "volume"):
            values = np.ascontiguousarray(getattr(self, name), np.float64)
            if values.shape != self.time.shape:
                raise DataError(
                    f"{name} has shape {values.shape}, time has {self.time.shape}",
                    where="Bars",
                    fix="give arrays of one length",
                )
            object.__setattr__(self, name, values)
        if np.any(np.diff(self.time) <= 0):
            at = int(np.argmax(np.diff(self.time) <= 0)) + 1
            raise DataError(
                f"time does not ascend at bar {at}: {stamp(self.time[at - 1])}, then {stamp(self.time[at])}",
                where="Bars",
                fix="sort the bars and keep one a time stamp, as read_bars does",
            )
        if not self.step:
            object.__setattr__(self, "step", most_common_step(self.time))

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, rows: slice) -> Bars:
        """Return a part, as views; symbol, step and source stay."""
        if not isinstance(rows, slice):
            raise TypeError(f"bars are cut with slices, as in bars[10:20], not with {type(rows).__name__}")
        return replace(self, **{name: getattr(self, name)[rows] for name in ("time", *PRICES, "volume")})

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with columns open, high, low, close, volume over a DatetimeIndex in UTC."""
        import pandas as pd

        index = pd.DatetimeIndex(self.time.view("datetime64[ns]"), name="time").tz_localize("UTC")
        return pd.DataFrame({name: getattr(self, name) for name in (*PRICES, "volume")}, index=index)


def stamp(time: int | np.int64) -> str:
    """Format ns since 1970 for messages: '2024-01-31 13:00:00', with a fraction only where there is one."""
    text = str(np.datetime64(int(time), "ns")).replace("T", " ")
    return text.rstrip("0").rstrip(".") if text.endswith("000") else text


def counted(number: int, one: str, many: str = "") -> str:
    """Format a number of things for messages: '1 bar', '1,234 bars'; ``many`` where an s does not do."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def span(nanoseconds: int) -> str:
    """Format a time span for messages: '5 min', '1 h', '2 days 3 h'."""
    parts: list[str] = []
    rest = nanoseconds
    for name, size in (("days", 86_400 * 10**9), ("h", 3_600 * 10**9), ("min", 60 * 10**9), ("s", 10**9)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {'day' if name == 'days' and count == 1 else name}")
    return " ".join(parts[:2]) or f"{nanoseconds / 1e9:g} s"
