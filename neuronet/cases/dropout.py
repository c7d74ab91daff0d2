"""Cases of ops/dropout.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import dropout


@dataclass(frozen=True)
class DropoutApply(Case):
    op = "dropout.apply"
    n: int
    probability: float = 0.3

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "x": rng.standard_normal(self.n),
            "key": rng.integers(2**31, size=1),
            "step": np.array([12345, 5, -1, 0]),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"out": (self.n,)}

    def run(self, **arrays: DeviceArray) -> None:
        dropout.apply(**arrays, probability=self.probability)


SMALL: list[Case] = [DropoutApply(n) for n in (5, 255, 256, 257, 511, 1023, 1024, 1025, 10_003)]
SMALL += [DropoutApply(1, 0.0), DropoutApply(50, 0.0), DropoutApply(1000, 0.999)]
LARGE: list[Case] = [DropoutApply(n) for n in (64 * 120 * 32, 2**22)]
