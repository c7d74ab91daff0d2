"""Products of large matrices on a GPU. Kernels: kernels/matmul_wide.cl; shapes as in matmul.py, dense.py."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for

SIDE = 128  # results of a work-group, each way
BUSY = 96  # work-groups from which on a large GPU has enough to do


def fits(out: DeviceArray, rows: int, cols: int) -> bool:
    """Whether a product with so many results is for this device and large enough for these kernels."""
    tiles = -(-rows // SIDE) * -(-cols // SIDE) * (out.size // (rows * cols))
    return form_for(out.device) == "GPU" and tiles >= BUSY


def matmul(a: DeviceArray, b: DeviceArray, c: DeviceArray) -> None:
    """c = a·b.  a [variables, rows, dimension], b [variables, dimension, cols], c [variables, rows, cols]."""
    c.device.kernel("MatMultWide")(a=a, b=b, c=c)


def backward_a(dc: DeviceArray, b: DeviceArray, da: DeviceArray) -> None:
    """da = dc·bᵀ, overwritten."""
    da.device.kernel("MatMultWideGradA")(dc=dc, b=b, da=da)


def backward_b(a: DeviceArray, dc: DeviceArray, db: DeviceArray) -> None:
    """db = aᵀ·dc, overwritten."""
    db.device.kernel("MatMultWideGradB")(a=a, dc=dc, db=db)


def dense(x: DeviceArray, w: DeviceArray, b: DeviceArray, y: DeviceArray, *, activation: int) -> None:
    """y = act(x·wᵀ + b).  x [batch, inputs], w [outputs, inputs], b [outputs], y [batch, outputs]."""
    y.device.kernel("FeedForwardWide")(x=x, w=w, b=b, y=y, activation=activation)
