"""Fixtures: ``run`` calls the command line in this process, on NumPy; ``python`` in a process of its own.

``bars_file`` and ``model_file`` are bars and a trained model that several commands read.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click.testing
import numpy as np
import pytest

import neuronet
from neuronet.bars.bars import PRICES
from neuronet.bars.synthetic import random_walk, write_mt5
from neuronet.cli import main
from neuronet.device.numpy import NumpyDevice
from neuronet.models.mamba4cast import Mamba4Cast

ROOT = Path(neuronet.__file__).parents[1]
Run = Callable[..., click.testing.Result]
Python = Callable[..., "subprocess.CompletedProcess[str]"]
SETTINGS = {"history": 24, "horizon": 4, "epochs": 2, "batch": 50, "lr": 0.003, "device": "numpy"}
SMALL = [text for name, value in SETTINGS.items() for text in (f"--{name}", str(value))]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run("info", path)``: the result with its exit_code, stdout and stderr."""
    monkeypatch.setenv("NEURONET_DEVICE", "numpy")
    return lambda *arguments: click.testing.CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def python() -> Python:
    """``python("-m", "neuronet", "devices", NAME="value")``: a finished process; output decoded leniently."""

    def start(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            k: v for k, v in os.environ.items() if k not in ("NEURONET_DEVICE", "PYTHONIOENCODING")
        }
        return subprocess.run(
            [sys.executable, *arguments],
            env=environment | {"PYTHONPATH": str(ROOT)} | variables,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=100,
            check=False,
        )

    return start


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


def _trained(path: Path, bars_file: Path, *options: str) -> Path:
    result = click.testing.CliRunner().invoke(
        main, ["train", str(bars_file), "-o", str(path), *SMALL, *options]
    )
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory, bars_file: Path) -> Path:
    return _trained(tmp_path_factory.mktemp("model") / "model.h5", bars_file)


@pytest.fixture(scope="session")
def timed_model_file(tmp_path_factory: pytest.TempPathFactory, bars_file: Path) -> Path:
    """A model of ``train --model mamba4cast``, which sees the times of the bars."""
    path = tmp_path_factory.mktemp("timed") / "model.h5"
    return _trained(path, bars_file, "--model", "mamba4cast")


@pytest.fixture(scope="session")
def forecaster_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Mamba4Cast with random weights: for 5 steps ahead, quantiles 0.1 to 0.9."""
    path = tmp_path_factory.mktemp("forecaster") / "weights.h5"
    sizes = {"context": 64, "horizon": 5, "width": 8, "depth": 1, "heads": 1, "state_size": 2}
    model = Mamba4Cast(**sizes, levels=(0.1, 0.5, 0.9), periods=(3_600, 86_400))  # type: ignore[arg-type]
    model.build(NumpyDevice(), batch=4, seed=1).save(path)
    return path
