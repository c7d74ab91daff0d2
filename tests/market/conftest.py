"""What the tests of the market share: bars from a few prices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from neuronet.bars.bars import Bars

HOUR = 3_600 * 10**9
Make = Callable[..., Bars]


def _make(opens: Sequence[float], closes: Sequence[float], hours: Sequence[float] | None = None) -> Bars:
    start = int(np.datetime64("2024-01-01", "ns").astype(np.int64))  # a Monday
    hours = range(len(opens)) if hours is None else hours
    time = np.array([start + round(hour * HOUR) for hour in hours])
    high, low = np.maximum(opens, closes), np.minimum(opens, closes)
    return Bars(time, np.array(opens), high, low, np.array(closes), np.zeros(len(opens)), "TEST", HOUR)


@pytest.fixture(scope="session")
def make() -> Make:
    """``make(opens, closes, hours)``: bars from Monday 2024-01-01 on, of one hour, of volume 0."""
    return _make
