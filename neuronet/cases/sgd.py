"""Cases of ops/sgd.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.dense import HYPER
from neuronet.device.array import DeviceArray
from neuronet.ops import sgd


@dataclass(frozen=True)
class SgdStep(Case):
    op = "sgd.step"
    changes = ("w", "g", "m")
    n: int
    go: bool = True

    def inputs(self, rng: np.random.Generator) -> Arrays:
        made: Arrays = {name: rng.standard_normal(self.n) for name in self.changes}
        return made | {"hyper": HYPER if self.go else np.r_[HYPER[:-1], 0]}

    def run(self, **arrays: DeviceArray) -> None:
        sgd.step(**arrays)


SMALL: list[Case] = [SgdStep(1), SgdStep(7), SgdStep(1001), SgdStep(5, go=False)]
LARGE: list[Case] = [SgdStep(2**20)]
