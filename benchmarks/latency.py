"""How long a prediction after one more bar takes, from NumPy arrays to the answer, for each default model.

    python benchmarks/latency.py [--device NAME] [--runs 200]

Batch 1. The nets of 'neuronet train' and CATCH have their initial weights, or nearly so, which are as fast as
any. What is new each time: for conv, mamba4cast and dfft a window of 120 bars; for stca the bar behind 10,000
that it remembers; for catch a window to score; for Mamba4Cast a series of its full context, to be forecast as
far as it is trained for. The target is 1 ms on two cores.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from training import work_of

import neuronet as nn
from neuronet.device.base import Device

WARM, LONG, TARGET = 20, 10_000, 1e-3  # calls before, bars that stca remembers, seconds
Predict = Callable[[int], object]  # the answer to input number i


def windows(device: Device, model: str, count: int) -> Predict:
    """A net of 'neuronet train' on windows of bars."""
    work = work_of(model)
    work.net.batch = 1
    net = work.net.build(device, seed=0)
    x, second, _ = work.samples(count)

    def predict(i: int) -> object:
        return net.predict(x[i : i + 1], None if second is None else second[i : i + 1])

    return predict


def stream(device: Device, count: int) -> Predict:
    """STCA, bar by bar."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((LONG + count, 5))
    times = np.arange(LONG + count) * 3_600 * 10**9
    model = nn.models.STCA(features=5, outputs=12)
    model.net = model.declare(model.context).build(device)
    model.start(rows[:LONG], times[:LONG])
    return lambda i: model.append(rows[LONG + i], times[LONG + i])


def scores(device: Device, count: int) -> Predict:
    """CATCH as it is trained on bars."""
    rng = np.random.default_rng(0)
    model = nn.models.Catch.for_changes()
    model.fit(rng.standard_normal((20 * model.context, 5)), epochs=1, device=device)
    rows = rng.standard_normal((count, model.context, 5))
    return lambda i: model.score(rows[i])


def forecasts(model: nn.models.Mamba4Cast, count: int) -> Predict:
    series = np.random.default_rng(0).standard_normal(count + model.context).cumsum()
    times = np.arange(len(series)) * 3_600 * 10**9

    def predict(i: int) -> object:
        seen = slice(i, i + model.context)
        return model.forecast(series[seen], times[seen], horizon=model.horizon)

    return predict


def predictions(device: Device, count: int) -> Iterator[tuple[str, Predict]]:
    for model in ("conv", "mamba4cast", "dfft"):
        yield f"{model}, 120 bars", windows(device, model, count)
    yield f"stca, one bar behind {LONG:,}", stream(device, count)
    yield "catch, score of one window", scores(device, count)
    own, shipped = nn.models.Mamba4Cast().build(device, batch=1), nn.models.Mamba4Cast.shipped(device)
    for kind, made in (("as declared", own), ("as shipped", shipped)):
        sizes = f"{made.context} + {made.horizon} values, width {made.width}"
        yield f"Mamba4Cast.forecast {kind}, {sizes}", forecasts(made, count)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default=None)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    device = nn.find_device(options.device)
    lines = [
        f"{device.name}, neuronet {nn.__version__}",
        "",
        "| prediction | median ms | min-max ms | below 1 ms |",
        "|---|---|---|---|",
    ]
    for name, predict in predictions(device, WARM + options.runs):
        seconds = []
        for i in range(WARM + options.runs):
            start = time.perf_counter()
            predict(i)
            seconds.append(time.perf_counter() - start)
        times = seconds[WARM:]
        median = statistics.median(times)
        spread = f"{1e3 * min(times):.3f}-{1e3 * max(times):.3f}"
        lines.append(f"| {name} | {1e3 * median:.3f} | {spread} | {'yes' if median < TARGET else 'no'} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
