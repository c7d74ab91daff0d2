"""The zero-shot table: what is held out, means by hand, series without a MASE, wrong forecasters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from neuronet.errors import DataError
from neuronet.series.frequency import Frequency
from neuronet.series.series import Series
from neuronet.series.zero_shot import zero_shot

DAY = Frequency(1, "d")


def series(name: str, values: Sequence[float]) -> Series:
    return Series(name, np.array(values, float), DAY.stamps(0, len(values)), DAY)


A = series("a", [1, 2, 3, 5, 2, 4, 9])  # history 1 2 3 5 2: denominator 2; naive 5 2 -> errors 1 7: MASE 2
B = series("b", [0, 0, 4, 4, 4, 8])  # history 0 0 4 4: denominator 4; naive 4 4 -> errors 0 4: MASE 0.5
FLAT = series("flat", [7, 8, 7, 8, 7, 9])


def zeros(histories: list[Series], horizon: int) -> list[np.ndarray]:
    return [np.zeros(horizon) for _ in histories]


def test_means_by_hand_and_flat_series_are_counted() -> None:
    row = zero_shot([A, FLAT, B], 2, 2)
    assert (row.series, row.horizon, row.season, row.undefined) == (3, 2, 2, 1)
    assert (row.naive, row.model, row.denominator, row.terms) == (1.25, None, 3.0, 5)
    np.testing.assert_array_equal(row.scores, [[2, np.nan], [np.nan, np.nan], [0.5, np.nan]])


@pytest.mark.parametrize("batch", [1, 2, 64])
def test_the_model_sees_histories_only(batch: int) -> None:
    seen: list[Series] = []
    calls: list[int] = []

    def forecaster(histories: list[Series], horizon: int) -> list[np.ndarray]:
        assert horizon == 2
        seen.extend(histories)
        calls.append(len(histories))
        return [np.full(horizon, history.values[-1]) for history in histories]

    row = zero_shot([A, FLAT, B], 2, 2, forecaster, batch=batch)
    assert [one.name for one in seen] == ["a", "flat", "b"]
    assert max(calls) == min(batch, 3)
    for history, whole in zip(seen, (A, FLAT, B), strict=True):
        np.testing.assert_array_equal(history.values, whole.values[:-2])
        np.testing.assert_array_equal(history.times, whole.times[:-2])
    # a: 2 2 against 4 9 -> 4.5 / 2; b: 4 4 against 4 8 -> 2 / 4
    assert row.model == pytest.approx((2.25 + 0.5) / 2)
    assert row.naive == 1.25


def test_a_context_limits_the_denominator() -> None:
    # The last 3 values of a's history: 3 5 2, change over two steps 1.
    row = zero_shot([A], 2, 2, zeros, context=3)
    assert (row.denominator, row.terms, row.naive, row.model) == (1.0, 1, 4.0, 6.5)


def test_no_series_has_a_mase() -> None:
    row = zero_shot([FLAT], 2, 2, zeros)
    assert (row.naive, row.model, row.denominator, row.undefined) == (None, None, None, 1)


def test_what_cannot_be_evaluated_is_refused() -> None:
    with pytest.raises(DataError, match="6 values are too few to hold out 6") as caught:
        zero_shot([B], 6, 2)
    assert caught.value.where == "series 'b'"
    with pytest.raises(DataError, match="no value of the history"):
        zero_shot([series("c", [np.nan, np.nan, 1])], 1, 1)
    with pytest.raises(DataError, match="0 series"):
        zero_shot([], 1, 1)


def test_wrong_forecasts_are_refused() -> None:
    with pytest.raises(DataError, match=r"1 forecasts .* for 2 histories"):
        zero_shot([A, B], 2, 2, lambda histories, horizon: [np.zeros(horizon)])
    with pytest.raises(DataError, match=r"\(3,\)"):
        zero_shot([A, B], 2, 2, lambda histories, horizon: [np.zeros(3), np.zeros(2)])
    with pytest.raises(DataError, match="series 'b': the forecast is nan at step 1"):
        zero_shot([A, B], 2, 2, lambda histories, horizon: [np.zeros(2), np.full(2, np.nan)])
