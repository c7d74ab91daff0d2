"""Cases of ops/row_sums.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray
from neuronet.ops import row_sums


@dataclass(frozen=True)
class RowSums(Case):
    op = "row_sums.add"
    changes = ("target",)
    rows: int
    columns: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "parts": rng.standard_normal((self.rows, self.columns)),
            "target": rng.standard_normal(self.columns),
        }

    def run(self, **arrays: DeviceArray) -> None:
        row_sums.add(**arrays)

    @property
    def terms(self) -> int:
        return self.rows + 1


SMALL: list[Case] = [RowSums(*size) for size in ((1, 1), (7, 8), (3, 65), (131, 12), (9, 7))]
LARGE: list[Case] = [RowSums(*size) for size in ((128, 1536), (8192, 64))]
