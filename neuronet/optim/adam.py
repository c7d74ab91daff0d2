"""Adam, in house."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from neuronet.device.pool import Span
from neuronet.ops import adam
from neuronet.optim.base import RATES, Optimizer, optimizer
from neuronet.optim.schedules import Schedule


@optimizer
class Adam(Optimizer):
    """Adam with bias correction: Kingma & Ba, https://arxiv.org/abs/1412.6980, algorithm 1.

    lr         rate, or a schedule of it
    l2, l1     decoupled decay towards 0 by lr * (l2 * w + l1 * sign(w)), as in AdamW and NeuroNet
    clip_norm  longest gradient of the whole net; None switches clipping off
    """

    fused: ClassVar[bool] = True

    lr: float | Schedule = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    l2: float = 0.0
    l1: float = 0.0
    clip_norm: float | None = None

    def rates(self, step: int) -> NDArray[np.float64]:
        t = step + 1
        c1, c2 = 1 / (1 - self.beta1**t), 1 / (1 - self.beta2**t)
        row = [self.rate(step), self.beta1, self.beta2, self.eps, c1, c2, self.l2, self.l1]
        assert len(row) == RATES
        return np.array(row)

    def update(self, span: Span) -> None:
        adam.step(span.value, span.gradient, span.m, span.v, self.hyper)
