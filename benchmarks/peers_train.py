"""W7: an epoch of training on 50,000 hourly bars in neuronet and PyTorch; see peers.py for how.

    python benchmarks/peers_train.py [--device NAME] [--runs 5]

The default net of 'neuronet train' (two convolutions over 120 bars of 5 features, 12 outputs), batch 64,
Huber loss, Adam, every window once in a random order that is the same for both. neuronet uploads the bars and
cuts windows on the device; PyTorch takes them from a DataLoader without workers, as most people write it, and
from tensors that lie where they are used, cut with one index, the best that it can do.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from peers import EPS, LR, Contender
from steps import Makers, main

import neuronet as nn

BARS, HISTORY, FEATURES, OUTPUTS, BATCH, DELTA = 50_000, 120, 5, 12, 64, 1.0
WINDOWS = BARS - HISTORY + 1
SHAPES = {"0/w": (8, 20), "0/b": (8,), "1/w": (8, 40), "1/b": (8,), "2/w": (12, 48), "2/b": (12,)}


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    rows, targets = rng.standard_normal((BARS, FEATURES)), rng.standard_normal((BARS, OUTPUTS))
    return rows.astype(np.float32), targets.astype(np.float32)


def weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        name: (rng.uniform(-1, 1, shape) / shape[-1] ** 0.5).astype(np.float32)
        for name, shape in SHAPES.items()
    }


def order(epoch: int) -> np.ndarray:
    """As fit draws it for seed 0."""
    return np.random.default_rng([epoch, 0]).permutation(WINDOWS)


def train_ours(spec: str | None) -> Contender:
    convolutions = [nn.CNeuronConvOCL(window=k, step=k, window_out=8, activation="GELU") for k in (20, 40)]
    net = nn.CNet(
        input_shape=(HISTORY, FEATURES),
        layers=[*convolutions, nn.CNeuronDenseOCL(neurons=OUTPUTS)],
        batch=BATCH,
        loss=nn.Huber(delta=DELTA),
        optimizer=nn.Adam(lr=LR, eps=EPS),
    ).build(nn.find_device(spec))
    for i, layer in enumerate(net.layers):
        for p in layer.parameters:
            p.value.write(weights()[f"{i}/{p.name}"].reshape(p.shape))
    rows, targets = data()
    source = nn.Source.windows(rows, targets, np.arange(WINDOWS), HISTORY)
    done = [0]

    def epoch() -> None:
        nn.fit(net, source, epochs=1, patience=None, seed=done[0])
        done[0] += 1

    return Contender("neuronet", epoch, net.device.finish, net.layers[2].parameters[0].value.read)


def train_torch(kind: str, *, loader: bool) -> Contender:
    import torch
    from torch.nn.functional import gelu, huber_loss, linear

    torch.set_float32_matmul_precision("highest")
    w = {name: torch.nn.Parameter(torch.tensor(v, device=kind)) for name, v in weights().items()}
    adam = torch.optim.Adam(w.values(), lr=LR, eps=EPS)
    rows, targets = (torch.tensor(a) for a in data())
    done = [0]

    def step(x: Any, t: Any) -> None:
        adam.zero_grad()
        y = gelu(linear(x.reshape(len(x), 30, 20), w["0/w"], w["0/b"]), approximate="tanh")
        y = gelu(linear(y.reshape(len(x), 6, 40), w["1/w"], w["1/b"]), approximate="tanh")
        y = linear(y.reshape(len(x), 48), w["2/w"], w["2/b"])
        huber_loss(y, t, delta=DELTA).backward()
        adam.step()

    class Windows(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return WINDOWS

        def __getitem__(self, i: int) -> tuple[Any, Any]:
            return rows[i : i + HISTORY], targets[i + HISTORY - 1]

    def from_loader() -> None:
        starts = order(done[0]).tolist()
        for x, t in torch.utils.data.DataLoader(Windows(), batch_size=BATCH, sampler=starts):
            step(x.to(kind), t.to(kind))
        done[0] += 1

    near = rows.to(kind), targets.to(kind), torch.arange(HISTORY, device=kind)

    def from_tensors() -> None:
        starts = torch.tensor(order(done[0]), device=kind)
        for part in starts.split(BATCH):
            step(near[0][part[:, None] + near[2]], near[1][part + HISTORY - 1])
        done[0] += 1

    wait = torch.cuda.synchronize if kind == "cuda" else lambda: None
    name = f"PyTorch {torch.__version__} {kind} {'DataLoader' if loader else 'tensors'}"
    return Contender(
        name, from_loader if loader else from_tensors, wait, lambda: w["2/w"].detach().cpu().numpy()
    )


def makers(spec: str | None, kind: str) -> Makers:
    return [
        partial(train_ours, spec),
        partial(train_torch, kind, loader=True),
        partial(train_torch, kind, loader=False),
    ]


if __name__ == "__main__":
    main(__doc__, f"W7 epoch of {WINDOWS:,} windows", makers)
