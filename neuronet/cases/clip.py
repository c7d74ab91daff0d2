"""Cases of ops/clip.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import clip


@dataclass(frozen=True)
class ClipByNorm(Case):
    op = "clip.by_norm"
    changes = ("g",)
    n: int
    parts: int
    limit: float

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"g": rng.standard_normal(self.n)}

    def outputs(self) -> dict[str, Shape]:
        return {"sums": (self.parts,)}

    def run(self, **arrays: DeviceArray) -> None:
        clip.by_norm(**arrays, limit=self.limit)

    @property
    def terms(self) -> int:
        return self.n


SMALL: list[Case] = [
    ClipByNorm(1, 1, 0.1),
    ClipByNorm(1001, 64, 2.0),
    ClipByNorm(1001, 64, 1e6),  # shorter than the limit
    ClipByNorm(3, 64, 0.5),  # parts without an element
    ClipByNorm(65, 64, 0.5),
]
LARGE: list[Case] = [ClipByNorm(2**20, 64, 1.0)]
