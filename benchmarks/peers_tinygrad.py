"""tinygrad as a contender of peers.py, on the device that it finds or that DEV names; steps by TinyJit."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any

import numpy as np
from peers import EPS, LR, Contender, data, operands, weights


def dense_tinygrad(batch: int) -> Contender:
    """W1: forward, loss, backward, Adam."""
    _device()
    from tinygrad import Context, Tensor, TinyJit
    from tinygrad.nn.optim import Adam

    layers = [(Tensor(w).is_param_(), Tensor(b).is_param_()) for w, b in weights()]
    adam = Adam([p for layer in layers for p in layer], lr=LR, eps=EPS)
    x, t = (Tensor(a).realize() for a in data(batch))

    @TinyJit
    def step() -> None:
        y = x
        for w, b in layers[:-1]:
            y = y.linear(w.T, b).tanh()
        loss = (y.linear(layers[-1][0].T, layers[-1][1]) - t).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()

    def call() -> None:
        with Context(TRAINING=1):
            step()

    return _contender(call, lambda: layers[0][0].numpy())


def product_tinygrad(n: int) -> Contender:
    _device()
    from tinygrad import Tensor, TinyJit

    a, b = (Tensor(v).realize() for v in operands(n))
    product = TinyJit(lambda: (a @ b).realize())
    held: list[Any] = [None]

    def call() -> None:
        held[0] = product()

    return _contender(call, lambda: held[0].numpy())


def _device() -> Any:
    """tinygrad's device. ImportError, as if it were not installed, when it finds none that it can use."""
    from tinygrad import Device

    try:
        return Device[Device.DEFAULT]
    except Exception as error:
        raise ImportError(name=f"tinygrad without a device ({error})") from error


def _contender(call: Callable[[], None], result: Callable[[], np.ndarray]) -> Contender:
    device = _device()
    name = f"tinygrad {importlib.metadata.version('tinygrad')} jit {device.device}"
    return Contender(name, call, device.synchronize, result)
