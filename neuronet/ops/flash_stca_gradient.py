"""Gradients of the attention of a few questions to a long history. Kernels: kernels/flash_stca_gradient.cl.

Shapes: as in ops/flash_stca.py; dout and du as u, dx as x; scratch parts as sums and slopes as top there,
which may be the same arrays.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops import flash_stca_combine, row_sums
from neuronet.ops.flash_stca import bias, form


def backward(
    u: DeviceArray,
    x: DeviceArray,
    limits: DeviceArray,
    out: DeviceArray,
    lse: DeviceArray,
    dout: DeviceArray,
    parts: DeviceArray,
    slopes: DeviceArray,
    du: DeviceArray,
    dx: DeviceArray,
    *,
    scale: float,
    beta: float = 0.0,
    ages: DeviceArray | None = None,
    slope: DeviceArray | None = None,
    dslope: DeviceArray | None = None,
) -> None:
    """du = dL/du and dx = beta dx + dL/dx from dout = dL/dout; dslope += dL/dslope where it is given.

    x is key and value, and dx the sum of both. With beta = 0 what stood in dx is not read; beta = 1 lets
    several layers add to the gradient of one history.
    """
    du.device.kernel(f"MHFlashSTCAGradient{form(du.device, x.shape[-1])}")(
        u=u,
        x=x,
        limits=limits,
        out=out,
        lse=lse,
        dout=dout,
        dx=dx,
        parts=parts,
        slopes=slopes,
        scale=scale,
        beta=beta,
        **bias(u, x, limits, ages, slope),
    )
    flash_stca_combine.reduce(parts, du)
    if dslope is not None:
        row_sums.add(slopes, dslope)
