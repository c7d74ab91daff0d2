from __future__ import annotations

import numpy as np
import pytest

from neuronet.nanoseconds import nanoseconds


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"])
def test_a_day_is_the_same_in_every_unit(unit: str) -> None:
    day = np.array(["1971-01-01"], "datetime64[D]").astype(f"datetime64[{unit}]")
    stamps, lost = nanoseconds(day)
    assert stamps[0] == day.astype("datetime64[D]").astype(int)[0] * 86_400 * 10**9
    assert not lost[0]


def test_units_beyond_nanoseconds_are_cut() -> None:
    stamps, lost = nanoseconds(np.array([1_999, -1], "datetime64[ps]"))
    assert stamps.tolist() == [1, -1]
    assert not lost.any()


@pytest.mark.parametrize("unit", ["D", "s", "ms"])
def test_years_that_int64_does_not_hold_are_lost(unit: str) -> None:
    days = ["1677-12-31", "1678-01-01", "2261-12-31", "2262-01-01", "9000-01-01", "NaT"]
    _, lost = nanoseconds(np.array(days, f"datetime64[{unit}]"))
    assert lost.tolist() == [True, False, False, True, True, True]
