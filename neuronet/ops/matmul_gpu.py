"""Products of matrices on a GPU. Kernels: kernels/matmul_gpu.cl, kernels/matmul_tensor.cl.

Shapes as in matmul.py and dense.py.
"""

from __future__ import annotations

from typing import Literal

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.errors import ShapeError
from neuronet.ops import matmul_tensor
from neuronet.ops.forms import tensor_cores
from neuronet.ops.matmul_tensor import BUSY

SIDE = 64  # results of a wide work-group, down and across; up to half of it across most would be empty


def matmul(a: DeviceArray, b: DeviceArray, c: DeviceArray) -> None:
    """c = a·b.  a [variables, rows, dimension], b [variables, dimension, cols], c [variables, rows, cols]."""
    product(a, b, c)


def backward_a(dc: DeviceArray, b: DeviceArray, da: DeviceArray) -> None:
    """da = dc·bᵀ, overwritten."""
    product(dc, b, da, turned="b")


def backward_b(a: DeviceArray, dc: DeviceArray, db: DeviceArray) -> None:
    """db = aᵀ·dc, overwritten."""
    product(a, dc, db, turned="a")


def dense(x: DeviceArray, w: DeviceArray, b: DeviceArray, y: DeviceArray, *, activation: int) -> None:
    """y = act(x·wᵀ + b).  x [batch, inputs], w [outputs, inputs], b [outputs], y [batch, outputs]."""
    arrays = (array.view(1, *array.shape) for array in (x, w, y))
    product(*arrays, turned="b", bias=b, activation=activation)


def kernel_for(variables: int, rows: int, cols: int, *, device: Device, whole: bool = True) -> str:
    """The kernel with the largest tiles that keep the card busy and are not mostly empty.

    ``whole`` says that all matrices have rows of a multiple of four.
    """
    if not whole:
        return "MatMultRagged"
    if tensor_cores(device):
        return matmul_tensor.kernel_for(variables, rows, cols, precision=device.precision)
    tiles = variables * -(-rows // SIDE) * -(-cols // SIDE)
    return "MatMultWide" if tiles >= BUSY and 2 * cols > SIDE else "MatMultNarrow"


def product(
    a: DeviceArray,
    b: DeviceArray,
    c: DeviceArray,
    *,
    turned: Literal["", "a", "b"] = "",
    bias: DeviceArray | None = None,
    activation: int = Activation.NONE,
    kernel: str = "",
) -> None:
    """c = act(a·b + bias); one of a and b may be ``turned``. ``kernel``: not the one of ``kernel_for``."""
    turned_a, turned_b = int(turned == "a"), int(turned == "b")
    left, right = a.shape[1 if turned_a else 2], b.shape[2 if turned_b else 1]
    rows, cols = a.shape[2 if turned_a else 1], b.shape[1 if turned_b else 2]
    if left != right or c.shape[1:] != (rows, cols):
        raise ShapeError(
            f"{list(a.shape)} times {list(b.shape)} is not {list(c.shape)}", where="ops/matmul_gpu.py"
        )
    how = {"turned_a": turned_a, "turned_b": turned_b, "activation": activation}
    some = a.view(a.size) if bias is None else bias  # without a bias an array stands in that is not read
    whole = not any(array.shape[2] % 4 for array in (a, b, c))
    launch = c.device.kernel(kernel or kernel_for(*c.shape, device=c.device, whole=whole))
    launch(a=a, b=b, bias=some, c=c, **how, biased=int(bias is not None))
