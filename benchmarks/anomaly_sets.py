"""Catch on labelled sets, beside windowed PCA and random scores, without point adjustment.

    python benchmarks/anomaly_sets.py FOLDER [--seeds 3] [--rate 0.01] [--device NAME]

Takes every .npz in FOLDER with train and test [rows, channels] and label [rows]. One configuration for all:
the defaults of nn.models.Catch. Rows of Catch are means over the seeds ± standard deviation (n - 1); PCA
has no seed, random scores have 20. F1 and affiliation are at the threshold that pot finds for --rate without
labels: for Catch from the rows it holds back, for PCA from those of a fit to the other four fifths.
docs/anomalies.md defines all of them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from zero_shot import aligned

from neuronet.anomaly.baselines import WindowPca
from neuronet.anomaly.metrics import Evaluation
from neuronet.anomaly.scores import total
from neuronet.anomaly.threshold import pot_threshold
from neuronet.device.base import Device
from neuronet.device.find import find_device
from neuronet.models.catch import HELD, Catch

HEADER = ("set", "scores", "AUC-ROC", "AUC-PR", "VUS-ROC", "VUS-PR", "F1", "affiliation", "train s")
Row = tuple[float, ...]


def metrics(scores: np.ndarray, label: np.ndarray, threshold: float) -> Row:
    """AUC-ROC, AUC-PR, VUS-ROC, VUS-PR, F1 and affiliation F1; NaN where one is not defined."""
    made = Evaluation.of(scores, label, threshold)
    f1 = None if made.f1 is None else made.f1.f1
    near = None if made.affiliation is None else made.affiliation.f1
    found = (made.auc_roc, made.auc_pr, made.vus_roc, made.vus_pr, f1, near)
    return tuple(np.nan if value is None else value for value in found)


def catch(data: dict[str, np.ndarray], seed: int, rate: float, device: Device) -> Row:
    model = Catch()
    began = time.perf_counter()
    model.fit(data["train"], seed=seed, device=device)
    seconds = time.perf_counter() - began
    scores = model.score(data["test"])
    return (*metrics(scores, data["label"], model.threshold(rate).value), seconds)


def pca(data: dict[str, np.ndarray], rate: float) -> Row:
    train = data["train"]
    began = time.perf_counter()
    model = WindowPca.fit(train)
    seconds = time.perf_counter() - began
    cut = int((1.0 - HELD) * len(train))
    normal = total(WindowPca.fit(train[:cut]).scores(train[cut:]))
    scores = total(model.scores(data["test"]))
    return (*metrics(scores, data["label"], pot_threshold(normal, rate).value), seconds)


def chance(data: dict[str, np.ndarray], seed: int, rate: float) -> Row:
    """Scores of no knowledge, with a threshold that they are above at the rate."""
    scores = np.random.default_rng(seed).uniform(size=len(data["label"]))
    return (*metrics(scores, data["label"], 1.0 - rate), 0.0)


def line(name: str, what: str, run: Callable[[int], Row], seeds: int) -> tuple[str, ...]:
    rows = np.array([run(seed) for seed in range(seeds)])
    means, spread = rows.mean(axis=0), rows.std(axis=0, ddof=1) if seeds > 1 else None
    cells = [f"{m:.3f}" + ("" if spread is None else f" ± {spread[i]:.3f}") for i, m in enumerate(means[:-1])]
    return (name, what, *cells, f"{means[-1]:.1f}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3, help="trainings of each set; default: 3")
    parser.add_argument("--rate", type=float, default=0.01, help="of false alarms a row; default: 0.01")
    parser.add_argument("--device", help="as 'neuronet devices' lists them")
    options = parser.parse_args()
    device, rate = find_device(options.device), options.rate
    rows: list[tuple[str, ...]] = []
    for path in sorted(options.folder.glob("*.npz")):
        with np.load(path) as file:
            if not {"train", "test", "label"} <= set(file.files):
                print(f"{path.name} left out: no train, test and label", file=sys.stderr)
                continue
            data = {key: np.asarray(file[key]) for key in ("train", "test", "label")}
        rows += [
            line(path.stem, "Catch", lambda seed, d=data: catch(d, seed, rate, device), options.seeds),
            line("", "windowed PCA", lambda _, d=data: pca(d, rate), 1),
            line("", "random", lambda seed, d=data: chance(d, seed, rate), 20),
        ]
        print(aligned([HEADER, *rows[-3:]]), flush=True)
    if not rows:
        parser.error(f"no .npz with train, test and label in {options.folder}")
    print(f"\n{device.name}, {options.seeds} seeds, rate {rate:g}\n{aligned([HEADER, *rows])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
