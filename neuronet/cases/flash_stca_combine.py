"""Cases of ops/flash_stca_combine.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import flash_stca_combine


@dataclass(frozen=True)
class Splits(Case):
    """What the cases share."""

    batch: int
    splits: int
    queries: int
    heads: int
    dimension: int

    @property
    def rows(self) -> Shape:
        return (self.batch, self.splits, self.queries, self.heads)

    @property
    def out(self) -> Shape:
        return (self.batch, self.queries, self.heads, self.dimension)

    @property
    def terms(self) -> int:
        return self.splits


@dataclass(frozen=True)
class SplitsCombine(Splits):
    op = "flash_stca_combine.combine"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "top": 3 * rng.standard_normal(self.rows),
            "total": rng.uniform(1, 20, self.rows),
            "sums": rng.standard_normal((*self.rows, self.dimension)),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"out": self.out, "lse": self.out[:-1]}

    def run(self, **arrays: DeviceArray) -> None:
        flash_stca_combine.combine(**arrays)


@dataclass(frozen=True)
class SplitsReduce(Splits):
    op = "flash_stca_combine.reduce"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"parts": rng.standard_normal((*self.rows, self.dimension))}

    def outputs(self) -> dict[str, Shape]:
        return {"du": self.out}

    def run(self, **arrays: DeviceArray) -> None:
        flash_stca_combine.reduce(**arrays)


_SIZES = [(1, 1, 1, 1, 1), (2, 3, 3, 2, 5), (1, 15, 1, 5, 16), (1, 16, 2, 1, 17), (3, 33, 1, 3, 65)]
SMALL: list[Case] = [kind(*size) for kind in (SplitsCombine, SplitsReduce) for size in _SIZES]
LARGE: list[Case] = [kind(1, 264, 1, 8, 64) for kind in (SplitsCombine, SplitsReduce)]
