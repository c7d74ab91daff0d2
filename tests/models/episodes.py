"""A task whose answer lies in one episode of a long history: made data, and the full run as a script.

A history is noise [bars, 3]: a return, an activity, a range. Once, anywhere but in the newest ``NEAR`` bars,
activity and range are high together for ``LENGTH`` bars, while the price drifts up or down; the answer is
that direction. Decoys, in which only one of the two is high, drift as well and say nothing.

    python tests/models/episodes.py        # trains on histories of 2,000 bars, answers at 2,000 and 10,000
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import neuronet as nn

FEATURES, LENGTH, NEAR = 3, 12, 200
HOUR = 3_600_000_000_000
VALIDATION = 60  # histories


@dataclass(frozen=True)
class Episodes:
    """Histories one behind the other: rows [bars, 3], targets [bars, 1] of +-1, times, last bars."""

    rows: NDArray[np.float64]
    targets: NDArray[np.float64]
    times: NDArray[np.int64]
    ends: NDArray[np.int64]

    @property
    def wanted(self) -> NDArray[np.float64]:
        return self.targets[self.ends, 0]


def make(samples: int, bars: int, seed: int, *, near: int = NEAR, decoys: int = 4) -> Episodes:
    """Independent histories of ``bars`` bars; the episode ends ``near`` bars or more before the last one."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((samples, bars, FEATURES))
    sides = rng.choice([-1.0, 1.0], samples)
    for history, side in zip(rows, sides, strict=True):
        places = rng.choice((bars - near) // LENGTH, 1 + decoys, replace=False) * LENGTH
        for i, place in enumerate(places):
            part = history[place : place + LENGTH]
            part[:, 0] += 1.5 * (side if i == 0 else rng.choice([-1.0, 1.0]))
            part[:, 1 + i % 2] += 4.0
            if i == 0:
                part[:, 2] += 4.0
    targets = np.repeat(sides, bars)[:, None]
    times = np.arange(samples * bars, dtype=np.int64) * HOUR
    return Episodes(rows.reshape(-1, FEATURES), targets, times, np.arange(1, samples + 1) * bars - 1)


def right(model: nn.models.STCA, data: Episodes, bars: int) -> float:
    """Share of the histories that are answered rightly."""
    said = [
        model.answer(data.rows[e + 1 - bars : e + 1], data.times[e + 1 - bars : e + 1])[0] for e in data.ends
    ]
    return float(np.mean(np.sign(said) == data.wanted))


def right_of_a_window(
    train: Episodes, unseen: Episodes, device: nn.Device | None, window: int = 120, epochs: int = 10
) -> float:
    """The same of a convolutional net that sees the newest ``window`` bars."""
    layers = [
        nn.CNeuronConvOCL(window=4 * FEATURES, step=4 * FEATURES, window_out=8, activation="GELU"),
        nn.CNeuronConvOCL(window=5 * 8, step=5 * 8, window_out=8, activation="GELU"),
        nn.CNeuronDenseOCL(neurons=1),
    ]
    net = nn.CNet(input_shape=(window, FEATURES), layers=layers, batch=16, loss="huber")
    net.build(device, seed=0)
    nn.fit(net, nn.Source.windows(train.rows, train.targets, train.ends + 1 - window, window), epochs=epochs)
    said = np.concatenate([net.predict(unseen.rows[e + 1 - window : e + 1][None])[0] for e in unseen.ends])
    return float(np.mean(np.sign(said) == unseen.wanted))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--bars", type=int, default=2_000, help="of the histories in training")
    options.add_argument("--long", type=int, default=10_000, help="of the histories to answer")
    options.add_argument("--samples", type=int, default=600)
    options.add_argument("--epochs", type=int, default=10)
    options.add_argument("--lr", type=float, default=1e-3)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--device", default="auto")
    given = options.parse_args()
    device = nn.find_device(given.device)
    data = make(given.samples + VALIDATION, given.bars, given.seed)
    start = time.perf_counter()

    def show(state: nn.TrainingState) -> None:
        last = state.history[-1]
        seconds = time.perf_counter() - start
        print(f"{last['epoch']:3}  {last['loss']:.4f}  {last['validation']:.4f}  {seconds:.0f} s", flush=True)

    model = nn.models.STCA(features=FEATURES, context=given.bars)
    model.fit(
        data.rows,
        data.targets,
        data.times,
        ends=data.ends[:-VALIDATION],
        validation=data.ends[-VALIDATION:],
        epochs=given.epochs,
        lr=given.lr,
        seed=given.seed,
        device=device,
        on_epoch=show,
    )
    for bars in (given.bars, given.long):
        unseen = make(100, bars, given.seed + 1_000)
        print(f"{bars:,} bars: right {right(model, unseen, bars):.2f}, of {len(unseen.ends)}", flush=True)
    window = right_of_a_window(data, unseen, device)
    print(f"a convolutional net with the newest 120 bars: right {window:.2f}")


if __name__ == "__main__":
    main()
