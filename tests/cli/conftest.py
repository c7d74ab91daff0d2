"""Files of bars and one trained model, made by the commands themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from neuronet.bars.bars import PRICES
from neuronet.bars.synthetic import random_walk, write_mt5
from neuronet.cli import main

SETTINGS = {"history": 24, "horizon": 4, "epochs": 2, "batch": 50, "lr": 0.003, "device": "numpy"}
SMALL = [text for name, value in SETTINGS.items() for text in (f"--{name}", str(value))]


@pytest.fixture(scope="session")
def small() -> list[str]:
    """Options of a small training."""
    return SMALL


@pytest.fixture(scope="session")
def bars_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export of MetaTrader 5 with a wave of 24 bars in it, which can be learned."""
    walk = random_walk(900, seed=3)
    wave = np.exp(0.01 * np.sin(2.0 * np.pi * np.arange(900) / 24.0))
    path = tmp_path_factory.mktemp("bars") / "WAVE_H1 ü.csv"
    write_mt5(replace(walk, **{name: getattr(walk, name) * wave for name in PRICES}), path)
    return path


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory, bars_file: Path) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.h5"
    result = CliRunner().invoke(main, ["train", str(bars_file), "-o", str(path), *SMALL])
    assert result.exit_code == 0, result.output
    return path
