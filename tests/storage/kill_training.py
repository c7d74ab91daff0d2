"""Kill trainings at random moments and check that nothing is lost. Not a test; test_kill.py runs it.

    python tests/storage/kill_training.py [KILLS] [--seed N] [--folder FOLDER]

``neuronet train`` runs in a process of its own on made-up bars and is killed (SIGKILL; on Windows
TerminateProcess) somewhere between its start and its end, half of the times with an eye on its next save.
After every kill the model file is either not there, or loads whole; then the training goes on with --resume,
is killed again, ... until one comes to its end. Its file must hold the same arrays, bit for bit, as that of a
training that nobody killed; then the next one begins. A save that is killed leaves its temporary file, which
the first save an hour later removes; the last training shows it.

Exits 1 at the first disagreement, which it prints.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import neuronet as nn
from neuronet.bars.synthetic import make_bars, write_mt5
from neuronet.storage.hdf5 import read_model

EPOCHS = 100
LONGEST = 0.8  # seconds after the first epoch's message within which a kill falls
SETTINGS = {"history": 24, "horizon": 4, "batch": 8, "lr": 3e-5, "patience": EPOCHS, "epochs": EPOCHS}


class Killer:
    """Trainings in ``folder``, killed at moments drawn from ``seed``; ``seen`` counts what happened."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.model, self.bars = folder / "model.h5", folder / "BARS_H1.csv"
        self.random, self.seen = random.Random(seed), Counter[str]()
        write_mt5(make_bars(700, seed=3), self.bars)
        whole = folder / "whole.h5"
        process = self._start(whole)
        said = process.communicate()[1]
        assert process.returncode == 0, f"the training that nobody kills failed: {said}"
        self.expected = arrays(whole)

    def run(self, kills: int) -> None:
        """Kill that many times, then let the last training come to its end."""
        while self.seen["kills"] < kills:
            self._kill_one()
        self.seen["temporary files left"] = len(self._leftovers())
        for leftover in self._leftovers():
            os.utime(leftover, (time.time() - 7200,) * 2)  # a save removes those older than an hour
        saved = False
        while not saved:  # the first may have come to its end before it was killed
            process = self._start(self.model)
            lines = process.communicate()[1].splitlines(keepends=True)
            saved = self._check_end(process.returncode, lines)
        self.seen["of them after the next save"] = len(self._leftovers())
        assert not self._leftovers(), "the last save has left temporary files of killed ones"

    def _leftovers(self) -> list[Path]:
        """Temporary files of writers that were killed."""
        return list(self.model.parent.glob(f".{self.model.name}.*.tmp"))

    def _start(self, output: Path) -> subprocess.Popen[str]:
        arguments = [str(part) for name, value in SETTINGS.items() for part in (f"--{name}", value)]
        if output.exists():
            arguments.append("--resume")
        return subprocess.Popen(
            [sys.executable, "-m", "neuronet", "train", str(self.bars), "-o", str(output), *arguments],
            env=os.environ | {"NEURONET_DEVICE": "numpy", "PYTHONIOENCODING": "utf-8"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def _kill_one(self) -> None:
        process, lines, before = self._start(self.model), list[str](), set(self._leftovers())
        assert process.stderr is not None
        if self.random.random() < 0.9:  # else it is hit while it starts or reads
            for line in process.stderr:
                lines.append(line)
                if line.startswith("epoch "):
                    break
        time.sleep(self.random.uniform(0.0, LONGEST))
        deadline, seen = time.monotonic() + 0.1, set(self._leftovers())
        if self.random.random() < 0.5:  # so that it hits the middle of a save
            while set(self._leftovers()) == seen and time.monotonic() < deadline:
                pass
        ended = process.poll() is not None
        if not ended:
            process.kill()
            self.seen["kills"] += 1
        lines += process.stderr.readlines()
        process.wait()
        process.stderr.close()
        if ended:
            self._check_end(process.returncode, lines)
            return
        self.seen["kills within a save"] += bool(set(self._leftovers()) - before)
        self._check_killed(lines)

    def _check_killed(self, lines: list[str]) -> None:
        if not self.model.exists():
            assert not any(line.rstrip().endswith("best") for line in lines[:-1]), f"lost a save: {lines}"
            self.seen["kills before the first save"] += 1
            return
        net = nn.CNet.load(self.model, device=nn.NumpyDevice())
        assert np.isfinite(net.predict(np.zeros((2, *net.input_shape), np.float32))).all()
        file = read_model(self.model)
        self.seen["whole files loaded"] += 1
        assert 1 <= file.training["epoch"] <= EPOCHS, file.training["epoch"]
        best = [
            int(line[5:9]) for line in lines if line.startswith("epoch ") and line.rstrip().endswith("best")
        ]
        assert file.training["epoch"] >= max(best, default=0), f"older than its last message: {lines[-3:]}"

    def _check_end(self, code: int, lines: list[str]) -> bool:
        """Compare a training that came to its end, now (True) or before, with the one that nobody killed."""
        over = code == 2 and any("has come to its end" in line for line in lines)
        assert code == 0 or over, f"exit code {code}: {''.join(lines)}"
        found = arrays(self.model)
        wrong = [name for name in found | self.expected if found.get(name) != self.expected.get(name)]
        assert not wrong, f"other than without kills: {wrong}"
        self.seen["trainings that ended equal, bit for bit"] += 1
        self.model.unlink()
        return not over


def arrays(path: Path) -> dict[str, bytes]:
    """Return the bits of every array of a model file: weights, moments, the latest and the best."""
    return {name: values.tobytes() for name, values in read_model(path).arrays.items()}


def main() -> int:
    """Run, print the counts, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kills", nargs="?", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="empty folder for the files; default: a temporary one")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        killer, start = Killer(chosen.folder or Path(temporary), chosen.seed), time.perf_counter()
        try:
            killer.run(chosen.kills)
        except (AssertionError, nn.NeuronetError) as error:
            print(f"FAILED after {killer.seen['kills']} kills: {error}")
            return 1
        finally:
            for what, count in killer.seen.items():
                print(f"{count:6} {what}")
        print(f"{time.perf_counter() - start:6.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
