"""What callers give to Mamba4Cast: the same values in any usual form, and one clear error for others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, NeuronetError, SpecError
from neuronet.models.mamba4cast import Mamba4Cast
from neuronet.models.mamba4cast_inputs import check_count, check_series, numbers_of, stamps_of

NS = np.array([0, 3600, 7200]) * 10**9
TIMES = NS.astype("datetime64[ns]")


@pytest.mark.parametrize("form", [list, np.float32, pd.Series, tuple, lambda v: [str(x) for x in v]])
def test_numbers_in_any_form(form: Callable[[Any], Any]) -> None:
    found = numbers_of(form([1.5, 2.0, -3.0]))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [1.5, 2.0, -3.0])


def test_none_is_missing() -> None:
    np.testing.assert_array_equal(numbers_of([None, 1]), [np.nan, 1])


@pytest.mark.parametrize("bad", [["a"], [[1, 2], [3]], np.array([1j]), {"a": 1}])
def test_what_is_no_array_of_numbers(bad: Any) -> None:
    with pytest.raises(DataError, match="the history is no array of numbers"):
        numbers_of(bad)


@pytest.mark.parametrize("times", [NS, TIMES, TIMES.astype("M8[s]"), pd.DatetimeIndex(TIMES), list(TIMES)])
def test_times_in_any_form(times: Any) -> None:
    np.testing.assert_array_equal(stamps_of(times), NS)


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (pd.DatetimeIndex(TIMES).tz_localize("UTC"), "dtype object"),
        (["1970-01-01"], "dtype <U10"),
        (TIMES[0], r"shape \(\)"),
        (TIMES[:, None], r"shape \(3, 1\)"),
        (np.array(["3000-01-01"], "M8[D]"), "outside the years 1678 to 2261"),
    ],
)
def test_times_that_cannot_be(bad: Any, what: str) -> None:
    with pytest.raises(DataError, match=what):
        stamps_of(bad)


@pytest.mark.parametrize("bad", [0, -1, 2.5, 5.0, "5", None, True])
def test_counts(bad: Any) -> None:
    check_count("horizon", np.int64(1), "here")
    with pytest.raises(SpecError, match=r"here: horizon=.* is no whole number from 1 on"):
        check_count("horizon", bad, "here")


def test_series() -> None:
    assert check_series((), "here") == []
    with pytest.raises(DataError, match="here: needs a list of Series, got ndarray at position 0"):
        check_series([np.zeros(3)], "here")


@pytest.mark.parametrize("bad", [0.5, "0.5", ("a",), [[0.5]]])
def test_quantiles_that_are_no_list(bad: Any) -> None:
    with pytest.raises(SpecError, match="are no list of numbers"):
        Mamba4Cast(width=20, depth=1).forecast_many([], 5, bad)


@pytest.mark.parametrize(
    "change",
    [
        {"epochs": 0},
        {"samples": 0},
        {"batch": 0},
        {"processes": 0},
        {"seed": -1},
        {"lr": -1.0},
        {"lr": 1e300},
    ],
)
@pytest.mark.filterwarnings("error")
def test_trainings_that_cannot_be(change: dict[str, Any]) -> None:
    model = Mamba4Cast(context=8, horizon=4, width=20, depth=1)
    with pytest.raises(NeuronetError, match=next(iter(change))):
        model.fit(None, device=NumpyDevice(), **change)


def test_a_cut_too_short_for_the_prior() -> None:
    with pytest.raises(SpecError, match="context=2 and horizon=4 are too short") as caught:
        Mamba4Cast(context=2, horizon=4, width=20, depth=1).fit(None, device=NumpyDevice())
    assert "context of 4 or more" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"width": 19}, "width=19 is not in 20 … 499"),
        ({"width": 500}, "width=500 is not in 20 … 499"),
        ({"width": 20, "heads": 3}, "heads=3 does not divide 2 x width=20"),
    ],
)
def test_widths_and_heads_that_do_not_fit(change: dict[str, Any], what: str) -> None:
    with pytest.raises(SpecError, match=what):
        Mamba4Cast(**change)


@pytest.mark.parametrize("width", [20, 499])
def test_the_narrowest_and_the_widest_can_be_built(width: int) -> None:
    Mamba4Cast(context=2, horizon=1, width=width, depth=1, heads=1, state_size=1).build(
        NumpyDevice(), batch=1
    )
