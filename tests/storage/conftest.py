"""A small model with every kind of content, and helpers that tests of model files share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest

from neuronet.storage.hdf5 import ModelFile, write_model


@pytest.fixture
def model() -> ModelFile:
    rng = np.random.default_rng(7)
    return ModelFile(
        spec={"input_shape": [5, 3], "layers": [{"class": "CNeuronDenseOCL", "version": 1, "neurons": 3}]},
        arrays={
            "parameters/0/w": rng.normal(size=(3, 5)).astype(np.float32),
            "parameters/0/b": rng.normal(size=3).astype(np.float32),
            "parameters/10/inner/w": rng.normal(size=(2, 1, 7)).astype(np.float32),
            "state/0/mean": rng.normal(size=1).astype(np.float32),
            "state/0/count": np.array(2**31 - 1, np.int32),  # a scalar
            "optimizer/m": rng.normal(size=23),
            "optimizer/step": np.array([2**53 + 1], np.int64),
            "training/last/empty": np.zeros((0, 4), np.float32),
        },
        training={"epoch": 3, "history": [0.1, 1e-300, -0.0], "rng": 2**127 + 1, "seed": None},
        bars={"features": ["close", "größe"], "time_zone": "Europe/Berlin"},
    )


@pytest.fixture
def saved(tmp_path: Path, model: ModelFile) -> Path:
    path = tmp_path / "model.h5"
    write_model(path, model)
    return path


@pytest.fixture
def same() -> Callable[[ModelFile, ModelFile], bool]:
    """True when two models hold the same documents and the same arrays, to the last bit."""

    def compare(a: ModelFile, b: ModelFile) -> bool:
        return (
            (a.spec, a.training, a.bars) == (b.spec, b.training, b.bars)
            and a.arrays.keys() == b.arrays.keys()
            and all(
                (x.dtype, x.shape, x.tobytes())
                == (b.arrays[n].dtype, b.arrays[n].shape, b.arrays[n].tobytes())
                for n, x in a.arrays.items()
            )
        )

    return compare


@pytest.fixture
def edit() -> Callable[[Path], object]:
    """Change a model file as another program would: with plain h5py, which drops the seal."""

    @contextmanager
    def opened(path: Path) -> Iterator[h5py.File]:
        with h5py.File(path, "r+") as file:
            yield file

    return opened


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a Python program with arguments; what still runs at the end of the test is killed."""
    started: list[subprocess.Popen[str]] = []

    def run(code: str, *arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()
