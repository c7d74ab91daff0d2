"""Products of matrices, one pair per variable. Kernels: kernels/matmul.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops import matmul_gpu
from neuronet.ops.forms import form_for


def matmul(a: DeviceArray, b: DeviceArray, c: DeviceArray) -> None:
    """c = a·b.  a [variables, rows, dimension], b [variables, dimension, cols], c [variables, rows, cols]."""
    if form_for(c.device) == "GPU":
        matmul_gpu.matmul(a, b, c)
    else:
        c.device.kernel(f"MatMult{form_for(c.device)}")(a=a, b=b, c=c)


def backward_a(dc: DeviceArray, b: DeviceArray, da: DeviceArray) -> None:
    """da = dc·bᵀ, overwritten; shapes as in ``matmul``."""
    if form_for(da.device) == "GPU":
        matmul_gpu.backward_a(dc, b, da)
    else:
        da.device.kernel(f"MatMultGradA{form_for(da.device)}")(dc=dc, b=b, da=da)


def backward_b(a: DeviceArray, dc: DeviceArray, db: DeviceArray) -> None:
    """db = aᵀ·dc, overwritten; shapes as in ``matmul``."""
    if form_for(db.device) == "GPU":
        matmul_gpu.backward_b(a, dc, db)
    else:
        db.device.kernel(f"MatMultGradB{form_for(db.device)}")(a=a, dc=dc, db=db)


def backward(a: DeviceArray, b: DeviceArray, dc: DeviceArray, da: DeviceArray, db: DeviceArray) -> None:
    """Both gradients: da = dc·bᵀ and db = aᵀ·dc, overwritten (NeuroNet's MatMultGrad)."""
    backward_a(dc, b, da)
    backward_b(a, dc, db)
