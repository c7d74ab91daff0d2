"""Attention of questions to keys and values, in linear memory. Kernels: kernels/flash_attention.cl.

Shapes: q [batch, queries, q_width], k [batch, keys, k_width] and v [batch, keys, v_width] are rows that hold
heads * dimension, or for k and v heads_kv * dimension, columns from ``columns`` = (of q, of k, of v) on: one
packed array may be all three. out and dout [batch, queries, heads, dimension]; lse and delta [batch, queries,
heads]; limits [1 or batch, queries, 2], see ops/visible.py. Head h takes the keys of head h heads_kv / heads.
"""

from __future__ import annotations

from typing import Any

from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.errors import ShapeError
from neuronet.ops.forms import Form, form_for

WIDEST = 512  # numbers of a head for the GPU's form


def forward(
    q: DeviceArray,
    k: DeviceArray,
    v: DeviceArray,
    limits: DeviceArray,
    out: DeviceArray,
    lse: DeviceArray,
    *,
    heads_kv: int,
    columns: tuple[int, int, int] = (0, 0, 0),
) -> None:
    """out = softmax(Q·K / sqrt(dimension)) V over the rows that a question sees.

    lse, the log-sum-exp of the scores, is kept for the gradients. A question that sees nothing
    gets out = 0 and lse = inf.
    """
    settings = checked(q, k, v, limits, out, heads_kv, columns)
    out.device.kernel(f"MHFlashAttention{form(out.device, out)}")(
        q=q, k=k, v=v, limits=limits, out=out, lse=lse, **settings
    )


def form(device: Device, out: DeviceArray) -> Form:
    """As for other ops, but heads too wide for the GPU's form take the plain one."""
    found = form_for(device)
    return "" if found == "GPU" and out.shape[-1] > WIDEST else found


def checked(
    q: DeviceArray,
    k: DeviceArray,
    v: DeviceArray,
    limits: DeviceArray,
    out: DeviceArray,
    heads_kv: int,
    columns: tuple[int, int, int],
) -> dict[str, Any]:
    """The kernels' scalars, or ShapeError where heads and columns do not fit the rows."""
    batch, _, heads, dimension = out.shape
    where = "ops/flash_attention.py"
    if heads_kv < 1 or heads % heads_kv:
        raise ShapeError(f"{heads_kv} heads of keys for {heads} heads", where=where, fix="choose a divisor")
    if limits.shape[0] not in (1, batch):
        raise ShapeError(f"limits {list(limits.shape)} for {batch} samples", where=where, fix="1 or one each")
    for name, array, column, count in zip(
        "qkv", (q, k, v), columns, (heads, heads_kv, heads_kv), strict=True
    ):
        if column < 0 or column + count * dimension > array.shape[-1]:
            raise ShapeError(
                f"{name} has rows of {array.shape[-1]}, which do not hold {count} heads of {dimension} "
                f"from column {column} on",
                where=where,
            )
    names = zip(("q_column", "k_column", "v_column"), columns, strict=True)
    return {"heads_kv": heads_kv, "scale": float(dimension**-0.5), **dict(names)}
