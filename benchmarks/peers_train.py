"""W7: an epoch of training on 50,000 hourly bars in neuronet and PyTorch; see peers.py for how.

    python benchmarks/peers_train.py [--model conv] [--device NAME] [--runs 5] [--batches N]

The net that 'neuronet train --model' builds by default, batch 64, every window in a random order that is the
same for both: for conv, mamba4cast, dfft and stca 12 forecasts from windows of 120 bars, Huber loss, Adam
with decay; for catch windows of 32 changes of 5 channels, reconstructed, the mask of channels with a slow
Adam of its own. neuronet's ``fit`` uploads the bars and cuts windows on the device; PyTorch takes them from a
DataLoader without workers, as most people write it, and from tensors that lie where they are used, cut with
one index.

Both begin with the same weights; after some batches the changes of all weights are compared, then an epoch
is timed: the whole one, or ``--batches`` of it (200 by default for all but conv), extrapolated. What ``fit``
does once, such as uploading, counts once. For the comparison alone CATCH draws no mask and hides nothing.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

from peers import Contender, contest
from steps import Arrays, Makers
from training import MODELS, hold_mask, initial, work_of

import neuronet as nn

CHECKED, FEW = 20, 200  # batches before weights are compared, and timed of the larger nets
RTOL = 1e-3  # of the largest change in each array of weights


class Trainer(Contender):
    """``call`` trains on the first few batches; ``measure`` gives the seconds of an epoch."""

    def __init__(self, name: str, check: Callable[[], Arrays], epoch: Callable[[], float]) -> None:
        def call() -> None:
            self.changes = check()

        super().__init__(name, call, lambda: None, lambda: self.changes)
        self.epoch = epoch

    def measure(self) -> float:
        return self.epoch()


def changes(before: Arrays, after: Arrays) -> Arrays:
    """What training changed, of all weights."""
    return {name: after[name] - values for name, values in before.items()}


def checked_batches(net: nn.CNet) -> int:
    """A few; for CATCH up to the first step of its mask, which decides anew what is compared."""
    return getattr(net.optimizer, "every", CHECKED)


def train_ours(spec: str | None, model: str, batches: int) -> Contender:
    device = nn.find_device(spec)

    def check() -> Arrays:
        work = work_of(model, drawn=False)
        net = work.net.build(device, seed=0)
        if model == "catch":
            hold_mask(net)
        nn.fit(net, work.part(checked_batches(net)), epochs=1, patience=None, seed=0)
        found = {name.removeprefix("parameters/"): values for name, values in net.arrays().items()}
        return changes(initial(net), found)

    work = work_of(model)
    net, source, done = work.net.build(device, seed=0), work.part(batches), [0]

    def epoch() -> float:
        start = time.perf_counter()
        state = nn.fit(net, source, epochs=1, patience=None, seed=done[0])
        device.finish()
        seconds = time.perf_counter() - start
        done[0] += 1
        steps = float(state.history[-1]["seconds"])
        return seconds - steps + steps * work.batches / batches

    return Trainer("neuronet", check, epoch)


def train_torch(kind: str, model: str, batches: int, *, loader: bool) -> Contender:
    import torch
    from torch_training import TorchTraining

    def check() -> Arrays:
        work = work_of(model, drawn=False)
        training, before = TorchTraining(work, kind, drawn=False), work.weights()
        training.passes(work.part(checked_batches(work.net)), loader=loader)(0)
        return changes(before, training.weights())

    work, done = work_of(model), [0]
    one_pass = TorchTraining(work, kind, drawn=True).passes(work.part(batches), loader=loader)
    wait = torch.cuda.synchronize if kind == "cuda" else lambda: None

    def epoch() -> float:
        start = time.perf_counter()
        one_pass(done[0])
        wait()
        done[0] += 1
        return (time.perf_counter() - start) * work.batches / batches

    name = f"PyTorch {torch.__version__} {kind} {'DataLoader' if loader else 'tensors'}"
    return Trainer(name, check, epoch)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="conv", choices=MODELS)
    parser.add_argument("--device", default=None)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--batches", type=int, default=None)
    options = parser.parse_args()
    device, work = nn.find_device(options.device), work_of(options.model)
    kind = "cuda" if device.kind == "gpu" else "cpu"
    wanted = options.batches or (work.batches if options.model == "conv" else FEW)
    batches = min(wanted, work.batches)
    how = options.model, batches
    makers: Makers = [
        partial(train_ours, options.device, *how),
        partial(train_torch, kind, *how, loader=True),
        partial(train_torch, kind, *how, loader=False),
    ]
    found, missing = contest(makers, options.runs, RTOL, warm_up=1)
    ours, windows = statistics.median(found[0][1]), len(work.source)
    part = "" if batches == work.batches else f", extrapolated from {batches}"
    lines = [
        f"{device.name}, neuronet {nn.__version__}: {options.model}, an epoch of {windows:,} windows, "
        f"{work.batches} batches of {work.net.batch}{part}",
        "",
        "| model | who | s an epoch | min-max s | bars a second | peer / ours |",
        "|---|---|---|---|---|---|",
    ]
    for name, times in found:
        s = statistics.median(times)
        ratio = "" if times is found[0][1] else f"{s / ours:.2f}"
        spread = f"{min(times):.3f}-{max(times):.3f}"
        lines.append(f"| {options.model} | {name} | {s:.3f} | {spread} | {windows / s:,.0f} | {ratio} |")
    lines += [f"| {options.model} | not installed: {name} | | | | |" for name in missing]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
