"""How time and memory of STCA grow with the history, and a whole training step on a long one.

    python benchmarks/long_history.py [--device NAME] [--longest 1000000] [--plot growth.png]

Attention: forward and backward of eight rows (one question, eight heads) over 1,000 to ``--longest`` rows of
64 numbers, and the device memory of its arrays. Step: forward, loss, backward and Adam of CNeuronSTCAEncoder
with width 64 and three layers over 10,000 bars, batch 32. Best of five, each of enough calls to last 0.1 s.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import neuronet as nn
from neuronet.device.base import Device
from neuronet.ops import flash_stca, flash_stca_gradient, visible

HEADS, WIDTH = 8, 64
BARS, BATCH, LAYERS = 10_000, 32, 3
RUNS, LASTING = 5, 0.1


def best(call: Callable[[], None], wait: Callable[[], None]) -> float:
    """Seconds of one call."""
    call()
    wait()
    found = []
    for _ in range(RUNS):
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < LASTING:
            call()
            count += 1
            wait()
        found.append((time.perf_counter() - start) / count)
    return min(found)


def attention(device: Device, length: int) -> tuple[float, int]:
    """Seconds of forward and backward over ``length`` rows, and bytes of all arrays."""
    rng = np.random.default_rng(0)
    shape, rows = (1, 1, HEADS, WIDTH), (1, length, WIDTH)
    splits = flash_stca.splits_for(device, 1, length, HEADS, WIDTH)
    u, out, dout, du = (device.put(rng.standard_normal(shape)) for _ in range(4))
    x, dx = device.put(rng.standard_normal(rows)), device.array(rows)
    limits = device.put(visible.everything(1, length))
    top, total = (device.array((1, splits, 1, HEADS)) for _ in range(2))
    sums, lse = device.array((1, splits, 1, HEADS, WIDTH)), device.array((1, 1, HEADS))

    def call() -> None:
        flash_stca.forward(u, x, limits, top, total, sums, out, lse, scale=0.125)
        flash_stca_gradient.backward(u, x, limits, out, lse, dout, sums, top, du, dx, scale=0.125)

    arrays = (u, out, dout, du, x, dx, limits, top, total, sums, lse)
    return best(call, device.finish), sum(a.nbytes for a in arrays)


def step(device: Device) -> tuple[float, int]:
    """Seconds of a training step, and trained numbers."""
    encoder = nn.CNeuronSTCAEncoder(
        scenarios=3, heads=HEADS, dimension=WIDTH // HEADS, hidden=2 * WIDTH, layers=LAYERS, recompute=True
    )
    net = nn.CNet(
        input_shape=(BARS, WIDTH), layers=[encoder, nn.CNeuronDenseOCL(neurons=1)], batch=BATCH
    ).build(device, seed=0)
    rng = np.random.default_rng(0)
    net.feedForward(rng.standard_normal((BATCH, BARS, WIDTH), np.float32))
    target = rng.standard_normal((BATCH, 1))
    net.backProp(target)

    def call() -> None:
        net.run("forward", net.forward)
        net.backProp(target)

    return best(call, device.finish), net.pool.count


def draw(path: Path, rows: list[tuple[int, float, int]], name: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    lengths, seconds, sizes = (np.array(column, float) for column in zip(*rows, strict=True))
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    axis.loglog(lengths, 1e3 * seconds, "o-", color="C0", label="forward and backward, ms")
    axis.loglog(lengths, sizes / 1e6, "s-", color="C1", label="arrays, MB")
    axis.set(xlabel="rows of the history", title=f"STCA attention on {name}: time and memory are linear")
    axis.grid(alpha=0.3)
    axis.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default=None)
    parser.add_argument("--longest", type=int, default=1_000_000)
    parser.add_argument("--plot", type=Path, default=None)
    options = parser.parse_args()
    device = nn.find_device(options.device)
    sys.stdout.write(f"{device.name}\n\n| rows | ms | MB | ns a row |\n|---|---|---|---|\n")
    rows, length = [], 1_000
    while length <= options.longest:
        seconds, size = attention(device, length)
        rows.append((length, seconds, size))
        sys.stdout.write(
            f"| {length:,} | {1e3 * seconds:.3f} | {size / 1e6:.1f} | {1e9 * seconds / length:.1f} |\n"
        )
        sys.stdout.flush()
        length *= 10
    seconds, count = step(device)
    sys.stdout.write(
        f"\ntraining step, {BARS:,} bars, batch {BATCH}, width {WIDTH}, {LAYERS} layers, "
        f"{count:,} parameters: {1e3 * seconds:,.0f} ms\n"
    )
    if options.plot is not None:
        draw(options.plot, rows, device.name)


if __name__ == "__main__":
    main()
