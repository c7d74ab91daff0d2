"""Gradients of weights over many rows. Kernels: kernels/split_weights.cl.

Shapes: x [rows, inputs], dz [rows, outputs], w and dw [outputs, inputs], b and db [outputs].
"""

from __future__ import annotations

from typing import NamedTuple

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import Form, cpu_form


class Size(NamedTuple):
    """What a work-group sums, and how many of them keep a large device busy."""

    taps: int
    filters: int
    depth: int  # rows that it takes at a time
    rows: int  # of a part, at least
    groups: int


PLAIN, CPU = Size(32, 32, 32, 128, 1024), Size(128, 64, 64, 256, 32)  # the plain form is for GPUs


def backward(x: DeviceArray, dz: DeviceArray, dw: DeviceArray, db: DeviceArray) -> None:
    """Add dzᵀ·x = dL/dw to dw, and the sum of dz over the rows to db."""
    dw.device.kernel("AddSplitWeights")(parts=_parts(x, dz), dw=dw, db=db)


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
    w.device.kernel("UpdateSplitWeightsAdam")(
        parts=parts, w=w, b=b, w_m=w_m, w_v=w_v, b_m=b_m, b_v=b_v, hyper=hyper
    )


def rows_of_a_part(rows: int, inputs: int, outputs: int, form: Form) -> int:
    """So many that all work-groups together keep a device busy."""
    size = CPU if form == "CPU" else PLAIN
    tiles = -(-inputs // size.taps) * -(-outputs // size.filters)
    splits = max(1, min(size.groups // tiles, rows // size.rows))
    return -(-rows // (splits * size.depth)) * size.depth


def _parts(x: DeviceArray, dz: DeviceArray) -> DeviceArray:
    """The gradients of each part of the rows, [parts, outputs, inputs + 1]."""
    rows, inputs, outputs = *x.shape, dz.shape[1]
    form = cpu_form(x.device)
    some = rows_of_a_part(rows, inputs, outputs, form)
    parts = x.device.scratch((-(-rows // some), outputs, inputs + 1))
    x.device.kernel(f"SplitWeightsGradient{form}")(x=x, dz=dz, parts=parts, some=some)
    return parts
