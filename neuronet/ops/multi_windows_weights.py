"""Gradients and updates of the weights of multi_windows_conv. Kernels: kernels/multi_windows_weights.cl.

Shapes as in ops/multi_windows_conv.py; dw, w_m, w_v are like w, db, b_m, b_v like b.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for

SIDE, LEAST, GROUPS = 16, 64, 512  # weights of a work-group, rows of a part, work-groups that keep a GPU busy


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
    kernel, form = dw.device.kernel, form_for(dw.device)
    if form == "GPU":
        found = parts(x, dz, windows_in, starts, dw, step=step)
        kernel("AddWeightPartsMultWinConvWPad")(parts=found, dw=dw, db=db)
        return
    kernel(f"WeightGradientMultWinConvWPad{form}")(
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
    kernel, form = w.device.kernel, form_for(w.device)
    weights = {"w": w, "b": b, "w_m": w_m, "w_v": w_v, "b_m": b_m, "b_v": b_v, "hyper": hyper}
    if form == "GPU":
        found = parts(x, dz, windows_in, starts, w, step=step)
        kernel("UpdateWeightPartsMultWinConvAdamWPad")(parts=found, **weights)
        return
    kernel(f"UpdateWeightsMultWinConvAdamWPad{form}")(
        x=x, dz=dz, windows_in=windows_in, starts=starts, step=step, **weights
    )


def parts(
    x: DeviceArray,
    dz: DeviceArray,
    windows_in: DeviceArray,
    starts: DeviceArray,
    w: DeviceArray,
    *,
    step: int,
) -> DeviceArray:
    """The gradients of parts of the rows, [parts, taps + windows, window_out]: of ``w``, then of biases."""
    rows, weights, filters = dz.shape[0] * dz.shape[1], w.shape[0] + windows_in.size, w.shape[1]
    tiles = -(-weights // SIDE) * -(-filters // SIDE)
    some = -(-rows // max(1, min(GROUPS // tiles, rows // LEAST)))
    found = w.device.scratch((-(-rows // some), weights, filters))
    w.device.kernel("WeightPartsMultWinConvWPad")(
        x=x, dz=dz, windows_in=windows_in, starts=starts, parts=found, step=step, some=some
    )
    return found
