"""Cases of ops/soft_max.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import soft_max


@dataclass(frozen=True)
class SoftMax(Case):
    """What the cases of softmax share."""

    rows: int
    classes: int

    @property
    def x(self) -> Shape:
        return (self.rows, self.classes)

    @property
    def terms(self) -> int:
        return self.classes


@dataclass(frozen=True)
class SoftMaxForward(SoftMax):
    op = "soft_max.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"x": rng.standard_normal(self.x) + 100}

    def outputs(self) -> dict[str, Shape]:
        return {"y": self.x}

    def run(self, **arrays: DeviceArray) -> None:
        soft_max.forward(**arrays)


@dataclass(frozen=True)
class SoftMaxBackwardInput(SoftMax):
    op = "soft_max.backward_input"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        e = np.exp(rng.standard_normal(self.x))
        return {"y": e / e.sum(axis=1, keepdims=True), "dy": rng.standard_normal(self.x)}

    def outputs(self) -> dict[str, Shape]:
        return {"dx": self.x}

    def run(self, **arrays: DeviceArray) -> None:
        soft_max.backward_input(**arrays)


_KINDS = (SoftMaxForward, SoftMaxBackwardInput)
_SIZES = [(3, 2), (17, 5), (2, 31), (5, 33), (3, 64), (7, 129), (1, 1000)]
SMALL: list[Case] = [SoftMaxForward(4, 1), *[kind(*size) for kind in _KINDS for size in _SIZES]]
LARGE: list[Case] = [kind(*size) for kind in _KINDS for size in ((65536, 3), (8192, 120), (16, 50_000))]
