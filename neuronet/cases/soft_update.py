"""Cases of ops/soft_update.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray
from neuronet.ops.soft_update import soft_update


@dataclass(frozen=True)
class SoftUpdate(Case):
    op = "soft_update"
    changes = ("target",)
    n: int
    tau: float = 0.01

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {name: rng.standard_normal(self.n) for name in ("target", "source")}

    def run(self, **arrays: DeviceArray) -> None:
        soft_update(**arrays, tau=self.tau)


SMALL: list[Case] = [SoftUpdate(1), SoftUpdate(7, 1.0), SoftUpdate(1001, 0.5)]
LARGE: list[Case] = [SoftUpdate(2**20)]
