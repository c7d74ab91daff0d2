"""Cases of ops/broadcast.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import broadcast


@dataclass(frozen=True)
class BroadcastAdd(Case):
    op = "broadcast.add"
    batch: int
    units: int
    window: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        shape = (self.units, self.window)
        return {"x": rng.standard_normal((self.batch, *shape)), "table": rng.standard_normal(shape)}

    def outputs(self) -> dict[str, Shape]:
        return {"y": (self.batch, self.units, self.window)}

    def run(self, **arrays: DeviceArray) -> None:
        broadcast.add(**arrays)


SMALL: list[Case] = [BroadcastAdd(*size) for size in ((1, 1, 1), (3, 7, 5), (17, 3, 11))]
LARGE: list[Case] = [BroadcastAdd(*size) for size in ((64, 120, 32), (64, 480, 128))]
