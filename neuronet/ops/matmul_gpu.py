"""Products of matrices on a GPU. Kernels: kernels/matmul_gpu.cl; shapes as in matmul.py and dense.py."""

from __future__ import annotations

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError

SIDE = 64  # results of a wide work-group, down and across; up to half of it across most would be empty
BUSY = 200  # of those work-groups, from which on a large GPU has enough to do


def matmul(a: DeviceArray, b: DeviceArray, c: DeviceArray) -> None:
    """c = a·b.  a [variables, rows, dimension], b [variables, dimension, cols], c [variables, rows, cols]."""
    _product(a, b, c)


def backward_a(dc: DeviceArray, b: DeviceArray, da: DeviceArray) -> None:
    """da = dc·bᵀ, overwritten."""
    _product(dc, b, da, turned_b=1)


def backward_b(a: DeviceArray, dc: DeviceArray, db: DeviceArray) -> None:
    """db = aᵀ·dc, overwritten."""
    _product(a, dc, db, turned_a=1)


def dense(x: DeviceArray, w: DeviceArray, b: DeviceArray, y: DeviceArray, *, activation: int) -> None:
    """y = act(x·wᵀ + b).  x [batch, inputs], w [outputs, inputs], b [outputs], y [batch, outputs]."""
    arrays = (array.view(1, *array.shape) for array in (x, w, y))
    _product(*arrays, turned_b=1, bias=b, activation=activation)


def kernel_for(variables: int, rows: int, cols: int, *, whole: bool = True) -> str:
    """The kernel with the largest tiles that keep the card busy and are not mostly empty.

    ``whole`` says that all matrices have rows of a multiple of four.
    """
    if not whole:
        return "MatMultRagged"
    tiles = variables * -(-rows // SIDE) * -(-cols // SIDE)
    return "MatMultWide" if tiles >= BUSY and 2 * cols > SIDE else "MatMultNarrow"


def _product(
    a: DeviceArray,
    b: DeviceArray,
    c: DeviceArray,
    *,
    turned_a: int = 0,
    turned_b: int = 0,
    bias: DeviceArray | None = None,
    activation: int = Activation.NONE,
) -> None:
    left, right = a.shape[1 if turned_a else 2], b.shape[2 if turned_b else 1]
    rows, cols = a.shape[2 if turned_a else 1], b.shape[1 if turned_b else 2]
    if left != right or c.shape[1:] != (rows, cols):
        raise ShapeError(
            f"{list(a.shape)} times {list(b.shape)} is not {list(c.shape)}", where="ops/matmul_gpu.py"
        )
    how = {"turned_a": turned_a, "turned_b": turned_b, "activation": activation}
    some = a.view(a.size) if bias is None else bias  # without a bias an array stands in that is not read
    whole = not any(array.shape[2] % 4 for array in (a, b, c))
    c.device.kernel(kernel_for(*c.shape, whole=whole))(
        a=a, b=b, bias=some, c=c, **how, biased=int(bias is not None)
    )
