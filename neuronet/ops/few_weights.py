"""Gradients of few weights over many rows, for GPUs. Kernels: kernels/few_weights.cl.

Shapes: x [rows, inputs], dz [rows, outputs], w and dw [outputs, inputs], b and db [outputs].
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def backward(x: DeviceArray, dz: DeviceArray, dw: DeviceArray, db: DeviceArray) -> None:
    """Add dzᵀ·x = dL/dw to dw, and the sum of dz over the rows to db."""
    dw.device.kernel("FewWeightsGradient")(x=x, dz=dz, dw=dw, db=db)


def update(
    x: DeviceArray,
    dz: DeviceArray,
    w: DeviceArray,
    b: DeviceArray,
    w_m: DeviceArray,
    w_v: DeviceArray,
    b_m: DeviceArray,
    b_v: DeviceArray,
    hyper: DeviceArray,
) -> None:
    """One Adam step for w and b from the gradients of ``backward``, which are not stored."""
    w.device.kernel("UpdateFewWeightsAdam")(
        x=x, dz=dz, w=w, b=b, w_m=w_m, w_v=w_v, b_m=b_m, b_v=b_v, hyper=hyper
    )
