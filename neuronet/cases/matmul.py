"""Cases of ops/matmul.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import matmul


@dataclass(frozen=True)
class MatMul(Case):
    op = "matmul.matmul"
    variables: int
    rows: int
    dimension: int
    cols: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "a": rng.standard_normal((self.variables, self.rows, self.dimension)),
            "b": rng.standard_normal((self.variables, self.dimension, self.cols)),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"c": (self.variables, self.rows, self.cols)}

    def run(self, **arrays: DeviceArray) -> None:
        matmul.matmul(arrays["a"], arrays["b"], arrays["c"])

    @property
    def terms(self) -> int:
        return self.dimension

    @property
    def flops(self) -> int:
        return 2 * self.variables * self.rows * self.dimension * self.cols


@dataclass(frozen=True)
class MatMulBackward(MatMul):
    op = "matmul.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return super().inputs(rng) | {"dc": rng.standard_normal((self.variables, self.rows, self.cols))}

    def outputs(self) -> dict[str, Shape]:
        return {
            "da": (self.variables, self.rows, self.dimension),
            "db": (self.variables, self.dimension, self.cols),
        }

    def run(self, **arrays: DeviceArray) -> None:
        matmul.backward(arrays["a"], arrays["b"], arrays["dc"], arrays["da"], arrays["db"])

    @property
    def terms(self) -> int:
        return max(self.rows, self.cols)

    @property
    def flops(self) -> int:
        return 2 * super().flops


#        variables rows dimension cols
_SIZES = [
    (1, 1, 1, 1),
    (3, 7, 8, 9),
    (2, 17, 33, 15),
    (2, 1, 40, 31),
    (1, 65, 64, 16),
    (1, 49, 257, 65),  # more terms than a CPU's panel holds
    (1, 130, 3, 70),
    (1, 64, 16, 64),
    (1, 100, 260, 18),
]
BLOCKS = [(128, 97, 2, 33), (128, 2, 97, 33)]  # so many that a CPU's work-item takes 2 x 2 or 4 x 4
SMALL: list[Case] = [kind(*size) for kind in (MatMul, MatMulBackward) for size in (*_SIZES, *BLOCKS)]
LARGE: list[Case] = [kind(1, n, n, n) for n in (512, 768, 1024, 2048) for kind in (MatMul, MatMulBackward)]
