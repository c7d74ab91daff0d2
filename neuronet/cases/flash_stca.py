"""Cases of ops/flash_stca.py."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device
from neuronet.ops import flash_stca, visible

Sight = Literal["all", "causal", "newest-first", "ragged"]


@lru_cache(maxsize=4)
def scratch(device: Device, splits: int, shape: Shape) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """top, total and sums for u of this shape, full of NaN. A split without rows leaves infinities there."""
    batch, *rows, width = shape
    shapes: list[Shape] = [(batch, splits, *rows), (batch, splits, *rows), (batch, splits, *rows, width)]
    top, total, sums = (device.array(s).fill(np.nan) for s in shapes)
    return top, total, sums


@dataclass(frozen=True)
class STCA(Case):
    """What the cases of attention to a history share."""

    batch: int
    queries: int
    heads: int
    length: int
    dimension: int
    splits: int
    sight: Sight = "all"
    recency: bool = False

    @property
    def u(self) -> Shape:
        return (self.batch, self.queries, self.heads, self.dimension)

    @property
    def scale(self) -> float:
        return float(self.dimension**-0.5)

    def given(self, rng: np.random.Generator) -> Arrays:
        """Every question sees a row; the samples have others where they may."""
        times = np.arange(self.length)
        asked = rng.integers(0, self.length, (self.batch, self.queries))
        if self.sight == "newest-first":
            limits = visible.by_time(times[::-1], asked, order="newest-first")
        elif self.sight == "causal":
            limits = visible.by_time(times, asked, order="oldest-first")
        else:
            lengths = rng.integers(1, self.length + 1, self.batch) if self.sight == "ragged" else None
            limits = visible.everything(self.queries, self.length, lengths)
        found: Arrays = {
            "u": rng.standard_normal(self.u),
            "x": rng.standard_normal((self.batch, self.length, self.dimension)),
            "limits": limits,
        }
        if self.recency:
            ages = times if self.sight == "newest-first" else times[::-1]
            found["ages"] = np.tile(ages / 8.0, (self.batch, 1))
            found["slope"] = rng.uniform(0.1, 1, self.heads)
        return found

    @property
    def terms(self) -> int:
        return self.dimension + self.length


@dataclass(frozen=True)
class STCAForward(STCA):
    op = "flash_stca.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self.given(rng)

    def outputs(self) -> dict[str, Shape]:
        return {"out": self.u, "lse": self.u[:-1]}

    def run(self, **arrays: DeviceArray) -> None:
        splits = self.splits or flash_stca.splits_for(
            arrays["u"].device, self.batch, self.length, self.queries * self.heads, self.dimension
        )
        top, total, sums = scratch(arrays["u"].device, splits, self.u)
        flash_stca.forward(**arrays, top=top, total=total, sums=sums, scale=self.scale)

    @property
    def flops(self) -> int:
        return 4 * self.batch * self.queries * self.heads * self.length * self.dimension


#  batch queries heads length dimension splits sight recency; splits 0: as many as suit the device
SIZES: list[tuple[int, int, int, int, int, int, Sight, bool]] = [
    (1, 1, 1, 1, 1, 1, "all", False),
    (2, 1, 2, 15, 3, 2, "all", True),
    (1, 3, 5, 16, 64, 5, "causal", False),
    (3, 1, 8, 17, 65, 3, "ragged", True),
    (1, 32, 2, 33, 100, 4, "newest-first", False),
    (2, 3, 1, 130, 128, 37, "causal", True),
    (1, 1, 8, 1003, 64, 0, "all", False),
    (2, 3, 3, 257, 20, 7, "newest-first", True),
    (1, 2, 2, 70, 300, 2, "causal", False),
    (1, 1, 3, 9, 600, 2, "all", True),
    (2, 3, 8, 130, 64, 3, "causal", True),
    (2, 1, 3, 200, 32, 2, "ragged", True),
]
LARGE_SIZES: list[tuple[int, int, int, int, int, int]] = [
    (1, 1, 8, 10_000, 64, 0),
    (1, 1, 8, 100_000, 64, 0),
    (1, 8, 8, 10_000, 64, 0),
]
SMALL: list[Case] = [STCAForward(*size) for size in SIZES]
LARGE: list[Case] = [STCAForward(*size) for size in LARGE_SIZES]
