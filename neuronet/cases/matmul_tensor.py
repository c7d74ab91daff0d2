"""Cases of kernels/matmul_tensor.cl: of ops/matmul_gpu.py, with its kernels."""

from __future__ import annotations

from dataclasses import dataclass

from neuronet.activations import Activation
from neuronet.cases.base import Case
from neuronet.cases.dense import DenseForward
from neuronet.cases.matmul import MatMul, MatMulBackward
from neuronet.device.array import DeviceArray
from neuronet.ops.matmul_gpu import product


@dataclass(frozen=True)
class MatMulTensor(MatMul):
    op = "matmul_tensor.matmul"
    tensor_cores = True
    kernel: str

    def run(self, **arrays: DeviceArray) -> None:
        product(arrays["a"], arrays["b"], arrays["c"], kernel=self.kernel)


@dataclass(frozen=True)
class MatMulTensorBackward(MatMulBackward):
    op = "matmul_tensor.backward"
    tensor_cores = True
    kernel: str

    def run(self, **arrays: DeviceArray) -> None:
        product(arrays["dc"], arrays["b"], arrays["da"], turned="b", kernel=self.kernel)
        product(arrays["a"], arrays["dc"], arrays["db"], turned="a", kernel=self.kernel)


@dataclass(frozen=True)
class DenseTensor(DenseForward):
    op = "matmul_tensor.dense"
    tensor_cores = True
    kernel: str = ""

    def run(self, **arrays: DeviceArray) -> None:
        x, w, y = (arrays[name].view(1, *arrays[name].shape) for name in ("x", "w", "y"))
        product(x, w, y, turned="b", bias=arrays["b"], activation=self.activation, kernel=self.kernel)


KERNELS = ("MatMultTensorWide", "MatMultTensorNarrow", "MatMultTF32")
#         variables rows dimension cols
_SIZES = [(1, 4, 4, 4), (2, 129, 20, 8), (1, 3, 16, 132), (1, 40, 36, 68), (3, 67, 72, 32)]

SMALL: list[Case] = [
    *[
        kind(*size, kernel)
        for kind in (MatMulTensor, MatMulTensorBackward)
        for size in _SIZES
        for kernel in KERNELS
    ],
    *[
        DenseTensor(*size[1:], activation, kernel)
        for size in _SIZES
        for activation in (Activation.NONE, Activation.TANH)
        for kernel in KERNELS
    ],
]
LARGE: list[Case] = []  # those of matmul_gpu.py run on tensor cores, where there are any
