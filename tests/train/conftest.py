"""Small bars, small trainings on the NumPy device, and one trained model for all tests that only read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.synthetic import make_bars
from neuronet.device.numpy import NumpyDevice
from neuronet.train.pipeline import TrainResult, train
from neuronet.train.settings import Settings

SMALL = {"history": 24, "horizon": 4, "epochs": 3, "batch": 50, "lr": 0.003}


def small(**changes: object) -> Settings:
    return Settings.from_dict({**SMALL, **changes})


@pytest.fixture(scope="session")
def bars() -> Bars:
    return make_bars(900, seed=3)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory, bars: Bars) -> tuple[Path, TrainResult]:
    path = tmp_path_factory.mktemp("trained") / "model.h5"
    return path, train(bars, path, small(), device=NumpyDevice())


@pytest.fixture(scope="session")
def trained_direction(tmp_path_factory: pytest.TempPathFactory, bars: Bars) -> tuple[Path, TrainResult]:
    path = tmp_path_factory.mktemp("direction") / "model.h5"
    return path, train(bars, path, small(task="direction", threshold=0.001), device=NumpyDevice())
