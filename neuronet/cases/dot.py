"""Cases of ops/dot.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import dot


@dataclass(frozen=True)
class Dot(Case):
    """What the cases of local attention share."""

    batch: int
    units: int
    heads: int
    dimension: int
    radius: int
    causal: bool

    @property
    def qkv(self) -> Shape:
        return (self.batch, self.units, 3, self.heads, self.dimension)

    @property
    def score(self) -> Shape:
        return (self.batch, self.units, self.heads, dot.slots(self.radius, self.causal))

    @property
    def out(self) -> Shape:
        return (self.batch, self.units, self.heads, self.dimension)

    @property
    def terms(self) -> int:
        return self.dimension + self.score[-1]

    @property
    def flops(self) -> int:
        return 4 * self.batch * self.units * self.heads * self.dimension * self.score[-1]


@dataclass(frozen=True)
class DotForward(Dot):
    op = "dot.forward"
    per_position: bool = False

    def inputs(self, rng: np.random.Generator) -> Arrays:
        rpb = (self.units if self.per_position else 1, *self.score[2:])
        return {"qkv": rng.standard_normal(self.qkv), "rpb": rng.standard_normal(rpb)}

    def outputs(self) -> dict[str, Shape]:
        return {"score": self.score, "out": self.out}

    def run(self, **arrays: DeviceArray) -> None:
        dot.forward(**arrays, radius=self.radius)


@dataclass(frozen=True)
class DotBackward(Dot):
    op = "dot.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        unit = np.arange(self.units)[:, None] + np.arange(self.score[-1]) - self.radius
        exists = (unit >= 0) & (unit < self.units)
        score = rng.uniform(0.1, 1, self.score) * exists[:, None]
        return {
            "qkv": rng.standard_normal(self.qkv),
            "score": score / score.sum(-1, keepdims=True),
            "dout": rng.standard_normal(self.out),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"dscore": self.score, "dqkv": self.qkv}

    def run(self, **arrays: DeviceArray) -> None:
        dot.backward(**arrays, radius=self.radius)

    @property
    def flops(self) -> int:
        return 2 * super().flops


#  batch units heads dimension radius causal
_SIZES = [
    (1, 1, 1, 1, 1, False),
    (2, 2, 5, 3, 1, False),
    (1, 3, 2, 65, 1, True),
    (2, 17, 2, 8, 2, False),
    (1, 33, 8, 9, 1, False),
    (3, 5, 1, 64, 9, False),
    (1, 50, 3, 100, 4, True),
    (1, 16, 1, 128, 1, False),
    (2, 15, 4, 7, 40, True),
]
SMALL: list[Case] = [kind(*size) for size in _SIZES for kind in (DotForward, DotBackward)]
SMALL += [DotForward(*size, per_position=True) for size in _SIZES[:4]]
LARGE: list[Case] = [
    kind(*size)
    for size in [(64, 128, 4, 8, 1, False), (8, 1024, 4, 64, 16, True)]
    for kind in (DotForward, DotBackward)
]
