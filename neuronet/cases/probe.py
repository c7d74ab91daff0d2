"""Cases of ops/probe.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import probe


@dataclass(frozen=True)
class MultiplyAdd(Case):
    op = "probe.multiply_add"
    n: int
    steps: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"x": rng.standard_normal(self.n)}

    def outputs(self) -> dict[str, Shape]:
        return {"y": (self.n,)}

    def run(self, **arrays: DeviceArray) -> None:
        probe.multiply_add(arrays["x"], arrays["y"], steps=self.steps)

    @property
    def terms(self) -> int:
        return 64

    @property
    def flops(self) -> int:
        return probe.FLOPS * self.n * self.steps


SMALL: list[Case] = [MultiplyAdd(1, 1), MultiplyAdd(7, 0), MultiplyAdd(33, 5), MultiplyAdd(130, 100)]
LARGE: list[Case] = []  # cases/bench.py runs it at a size that suits the device
