"""BiLevel: Adam, and slow parameters that another Adam updates once in a while."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.device.pool import Span
from neuronet.errors import SpecError
from neuronet.ops import adam
from neuronet.ops import step as step_op
from neuronet.optim.adam import Adam
from neuronet.optim.base import RATES, optimizer
from neuronet.optim.schedules import Schedule


@optimizer
class BiLevel(Adam):
    """Adam for every step; slow parameters add up their gradients over ``every`` steps, then take one.

    slow_lr     rate of the slow parameters, or a schedule of it over the same steps
    every       steps between two of their updates
    slow_first  their update comes before the present step's gradients, as in CATCH's code: one step late

    Bi-level optimisation as CATCH trains its mask (arXiv:2410.12261); the sum of gradients is not divided, as
    Adam's step does not depend on their size. No decay for slow parameters.
    """

    columns: ClassVar[int] = 2 * RATES + 1

    slow_lr: float | Schedule = 1e-3
    every: int = 10
    slow_first: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.every < 1:
            what = f"every={self.every} is not positive"
            raise SpecError(what, where="BiLevel", fix="choose every >= 1; 1 is plain Adam")
        if not callable(self.slow_lr) and not self.slow_lr > 0:
            raise SpecError(
                f"slow_lr must be positive, got {self.slow_lr!r}", where="BiLevel", fix="try 1e-3"
            )

    def bind(self, device: Device) -> None:
        self.slow_hyper = device.array((RATES + 1,), name="slow hyper")
        super().bind(device)

    def rates(self, step: int) -> NDArray[np.float64]:
        done = (step + 1) // self.every
        rate = float(self.slow_lr(step)) if callable(self.slow_lr) else float(self.slow_lr)
        c1, c2 = (1 / (1 - beta ** max(1, done)) for beta in (self.beta1, self.beta2))
        due = float((step + 1) % self.every == 0)
        slow = [rate, self.beta1, self.beta2, self.eps, c1, c2, 0.0, 0.0, due]
        return np.concatenate([super().rates(step), slow])

    def next_step(self, table: DeviceArray, step: DeviceArray) -> None:
        super().next_step(table, step)
        self._present = table, step

    def update_slow(self, span: Span) -> None:
        table, step = self._present
        step_op.slow_rates(table, self.hyper, step, self.slow_hyper)
        adam.step(span.value, span.gradient, span.m, span.v, self.slow_hyper, keep=True)
