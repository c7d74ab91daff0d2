from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neuronet.device.array import Shape
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, ShapeError, SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.ts_position_encoder import CNeuronTSPositionEncoder, time_phases
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck

PERIODS = (86_400, 604_800, 31_557_600)
SECOND = 10**9


@pytest.mark.parametrize("freqs", [1, 3])
def test_gradients_of_values_and_phases(freqs: int) -> None:
    below = CNeuronConvOCL(window=2, step=2, window_out=3, activation="TANH")
    gradcheck([below, CNeuronTSPositionEncoder(periods=(7, 60), freqs=freqs)], (4, 2), second_shape=(4, 2))


def test_output_is_a_projection_plus_harmonics(device: Device) -> None:
    rng = np.random.default_rng(0)
    encoder = CNeuronTSPositionEncoder(periods=PERIODS, freqs=2)
    net = CNet(input_shape=(5, 4), layers=[encoder], batch=3, second_shape=(5, 3)).build(device)
    x, times = rng.standard_normal((3, 5, 4)), rng.integers(-(2**60), 2**60, (3, 5))
    w, b = (p.value.read() for p in encoder.parameters)
    assert [p.name for p in encoder.parameters] == ["projection/w", "projection/b"]
    expected = x @ w[0].T + b[0]
    for n, u, k, j in np.ndindex(3, 5, 3, 2):
        angle = 2 * math.pi * 2**j * (int(times[n, u]) % (PERIODS[k] * SECOND)) / (PERIODS[k] * SECOND)
        at = 2 * (2 * k + j)
        expected[n, u, at] += math.sin(angle)
        expected[n, u, at + 1] += math.cos(angle)
    np.testing.assert_allclose(net.predict(x, time_phases(times, PERIODS)), expected, rtol=1e-5, atol=3e-6)


def test_e7_neighbouring_minutes_stay_apart(device: Device) -> None:
    """Published: float timestamps: near 1.7e9 s they lie 128 s apart, so that minute bars fall together.

    And the angle 2 pi t / 86400 is off by up to 64 s of the day, 4.7e-3.
    """
    minutes = 1_700_000_040 + 60 * np.arange(6)
    assert len(set(minutes.astype(np.float32))) == 4
    encoder = CNeuronTSPositionEncoder(periods=(86_400,), freqs=1)
    net = CNet(input_shape=(6, 1), layers=[encoder], batch=1, second_shape=(6, 1)).build(device)
    for p in encoder.parameters:
        p.value.fill(0)
    features = net.predict(np.zeros((1, 6, 1)), time_phases(SECOND * minutes[None], (86_400,)))
    angle = [2 * math.pi * (int(t) % 86_400) / 86_400 for t in minutes]
    np.testing.assert_allclose(features[0], np.stack([np.sin(angle), np.cos(angle)], -1), atol=1e-6)


def test_phases_are_exact_modulo_in_whole_nanoseconds() -> None:
    times = np.array([0, 1, SECOND, -1, 86_400 * SECOND - 1, 1_700_000_000_123_456_789], np.int64)
    phases = time_phases(times, (86_400, 60))
    assert phases.shape == (6, 2)
    assert phases.dtype == np.float64
    for i, t in enumerate(times.tolist()):
        for k, p in enumerate((86_400, 60)):
            assert phases[i, k] == pytest.approx((t % (p * SECOND)) / (p * SECOND), rel=1e-15, abs=0)
    assert phases.min() >= 0
    assert phases.max() < 1
    assert time_phases([-1], (31_557_600,)).item() < 1  # the quotient would round up to 1
    dates = np.array(["2024-02-29T06:00", "2024-03-01"], "datetime64[m]")
    np.testing.assert_array_equal(time_phases(dates, (86_400,)).ravel(), [0.25, 0])


@pytest.mark.parametrize("times", [[1.7e9], ["2024"], [True]])
def test_times_that_are_no_whole_numbers_are_refused(times: list[Any]) -> None:
    with pytest.raises(DataError, match="expected int64"):
        time_phases(times, (60,))


@pytest.mark.parametrize(
    ("periods", "what"),
    [
        ((), "holds no period"),
        (60, "holds no period"),
        ((60, 0), "period 0 is not in 1"),
        ((-60,), "period -60 is not in 1"),
        ((10**10,), "period 10000000000 is not in 1"),
        ((0.5,), "period 0.5 is not a whole number"),
        ((60, 3600, 60), "holds one twice"),
    ],
)
def test_e3_periods_that_make_no_sense_are_refused(exact: NumpyDevice, periods: Any, what: str) -> None:
    """Published: only an empty list is; a period of 0 divides by zero."""
    layer = CNeuronTSPositionEncoder(periods=periods, freqs=1)
    with pytest.raises(SpecError, match=what):
        CNet(input_shape=(4, 2), layers=[layer], second_shape=(4, 1)).build(exact)
    with pytest.raises(SpecError, match=what):
        time_phases([0], periods)


@pytest.mark.parametrize("freqs", [0, 25])
def test_freqs_out_of_range_are_refused(exact: NumpyDevice, freqs: int) -> None:
    layers = [CNeuronTSPositionEncoder(periods=(60,), freqs=freqs)]
    with pytest.raises(SpecError, match=f"freqs={freqs} is not in 1 … 24"):
        CNet(input_shape=(4, 2), layers=layers, second_shape=(4, 1)).build(exact)


@pytest.mark.parametrize(
    ("shape", "second", "what"),
    [
        ((8,), (8, 1), r"a sample has shape \[8\], expected \[units, window\]"),
        ((4, 2), (4,), r"the second input is \[4\], expected \[units, periods\] = \[4, 1\]"),
        ((4, 2), (1, 1), r"the second input is \[1, 1\], expected"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(
    exact: NumpyDevice, shape: Shape, second: Shape, what: str
) -> None:
    layers = [CNeuronTSPositionEncoder(periods=(60,), freqs=1)]
    with pytest.raises(ShapeError, match=what):
        CNet(input_shape=shape, layers=layers, second_shape=second).build(exact)


@pytest.mark.parametrize("bad", ["NaT", "2424-10-01", "1625-01-01"])
def test_times_that_nanoseconds_do_not_hold_are_named(bad: str) -> None:
    times = np.array(["2024-01-01", bad], "datetime64[s]")
    with pytest.raises(DataError, match="time 1 is"):
        time_phases(times, (86_400,))


def test_datetimes_of_python_and_pandas_are_times() -> None:
    plain = np.array(["2024-03-05T06:00"], "datetime64[s]")
    zone = timezone(timedelta(hours=2))
    given = [
        [datetime(2024, 3, 5, 6)],
        [datetime(2024, 3, 5, 8, tzinfo=zone)],
        pd.DatetimeIndex(["2024-03-05T08:00+02:00"]),
        [pd.Timestamp("2024-03-05T06:00")],
    ]
    for times in given:
        np.testing.assert_array_equal(time_phases(times, (86_400,)), time_phases(plain, (86_400,)))
        assert time_phases(times, (86_400,)) == 0.25
