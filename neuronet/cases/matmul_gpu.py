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
_WHOLE = [(1, 4, 4, 4), (2, 129, 20, 8), (1, 3, 16, 132), (1, 40, 36, 68), (3, 67, 72, 32)]
_RAGGED = [(1, 1, 1, 1), (2, 129, 17, 5), (1, 3, 16, 130), (1, 40, 33, 67), (3, 31, 70, 32), (1, 9, 5, 36)]


def _cases(sizes: list[tuple[int, int, int, int]]) -> list[Case]:
    acts = (Activation.NONE, Activation.TANH)
    return [
        *[kind(*size) for kind in (MatMulGPU, MatMulGPUBackward) for size in sizes],
        *[DenseGPU(*size[1:], activation) for size in sizes for activation in acts],
    ]


WHOLE: list[Case] = _cases(_WHOLE)  # of matrices whose rows are multiples of four
SMALL: list[Case] = WHOLE + _cases(_RAGGED)
LARGE: list[Case] = [
    *[MatMulGPU(1, n, n, n) for n in (512, 1024, 2048)],
    *[DenseGPU(*sizes, Activation.NONE) for sizes in [(8192, 128, 512), (8192, 32, 32), (13376, 1536, 32)]],
]
