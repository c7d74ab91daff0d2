"""Two trainings that write one file at once: both finish, the last to save wins, one is told of the other."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from neuronet.storage.hdf5 import read_model

EPOCHS = (150, 20)  # the second begins and ends while the first trains
SETTINGS = ["--history", "24", "--horizon", "4", "--lr", "3e-5", "--batch", "16", "--patience", "150"]


def start(bars: Path, output: Path, seed: int) -> subprocess.Popen[str]:
    own = ["--seed", str(seed), "--epochs", str(EPOCHS[seed]), "--device", "numpy"]
    return subprocess.Popen(
        [sys.executable, "-m", "neuronet", "train", str(bars), "-o", str(output), *SETTINGS, *own],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def test_two_trainings_into_one_file(bars_file: Path, tmp_path: Path) -> None:
    together, alone = tmp_path / "model.h5", tmp_path / "alone.h5"
    both = [start(bars_file, together, seed) for seed in (0, 1)]
    while any(one.poll() is None for one in both):
        if together.exists():
            read_model(together)  # whole at any moment
        time.sleep(0.01)
    said = [one.communicate()[1] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    assert any("model.h5 was changed by another program since; it is replaced" in text for text in said), said
    assert [path.name for path in tmp_path.iterdir()] == ["model.h5"]
    found = read_model(together)
    one = start(bars_file, alone, found.bars["settings"]["seed"])
    assert (one.communicate(timeout=100), one.returncode)[1] == 0
    expected = read_model(alone)
    assert found.arrays.keys() == expected.arrays.keys()
    assert all((values == expected.arrays[name]).all() for name, values in found.arrays.items())
