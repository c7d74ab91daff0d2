"""Gradient descent with momentum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neuronet.device.pool import Span
from neuronet.ops import sgd
from neuronet.optim.base import Optimizer, optimizer
from neuronet.optim.schedules import Schedule


@optimizer
class SGD(Optimizer):
    """m = momentum * m + g; w -= lr * (m + l2 * w + l1 * sign(w)).

    NeuroNet's UpdateWeightsMomentum keeps lr * m instead of m: the same steps for a constant rate.
    """

    lr: float | Schedule = 1e-2
    momentum: float = 0.9
    l2: float = 0.0
    l1: float = 0.0
    clip_norm: float | None = None

    def rates(self, step: int) -> NDArray[np.float64]:
        return np.array([self.rate(step), self.momentum, 0.0, 0.0, 0.0, 0.0, self.l2, self.l1])

    def update(self, span: Span) -> None:
        sgd.step(span.value, span.gradient, span.m, self.hyper)
