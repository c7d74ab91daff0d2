"""Peak device bytes of a training step of each default net, in neuronet and PyTorch (eager).

    python benchmarks/memory.py [--device NAME] [--histories 120,480]

Weights, gradients, Adam's moments, maps and the batch, 64 windows; not the bars that batches are cut from.
Counted for neuronet: the buffers that are there while ``fit`` trains. PyTorch's peak is that of its
allocator on CUDA, less the workspace of cuBLAS, and that of its MemTracker on a CPU. Several ``--histories``
show how it grows; catch has windows of its own.
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
from typing import Any

import numpy as np
from training import MODELS, Work, work_of

import neuronet as nn

BATCH = 64
ALONE = 3  # references to a buffer that only the list, its tuple and the call hold


def ours(spec: str | None, work: Work) -> int:
    """Bytes of the buffers that are in use while ``fit`` trains; a step makes none and frees none."""
    device, made = nn.find_device(spec), []
    allocate = device.allocate

    def noted(shape: tuple[int, ...], dtype: np.dtype[Any], name: str) -> Any:
        made.append((allocate(shape, dtype, name), math.prod(shape) * dtype.itemsize))
        return made[-1][0]

    device.allocate = noted  # type: ignore[method-assign]
    try:
        net = work.net.build(device, seed=0)
        x, second, target = work.samples(BATCH)
        with net.sharing():
            net.feedForward(x, second)
            net.backProp(target)
            count = len(made)
            net.feedForward(x, second)
            net.backProp(target)
            gc.collect()
            used = sum(nbytes for buffer, nbytes in made if sys.getrefcount(buffer) > ALONE)
    finally:
        device.allocate = allocate  # type: ignore[method-assign]
    if len(made) > count:
        raise RuntimeError("a step allocates")
    return used


def by_torch(kind: str, work: Work) -> int:
    import torch
    from torch_training import TorchTraining

    gc.collect()
    given = work.samples(BATCH)

    def steps() -> None:
        training = TorchTraining(work, kind, drawn=True)
        x, second, target = (
            None if a is None else torch.tensor(a, dtype=torch.float32, device=kind) for a in given
        )
        for _ in range(2):
            training.step(x, second, target)

    if kind == "cpu":
        from torch.distributed._tools.mem_tracker import MemTracker

        tracker = MemTracker()
        with tracker:
            steps()
        return int(tracker.get_tracker_snapshot("peak")[torch.device("cpu")]["Total"])
    before = torch.cuda.memory_allocated()
    steps()  # what cuBLAS takes for itself stays
    gc.collect()
    workspace = torch.cuda.memory_allocated() - before
    torch.cuda.reset_peak_memory_stats()
    steps()
    return int(torch.cuda.max_memory_allocated()) - before - workspace


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default=None)
    parser.add_argument("--histories", default="120,480")
    options = parser.parse_args()
    device = nn.find_device(options.device)
    kind = "cuda" if device.kind == "gpu" else "cpu"
    head = f"{device.name}, neuronet {nn.__version__}"
    lines = [head, "", "| net | neuronet MB | PyTorch MB | PyTorch / ours |", "|---|---|---|---|"]
    for model in MODELS:
        histories = [None] if model == "catch" else [int(n) for n in options.histories.split(",")]
        for history in histories:
            work = work_of(model, history=history)
            mine = ours(options.device, work)
            try:
                theirs: int | None = by_torch(kind, work_of(model, history=history))
            except ImportError:
                theirs = None
            rest = "not installed | |" if theirs is None else f"{theirs / 1e6:.1f} | {theirs / mine:.2f} |"
            lines.append(f"| {model}, {work.net.input_shape[0]} rows | {mine / 1e6:.1f} | {rest}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
