"""Cases of ops/adam.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.dense import HYPER
from neuronet.device.array import DeviceArray
from neuronet.ops import adam


@dataclass(frozen=True)
class AdamStep(Case):
    op = "adam.step"
    changes = ("w", "g", "m", "v")
    n: int
    go: bool = True
    keep: bool = False

    def inputs(self, rng: np.random.Generator) -> Arrays:
        made: Arrays = {name: rng.standard_normal(self.n) for name in self.changes}
        return made | {"v": made["v"] ** 2, "hyper": HYPER if self.go else np.r_[HYPER[:-1], 0]}

    def run(self, **arrays: DeviceArray) -> None:
        adam.step(**arrays, keep=self.keep)


SMALL: list[Case] = [
    AdamStep(1),
    AdamStep(7),
    AdamStep(1001),
    AdamStep(5, go=False),
    AdamStep(5, go=False, keep=True),
    AdamStep(9, keep=True),
]
LARGE: list[Case] = [AdamStep(2**20)]
