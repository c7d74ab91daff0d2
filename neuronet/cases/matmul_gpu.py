"""Cases of ops/matmul_wide.py: those of products and dense layers, around the size of its tiles."""

from __future__ import annotations

from dataclasses import dataclass

from neuronet.activations import Activation
from neuronet.cases.base import Case
from neuronet.cases.dense import DenseForward
from neuronet.cases.matmul import MatMul, MatMulBackward
from neuronet.device.array import DeviceArray
from neuronet.ops import matmul_wide


@dataclass(frozen=True)
class MatMulWide(MatMul):
    op = "matmul_wide.matmul"

    def run(self, **arrays: DeviceArray) -> None:
        matmul_wide.matmul(**arrays)


@dataclass(frozen=True)
class MatMulWideBackward(MatMulBackward):
    op = "matmul_wide.backward"

    def run(self, **arrays: DeviceArray) -> None:
        matmul_wide.backward_a(arrays["dc"], arrays["b"], arrays["da"])
        matmul_wide.backward_b(arrays["a"], arrays["dc"], arrays["db"])


@dataclass(frozen=True)
class DenseWide(DenseForward):
    op = "matmul_wide.dense"

    def run(self, **arrays: DeviceArray) -> None:
        matmul_wide.dense(**arrays, activation=self.activation)


_SIZES = [(1, 1, 1, 1), (2, 129, 17, 5), (1, 3, 16, 130), (1, 40, 33, 67)]  # variables rows dimension cols
SMALL: list[Case] = [
    *[kind(*size) for kind in (MatMulWide, MatMulWideBackward) for size in _SIZES],
    *[
        DenseWide(*size[1:], activation)
        for size in _SIZES
        for activation in (Activation.NONE, Activation.TANH)
    ],
]
LARGE: list[Case] = [
    *[MatMulWide(1, n, n, n) for n in (2048, 4096)],
    DenseWide(8192, 128, 512, Activation.NONE),
]
