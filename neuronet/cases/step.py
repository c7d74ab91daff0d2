"""Cases of ops/step.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import step


@dataclass(frozen=True)
class NextStep(Case):
    op = "step.next_step"
    changes = ("hyper", "step")
    steps: int
    rates: int
    index: int
    more: int = 0

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "table": rng.standard_normal((self.steps, self.rates + self.more)),
            "hyper": rng.standard_normal(self.rates + 1),
            "step": np.array([1000, self.index - 1, -1, 0]),
        }

    def run(self, **arrays: DeviceArray) -> None:
        step.next_step(**arrays)


@dataclass(frozen=True)
class SlowRates(Case):
    op = "step.slow_rates"
    steps: int
    index: int
    go: float

    def inputs(self, rng: np.random.Generator) -> Arrays:
        table, row = rng.standard_normal((self.steps, 17)), rng.standard_normal(9)
        row[-1], table[:, -1] = self.go, 1.0
        return {"table": table, "hyper": row, "step": np.array([1000, self.index, -1, 0])}

    def outputs(self) -> dict[str, Shape]:
        return {"slow": (9,)}

    def run(self, **arrays: DeviceArray) -> None:
        step.slow_rates(**arrays)


SMALL: list[Case] = [
    *[NextStep(1, 8, 0), NextStep(7, 8, 0), NextStep(7, 8, 6), NextStep(5, 3, 2), NextStep(5, 8, 2, 9)],
    *[SlowRates(1, 0, 1.0), SlowRates(5, 3, 1.0), SlowRates(5, 3, 0.0)],
]
LARGE: list[Case] = [NextStep(1000, 8, 500)]
