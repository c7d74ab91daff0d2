"""Series and models small enough for every test; no hyperparameter of the shipped model is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from neuronet.device.numpy import NumpyDevice
from neuronet.models.mamba4cast import Mamba4Cast
from neuronet.series.frequency import Frequency
from neuronet.series.series import Series

TINY: dict[str, Any] = {
    "context": 128, "horizon": 6, "width": 8, "depth": 1, "heads": 1, "state_size": 3,
    "levels": (0.1, 0.25, 0.5, 0.75, 0.9), "periods": (3_600, 86_400),
}  # fmt: skip


def _series(values: Any, unit: str = "h", start: str = "2024-02-27T18:00", name: str = "made") -> Series:
    values = np.asarray(values, np.float64)
    first = int(np.datetime64(start, "ns").astype(np.int64))
    frequency = Frequency(1, unit)
    return Series(name, values, frequency.stamps(first, len(values)), frequency)


@pytest.fixture(scope="session")
def make_series() -> Callable[..., Series]:
    """``make_series(values, unit="h", start=..., name=...)``: a series with regular stamps."""
    return _series


@pytest.fixture(scope="session")
def tiny() -> Callable[..., Mamba4Cast]:
    """``tiny(width=16)``: a small declared model with changes, not built."""
    return lambda **changes: Mamba4Cast(**{**TINY, **changes})


@pytest.fixture(scope="session")
def model() -> Mamba4Cast:
    """A small model with random weights, away from zero, for tests that change nothing in it."""
    made = Mamba4Cast(**TINY).build(NumpyDevice(), batch=8, seed=4)
    rng = np.random.default_rng(9)
    for p in made.net.pool.parameters:
        p.value.write(p.value.read() + 0.2 * rng.standard_normal(p.shape))
    return made
