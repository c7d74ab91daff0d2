"""Gradients and updates of the weights of multi_windows_conv. Kernels: kernels/multi_windows_weights.cl.

Shapes as in ops/multi_windows_conv.py; dw, w_m, w_v are like w, db, b_m, b_v like b.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import cpu_form, form_for

SIDE, LEAST, GROUPS = 16, 64, 512  # weights of a work-group, rows of a part, work-groups that keep a GPU busy
GIVEN = "x", "dz", "windows_in", "starts", "step"  # what all kernels take


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
    kernel, given = dw.device.kernel, (x, dz, windows_in, starts, step)
    if form_for(dw.device) == "GPU":
        kernel("AddWeightPartsMultWinConvWPad")(parts=parts(*given, dw), dw=dw, db=db)
    else:
        form = cpu_form(dw.device)
        kernel(f"WeightGradientMultWinConvWPad{form}")(**dict(zip(GIVEN, given, strict=True)), dw=dw, db=db)


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
    kernel, given = w.device.kernel, (x, dz, windows_in, starts, step)
    weights = {"w": w, "b": b, "w_m": w_m, "w_v": w_v, "b_m": b_m, "b_v": b_v, "hyper": hyper}
    if form_for(w.device) == "GPU":
        kernel("UpdateWeightPartsMultWinConvAdamWPad")(parts=parts(*given, w), **weights)
    else:
        form = cpu_form(w.device)
        kernel(f"UpdateWeightsMultWinConvAdamWPad{form}")(**dict(zip(GIVEN, given, strict=True)), **weights)


def parts(
    x: DeviceArray, dz: DeviceArray, windows_in: DeviceArray, starts: DeviceArray, step: int, w: DeviceArray
) -> DeviceArray:
    """The gradients of parts of the rows, [parts, taps + windows, window_out]: of ``w``, then of biases."""
    rows, weights, filters = dz.shape[0] * dz.shape[1], w.shape[0] + windows_in.size, w.shape[1]
    tiles = -(-weights // SIDE) * -(-filters // SIDE)
    some = -(-rows // max(1, min(GROUPS // tiles, rows // LEAST)))
    found = w.device.scratch((-(-rows // some), weights, filters))
    given = dict(zip(GIVEN, (x, dz, windows_in, starts, step), strict=True))
    w.device.kernel("WeightPartsMultWinConvWPad")(**given, parts=found, some=some)
    return found
