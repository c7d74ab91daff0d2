"""Cases of ops/step.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray
from neuronet.ops import step


@dataclass(frozen=True)
class NextStep(Case):
    op = "step.next_step"
    changes = ("hyper", "step")
    steps: int
    rates: int
    index: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "table": rng.standard_normal((self.steps, self.rates)),
            "hyper": rng.standard_normal(self.rates + 1),
            "step": np.array([1000, self.index - 1, -1, 0]),
        }

    def run(self, **arrays: DeviceArray) -> None:
        step.next_step(**arrays)


SMALL: list[Case] = [NextStep(1, 8, 0), NextStep(7, 8, 0), NextStep(7, 8, 6), NextStep(5, 3, 2)]
LARGE: list[Case] = [NextStep(1000, 8, 500)]
