"""Cases of ops/matmul_gpu.py: those of products and dense layers, around the sizes of its tiles."""

from __future__ import annotations

from dataclasses import dataclass

from neuronet.activations import Activation
from neuronet.cases.base import Case
from neuronet.cases.dense import DenseForward
from neuronet.cases.matmul import MatMul, MatMulBackward
from neuronet.device.array import DeviceArray
from neuronet.ops import matmul_gpu


@dataclass(frozen=True)
class MatMulGPU(MatMul):
    op = "matmul_gpu.matmul"

    def run(self, **arrays: DeviceArray) -> None:
        matmul_gpu.matmul(**arrays)


@dataclass(frozen=True)
class MatMulGPUBackward(MatMulBackward):
    op = "matmul_gpu.backward"

    def run(self, **arrays: DeviceArray) -> None:
        matmul_gpu.backward_a(arrays["dc"], arrays["b"], arrays["da"])
        matmul_gpu.backward_b(arrays["a"], arrays["dc"], arrays["db"])


@dataclass(frozen=True)
class DenseGPU(DenseForward):
    op = "matmul_gpu.dense"

    def run(self, **arrays: DeviceArray) -> None:
        matmul_gpu.dense(**arrays, activation=self.activation)


#        variables rows dimension cols
_SIZES = [(1, 1, 1, 1), (2, 129, 17, 5), (1, 3, 16, 130), (1, 40, 33, 67), (3, 31, 70, 32), (1, 9, 5, 36)]
SMALL: list[Case] = [
    *[kind(*size) for kind in (MatMulGPU, MatMulGPUBackward) for size in _SIZES],
    *[
        DenseGPU(*size[1:], activation)
        for size in _SIZES
        for activation in (Activation.NONE, Activation.TANH)
    ],
]
LARGE: list[Case] = [
    *[MatMulGPU(1, n, n, n) for n in (512, 1024, 2048)],
    *[DenseGPU(*sizes, Activation.NONE) for sizes in [(8192, 128, 512), (8192, 32, 32), (13376, 1536, 32)]],
]
