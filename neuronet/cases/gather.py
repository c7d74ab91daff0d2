"""Cases of ops/gather.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import gather


@dataclass(frozen=True)
class Gather(Case):
    """What gathers of floats and of class numbers share; ``index`` is the batch's number in its epoch.

    at, rest  values of a sample before and behind what is cut, which stay
    """

    bars: int
    features: int
    batch: int
    units: int
    batch_size: int
    index: int
    offset: int = 0
    at: int = 0
    rest: int = 0

    @property
    def out(self) -> Shape:
        return (self.batch, self.at + self.units * self.features + self.rest)

    def indices(self, rng: np.random.Generator) -> Arrays:
        windows = self.index * self.batch_size + self.batch
        last = self.bars - self.units - self.offset
        return {"starts": rng.integers(last + 1, size=windows), "step": np.array([99, self.index, -1, 0])}

    def run(self, **arrays: DeviceArray) -> None:
        gather.windows(**arrays, units=self.units, batch_size=self.batch_size, offset=self.offset, at=self.at)


@dataclass(frozen=True)
class GatherWindows(Gather):
    op = "gather.windows"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"rows": rng.standard_normal((self.bars, self.features))} | self.indices(rng)

    def outputs(self) -> dict[str, Shape]:
        return {"out": self.out}


@dataclass(frozen=True)
class GatherParts(Gather):
    op = "gather.windows into samples"
    changes = ("out",)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        rows = rng.standard_normal((self.bars, self.features))
        return {"rows": rows, "out": np.full(self.out, -1.0)} | self.indices(rng)


@dataclass(frozen=True)
class GatherClasses(Gather):
    op = "gather.windows of classes"
    changes = ("out",)

    def inputs(self, rng: np.random.Generator) -> Arrays:
        rows = rng.integers(100, size=(self.bars, self.features))
        return {"rows": rows, "out": np.full(self.out, -1)} | self.indices(rng)


#         bars features batch units batch_size index offset
_SIZES = [
    (1, 1, 1, 1, 1, 0),
    (50, 3, 4, 7, 4, 2),
    (41, 5, 2, 1, 7, 3, 8),  # the last batch of an epoch is short
]
_PARTS = [
    (50, 3, 4, 7, 4, 1, 0, 0, 9),  # more is put behind the window,
    (50, 9, 4, 1, 4, 1, 6, 21, 2),  # such as this
]
SMALL: list[Case] = [
    *(kind(*size) for kind in (GatherWindows, GatherClasses) for size in _SIZES),
    *(kind(*size) for kind in (GatherParts, GatherClasses) for size in _PARTS),
]
LARGE: list[Case] = [GatherWindows(100_000, 9, 64, 120, 64, 10), GatherWindows(100_000, 9, 256, 480, 256, 3)]
