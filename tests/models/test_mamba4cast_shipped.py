"""The weights that come with neuronet beat naive forecasts on series of other kinds than their prior."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.models import Mamba4Cast
from neuronet.series.frequency import Frequency
from neuronet.series.series import Series
from neuronet.series.zero_shot import zero_shot

START = 1_577_836_800 * 10**9  # 2020-01-01


def seasonal(i: int, frequency: Frequency, n: int, shape: str) -> Series:
    """Level 50, a season of amplitude 10, a trend of up to 10 over the series, noise of 3."""
    rng, t = np.random.default_rng(i), np.arange(n)
    phase = (t / frequency.season + rng.random()) % 1
    wave = np.sin(2 * np.pi * phase) if shape == "sine" else 1 - 4 * np.abs(phase - 0.5)
    values = 50 + 10 * wave + rng.uniform(-10, 10) * t / n + 3 * rng.standard_normal(n)
    return Series(f"{shape} {i}", values, frequency.stamps(START, n), frequency)


@pytest.mark.parametrize(
    ("frequency", "n", "horizon"),
    [(Frequency(1, "h"), 240, 24), (Frequency(1, "m"), 96, 12), (Frequency(1, "d"), 150, 14)],
    ids=str,
)
@pytest.mark.parametrize("shape", ["sine", "triangle"])
def test_it_beats_seasonal_naive(
    device: Device, frequency: Frequency, n: int, horizon: int, shape: str
) -> None:
    """The noise alone costs seasonal naive 1.41 times what it costs a perfect forecast."""
    model = Mamba4Cast.shipped(device)
    series = [seasonal(i, frequency, n, shape) for i in range(16)]
    table = zero_shot(series, horizon, frequency.season, model.forecast_many)
    assert table.model is not None
    assert table.naive is not None
    assert table.model < 0.95 * table.naive, (table.model, table.naive)


def test_its_quantiles_hold_what_they_say(device: Device) -> None:
    model = Mamba4Cast.shipped(device)
    series = [seasonal(100 + i, Frequency(1, "h"), 264, "sine") for i in range(40)]
    made = model.forecast_many([one[:-24] for one in series], 24, (0.1, 0.9))
    inside = [
        (values[:, 0] < one.values[-24:]) & (one.values[-24:] < values[:, 1])
        for values, one in zip(made, series, strict=True)
    ]
    assert 0.7 < np.mean(inside) < 0.92  # 0.8 of the values lie between these two
