"""Baselines that need no model; what they know is found in the training part and kept in the model file."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars
from neuronet.bars.targets import levels
from neuronet.train.metrics import Floats, naive_error

DAY = 86_400 * 10**9


@dataclass(frozen=True)
class Reference:
    """Numbers of the training part.

    drift        mean log return of the close a bar, or difference where targets are differences
    day          bars of a day, the median over its days: the season of the seasonal naive forecast
    naive_error  MASE's denominator with m = 1, in price units; None when the close never moves
    naive_count  terms in it
    shares       of the task's classes; None for tasks without
    """

    drift: float
    day: int
    naive_error: float | None
    naive_count: int
    shares: tuple[float, ...] | None = None

    @classmethod
    def of(
        cls, bars: Bars, classes: NDArray[np.int32] | None = None, *, differences: bool = False
    ) -> Reference:
        """From the bars of the training part, and the classes of its windows."""
        level = levels(bars.close, differences=differences)
        days = np.unique(bars.time // DAY, return_counts=True)[1]
        error, count = naive_error(bars.close)
        shares = None
        if classes is not None:
            shares = tuple((np.bincount(classes, minlength=3) / len(classes)).tolist())
        return cls(float(level[-1] - level[0]) / (len(level) - 1), int(np.median(days)), error, count, shares)

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Reference:
        shares = data["shares"]
        return cls(**{**data, "shares": None if shares is None else tuple(shares)})


def forecasts(
    reference: Reference,
    close: Floats,
    last: NDArray[np.int64],
    horizon: int,
    *,
    differences: bool = False,
) -> dict[str, Floats]:
    """Forecasts [windows, horizon], as log returns or differences, of each baseline by its name.

    close  [bars]; last [windows] are the rows of the windows' last known bars

    last value  close[t]
    drift       close[t] moved by the training part's mean return a bar
    seasonal    the close one day of bars (or the fewest whole days) earlier; left out where a day is one bar,
                or where the bars begin later
    """
    steps = np.arange(1, horizon + 1)
    found = {
        "last value": np.zeros((len(last), horizon)),
        "drift": np.broadcast_to(reference.drift * steps, (len(last), horizon)),
    }
    back = steps - -(-steps // reference.day) * reference.day
    if reference.day > 1 and int(last.min()) + int(back.min()) >= 0:
        level = levels(close, differences=differences)
        found[f"seasonal ({reference.day} bars)"] = level[last[:, None] + back] - level[last][:, None]
    return found
