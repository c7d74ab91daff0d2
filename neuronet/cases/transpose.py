"""Cases of ops/transpose.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import transpose


@dataclass(frozen=True)
class TransposeForward(Case):
    op = "transpose.forward"
    batch: int
    rows: int
    cols: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"matrix_in": rng.standard_normal((self.batch, self.rows, self.cols))}

    def outputs(self) -> dict[str, Shape]:
        return {"matrix_out": (self.batch, self.cols, self.rows)}

    def run(self, **arrays: DeviceArray) -> None:
        transpose.forward(**arrays)


@dataclass(frozen=True)
class TransposeRowsAndColumns(Case):
    op = "transpose.rows_and_columns"
    batch: int
    rows: int
    cols: int
    depth: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"matrix_in": rng.standard_normal((self.batch, self.rows, self.cols, self.depth))}

    def outputs(self) -> dict[str, Shape]:
        return {"matrix_out": (self.batch, self.cols, self.rows, self.depth)}

    def run(self, **arrays: DeviceArray) -> None:
        transpose.rows_and_columns(**arrays)


_SIZES = [(1, 1, 1), (3, 7, 1), (2, 1, 19), (3, 15, 17), (2, 33, 16), (1, 65, 31)]
SMALL: list[Case] = [
    *[TransposeForward(*size) for size in _SIZES],
    *[TransposeRowsAndColumns(*size, depth) for size in _SIZES[:4] for depth in (1, 8, 13)],
]
LARGE: list[Case] = [TransposeForward(*size) for size in ((64, 120, 9), (64, 480, 64), (1, 2048, 2048))]
