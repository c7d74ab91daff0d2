"""Gradients and updates of the weights of multi_windows_conv. Kernels: kernels/multi_windows_weights.cl.

Shapes as in ops/multi_windows_conv.py; dw, w_m, w_v are like w, db, b_m, b_v like b.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for


def backward_weights(
    x: DeviceArray,
    dz: DeviceArray,
    windows_in: DeviceArray,
    starts: DeviceArray,
    dw: DeviceArray,
    db: DeviceArray,
    *,
    step: int,
) -> None:
    """Add dL/dw to dw and dL/db to db."""
    dw.device.kernel(f"WeightGradientMultWinConvWPad{form_for(dw.device)}")(
        x=x, dz=dz, windows_in=windows_in, starts=starts, dw=dw, db=db, step=step
    )


def update(
    x: DeviceArray,
    dz: DeviceArray,
    windows_in: DeviceArray,
    starts: DeviceArray,
    w: DeviceArray,
    b: DeviceArray,
    w_m: DeviceArray,
    w_v: DeviceArray,
    b_m: DeviceArray,
    b_v: DeviceArray,
    hyper: DeviceArray,
    *,
    step: int,
) -> None:
    """One Adam step for w and b from the gradients of ``backward_weights``, which are not stored.

    ``hyper`` [9]: see common.cl. Gives the same bits as backward_weights and ops.adam.step.
    """
    weights = {"w": w, "b": b, "w_m": w_m, "w_v": w_v, "b_m": b_m, "b_v": b_v}
    w.device.kernel(f"UpdateWeightsMultWinConvAdamWPad{form_for(w.device)}")(
        x=x, dz=dz, windows_in=windows_in, starts=starts, **weights, hyper=hyper, step=step
    )
