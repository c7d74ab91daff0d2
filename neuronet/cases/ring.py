"""Cases of ops/ring.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray
from neuronet.ops import ring


@dataclass(frozen=True)
class RingAppend(Case):
    op = "ring.append"
    changes = ("memory",)
    batch: int
    capacity: int
    window: int
    count: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "row": rng.standard_normal((self.batch, 1, self.window)),
            "count": np.array([self.count]),
            "memory": rng.standard_normal((self.batch, self.capacity, self.window)),
        }

    def run(self, **arrays: DeviceArray) -> None:
        ring.append(**arrays)


@dataclass(frozen=True)
class RingSeen(Case):
    op = "ring.seen"
    changes = ("limits", "ages")
    batch: int
    queries: int
    capacity: int
    count: int
    step: float = 1.0

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "count": np.array([self.count]),
            "limits": rng.integers(9, size=(self.batch, self.queries, 2)),
            "ages": rng.standard_normal((self.batch, self.capacity)),
        }

    def run(self, **arrays: DeviceArray) -> None:
        ring.seen(**arrays, step=self.step)


@dataclass(frozen=True)
class RingAdvance(Case):
    op = "ring.advance"
    changes = ("count",)
    count: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"count": np.array([self.count])}

    def run(self, **arrays: DeviceArray) -> None:
        ring.advance(**arrays)


SMALL: list[Case] = [
    *[RingAppend(*size) for size in ((1, 1, 1, 0), (2, 5, 3, 4), (2, 5, 3, 5), (3, 4, 70, 1001))],
    *[
        RingSeen(*size)
        for size in ((1, 1, 1, 0), (2, 3, 5, 4), (2, 3, 5, 5), (3, 4, 7, 1001), (2, 1, 7, 77, 2.0**-10))
    ],
    RingAdvance(0),
    RingAdvance(12345),
]
LARGE: list[Case] = [RingAppend(1, 10_000, 64, 12_345)]
