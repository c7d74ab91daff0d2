"""Cases of ops/elementwise.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import elementwise


@dataclass(frozen=True)
class Add(Case):
    op = "elementwise.add"
    n: int
    multiplyer: float = 1.0

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"a": rng.standard_normal(self.n), "b": rng.standard_normal(self.n)}

    def outputs(self) -> dict[str, Shape]:
        return {"out": (self.n,)}

    def run(self, **arrays: DeviceArray) -> None:
        elementwise.add(**arrays, multiplyer=self.multiplyer)


@dataclass(frozen=True)
class Copy(Case):
    op = "elementwise.copy"
    n: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"source": rng.standard_normal(self.n)}

    def outputs(self) -> dict[str, Shape]:
        return {"target": (self.n,)}

    def run(self, **arrays: DeviceArray) -> None:
        elementwise.copy(**arrays)


SMALL: list[Case] = [case for n in (1, 7, 1001, 2500) for case in (Add(n), Add(n, 0.5), Copy(n))]
LARGE: list[Case] = [Add(2**22), Copy(2**22)]
