"""Gradients of weights over many rows. Kernels: kernels/split_weights.cl, on tensor cores matmul_tensor.cl.

Shapes: x [rows, inputs], dz [rows, outputs], w and dw [outputs, inputs], b and db [outputs].
"""

from __future__ import annotations

from typing import NamedTuple

from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.ops.forms import form_for, gpu_form, tensor_cores


class Size(NamedTuple):
    """What a work-group sums, and how many of them keep a large device busy."""

    taps: int
    filters: int
    depth: int  # rows that it takes at a time
    rows: int  # of a part, at least
    groups: int


SIZES = {
    "": Size(32, 32, 16, 128, 2048),
    "GPU": Size(64, 64, 16, 128, 1024),
    "Tensor": Size(64, 64, 16, 128, 1024),
    "CPU": Size(128, 64, 64, 256, 32),
}


def backward(x: DeviceArray, dz: DeviceArray, dw: DeviceArray, db: DeviceArray) -> None:
    """Add dzᵀ·x = dL/dw to dw, and the sum of dz over the rows to db."""
    dw.device.kernel(f"AddSplitWeights{gpu_form(dw.device)}")(parts=_parts(x, dz), dw=dw, db=db)


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
    parts = _parts(x, dz)
    kernel = w.device.kernel(f"UpdateSplitWeightsAdam{gpu_form(w.device)}")
    kernel(parts=parts, w=w, b=b, w_m=w_m, w_v=w_v, b_m=b_m, b_v=b_v, hyper=hyper)


def form_of(inputs: int, outputs: int, device: Device) -> str:
    """The form for weights of this shape: a GPU's have large tiles, and take rows of multiples of four."""
    form = form_for(device)
    if form != "GPU":
        return form
    if inputs % 4 or outputs % 4:
        return ""
    if tensor_cores(device):
        return "Tensor"
    return "GPU" if min(inputs, outputs) > SIZES["GPU"].taps // 2 else ""


def rows_of_a_part(rows: int, inputs: int, outputs: int, form: str) -> int:
    """So many that all work-groups together keep a device busy."""
    size = SIZES[form]
    tiles = -(-inputs // size.taps) * -(-outputs // size.filters)
    splits = max(1, min(size.groups // tiles, rows // size.rows))
    return -(-rows // (splits * size.depth)) * size.depth


def _parts(x: DeviceArray, dz: DeviceArray) -> DeviceArray:
    """The gradients of each part of the rows, [parts, outputs, columns].

    columns are the inputs, up to a multiple of four, and four more, the first of which has the bias.
    """
    rows, inputs, outputs = *x.shape, dz.shape[1]
    form = form_of(inputs, outputs, x.device)
    some = rows_of_a_part(rows, inputs, outputs, form)
    parts = x.device.scratch((-(-rows // some), outputs, -(-inputs // 4) * 4 + 4))
    x.device.kernel(f"SplitWeightsGradient{form}")(x=x, dz=dz, parts=parts, some=some)
    return parts
