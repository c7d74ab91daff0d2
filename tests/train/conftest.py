"""Small bars, small trainings on the NumPy device, and one trained model for all tests that only read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import PRICES, Bars
from neuronet.bars.synthetic import random_walk
from neuronet.device.numpy import NumpyDevice
from neuronet.train.pipeline import TrainResult, train
from neuronet.train.settings import Settings

SMALL = {"history": 24, "horizon": 4, "epochs": 3, "batch": 50, "lr": 0.003}


def _small(**changes: object) -> Settings:
    return Settings.from_dict({**SMALL, **changes})


@pytest.fixture(scope="session")
def small() -> Callable[..., Settings]:
    """Settings of a small training, with changes."""
    return _small


@pytest.fixture(scope="session")
def bars() -> Bars:
    """Bars with a wave of 24 bars in them, so that a small training finds something."""
    walk = random_walk(900, seed=3)
    wave = np.exp(0.01 * np.sin(2.0 * np.pi * np.arange(900) / 24.0))
    return replace(walk, **{name: getattr(walk, name) * wave for name in PRICES})


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory, bars: Bars) -> tuple[Path, TrainResult]:
    path = tmp_path_factory.mktemp("trained") / "model.h5"
    return path, train(bars, path, _small(), device=NumpyDevice())


@pytest.fixture(scope="session")
def trained_direction(tmp_path_factory: pytest.TempPathFactory, bars: Bars) -> tuple[Path, TrainResult]:
    path = tmp_path_factory.mktemp("direction") / "model.h5"
    return path, train(bars, path, _small(task="direction", threshold=0.001), device=NumpyDevice())
