"""Gradients of weights over many rows, for GPUs. Kernels: kernels/split_weights.cl.

Shapes: x [rows, inputs], dz [rows, outputs], w and dw [outputs, inputs], b and db [outputs].
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray

SIDE, DEPTH = 32, 32  # weights of a work-group, each way, and rows that it takes at a time
GROUPS = 1024  # work-groups that keep a large GPU busy
ROWS = 128  # of a part, at least


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


def rows_of_a_part(rows: int, inputs: int, outputs: int) -> int:
    """So many that all work-groups together are about ``GROUPS``."""
    tiles = -(-inputs // SIDE) * -(-outputs // SIDE)
    splits = max(1, min(GROUPS // tiles, rows // ROWS))
    return -(-rows // (splits * DEPTH)) * DEPTH


def _parts(x: DeviceArray, dz: DeviceArray) -> DeviceArray:
    """The gradients of each part of the rows, [parts, outputs, inputs + 1]."""
    rows, inputs, outputs = *x.shape, dz.shape[1]
    some = rows_of_a_part(rows, inputs, outputs)
    parts = x.device.scratch((-(-rows // some), outputs, inputs + 1))
    x.device.kernel("SplitWeightsGradient")(x=x, dz=dz, parts=parts, some=some)
    return parts
