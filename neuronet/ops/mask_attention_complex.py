"""Attention between the channels of a row under a mask. Kernels: kernels/mask_attention_complex.cl.

Shapes: q and dq [rows, units, heads, dimension, 2]; kv and dkv [rows, units, 2 * heads_kv, dimension, 2],
keys then values; or both one array [rows, units, heads + 2 * heads_kv, dimension, 2] of q | k | v as one
linear layer makes it, given twice. out and dout [rows, units, heads, dimension, 2]; mask and dmask [rows,
units, units], shared by heads, 1 for open, 0 for closed or between; lse [rows, units, heads] between passes.
A row is a sample's patch, its units are the channels. Head h has the keys and values of h % heads_kv.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError
from neuronet.ops.forms import form_for

MaskMode = Literal["hard", "reference"]
MOST_ITEMS, MOST_SCRATCH = 128, 2**23  # stretches of scratch, and floats in all of them


def scratch_shape(rows: int, units: int, dimension: int) -> Shape:
    """Shape of ``scratch``, for both passes: a stretch for each of the CPU's work-items."""
    space = -(-units // 8) * 8 * 5 * (units + -(-2 * dimension // 8) * 8)  # five tiles, five lists of vectors
    return max(1, min(rows, MOST_ITEMS, MOST_SCRATCH // space)), space


def forward(
    q: DeviceArray,
    kv: DeviceArray,
    mask: DeviceArray,
    scratch: DeviceArray,
    lse: DeviceArray,
    out: DeviceArray,
    *,
    heads_kv: int,
    scale: float,
    mode: MaskMode = "hard",
) -> None:
    """out = softmax over the open channels of scale * Re <q, k>, times v.

    ``mode`` says what a closed channel gets: nothing (hard), or the weight of a logit of
    -scale * ln(1e10) (reference, as CATCH's own code). The mask's diagonal counts as 1. scale is
    1 / sqrt(2 * dimension) in CATCH's code.
    """
    given = _given(q, kv, mask, lse, out.shape[2], out.shape[3], heads_kv, scale, mode)
    _check_scratch(scratch, out.shape)
    out.device.kernel(f"MaskAttentionComplex{_form(out)}")(**given, scratch=scratch, out=out)


def scores(
    q: DeviceArray,
    kv: DeviceArray,
    mask: DeviceArray,
    lse: DeviceArray,
    scores: DeviceArray,
    *,
    dimension: int,
    heads_kv: int,
    scale: float,
    mode: MaskMode = "hard",
) -> None:
    """scores [rows, units, heads, units]: the weights that ``forward`` gave each channel, which sum to 1."""
    given = _given(q, kv, mask, lse, lse.shape[2], dimension, heads_kv, scale, mode)
    lse.device.kernel("MaskAttentionScoresComplex")(**given, scores=scores, dimension=dimension)


def backward(
    q: DeviceArray,
    kv: DeviceArray,
    mask: DeviceArray,
    lse: DeviceArray,
    out: DeviceArray,
    dout: DeviceArray,
    scratch: DeviceArray,
    dq: DeviceArray,
    dkv: DeviceArray,
    dmask: DeviceArray,
    *,
    heads_kv: int,
    scale: float,
    mode: MaskMode = "hard",
) -> None:
    """dq, dkv and dmask = dL/d of each from dout = dL/dout, with lse and out of ``forward``; all overwritten.

    dmask is 0 on the diagonal, and at closed channels in the mode hard.
    """
    given = _given(q, kv, mask, lse, out.shape[2], out.shape[3], heads_kv, scale, mode)
    _check_scratch(scratch, out.shape)
    rows, units = out.shape[:2]
    out.device.kernel(f"MaskAttentionGradientsComplex{_form(out)}")(
        **given,
        out=out,
        dout=dout,
        scratch=scratch,
        dq=dq.view(rows, units, dq.size // (rows * units)),
        dkv=dkv.view(rows, units, dkv.size // (rows * units)),
        dmask=dmask,
    )


def key_column(q: DeviceArray, kv: DeviceArray, heads: int, heads_kv: int, dimension: int) -> int:
    """Where the keys lie in a row of kv: behind the queries where q and kv are one array, else at 0."""
    rows, units = q.shape[:2]
    vector = 2 * dimension
    row = rows * units * vector  # floats of one head
    if not 1 <= heads_kv <= heads:
        raise ShapeError(
            f"heads_kv={heads_kv} for {heads} heads",
            where="ops/mask_attention_complex.py",
            fix=f"choose 1 to {heads} heads of keys and values",
        )
    whole = heads + 2 * heads_kv
    if q.size not in (row * heads, row * whole) or kv.size not in (row * 2 * heads_kv, row * whole):
        raise ShapeError(
            f"q {list(q.shape)} and kv {list(kv.shape)} do not hold {heads} and 2 * {heads_kv} heads of "
            f"{dimension} complex numbers",
            where="ops/mask_attention_complex.py",
            fix=f"give rows of {heads} and {2 * heads_kv} heads, or one array of {whole}",
        )
    return heads * vector if kv.size == row * whole else 0


def _given(
    q: DeviceArray,
    kv: DeviceArray,
    mask: DeviceArray,
    lse: DeviceArray,
    heads: int,
    dimension: int,
    heads_kv: int,
    scale: float,
    mode: MaskMode,
) -> dict[str, Any]:
    rows, units = q.shape[:2]
    k_column = key_column(q, kv, heads, heads_kv, dimension)
    return {
        "q": q.view(rows, units, q.size // (rows * units)),
        "kv": kv.view(rows, units, kv.size // (rows * units)),
        "mask": mask,
        "lse": lse,
        "heads_kv": heads_kv,
        "k_column": k_column,
        "scale": scale,
        "closed": -math.inf if mode == "hard" else -scale * math.log(1e10),
    }


def _check_scratch(scratch: DeviceArray, out: Shape) -> None:
    needed = scratch_shape(out[0], out[1], out[3])[1]
    if len(scratch.shape) != 2 or scratch.shape[1] < needed:
        raise ShapeError(
            f"scratch {list(scratch.shape)} has not {needed} floats a stretch",
            where="ops/mask_attention_complex.py",
            fix="allocate scratch_shape(rows, units, dimension)",
        )


def _form(out: DeviceArray) -> str:
    return "CPU" if form_for(out.device) == "CPU" else ""
