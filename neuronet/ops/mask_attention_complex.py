"""Attention between the channels of a row under a mask. Kernels: kernels/mask_attention_complex.cl,
and mask_attention_small.cl on a GPU where they fit.

Shapes: q and dq [rows, units, heads, dimension, 2]; kv and dkv [rows, units, 2 * heads_kv, dimension, 2],
keys then values; or both one array [rows, units, heads + 2 * heads_kv, dimension, 2] of q | k | v as one
linear layer makes it, given twice. out and dout [rows, units, heads, dimension, 2]; mask and dmask [rows,
units, units], shared by heads, 1 for open, 0 for closed or between; lse [rows, units, heads] between passes;
cosines and dcosines [rows, units, units], of queries with keys, the mean over the heads.
A row is a sample's patch, its units are the channels. Head h has the keys and values of h % heads_kv.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError
from neuronet.ops.forms import form_for
from neuronet.ops.mask_attention_small import size_for

MaskMode = Literal["hard", "reference"]
MOST_ITEMS, MOST_SCRATCH = 128, 2**23  # stretches of scratch, and floats in all of them
EPS = 1e-8  # the least norm of a vector that has a direction


def scratch_shape(rows: int, units: int, heads_kv: int, dimension: int) -> Shape:
    """Shape of ``scratch``, for both passes and every form."""
    items, space = _stretches(rows, units, dimension)
    return (max(items * space, rows * _parts(rows, units, heads_kv) * units**2),)


def _stretches(rows: int, units: int, dimension: int) -> tuple[int, int]:
    """How many work-items the CPU has, and floats of each: six tiles, five lists of vectors, three lines."""
    space = -(-units // 8) * 8 * (6 * units + 5 * -(-2 * dimension // 8) * 8 + 3)
    return max(1, min(rows, MOST_ITEMS, MOST_SCRATCH // space)), space


def _parts(rows: int, units: int, heads_kv: int) -> int:
    """Work-groups of a row elsewhere: one for each head of keys, if their sums are not too many."""
    return max(1, min(heads_kv, MOST_SCRATCH // (rows * units**2)))


def forward(
    q: DeviceArray,
    kv: DeviceArray,
    mask: DeviceArray,
    scratch: DeviceArray,
    lse: DeviceArray,
    out: DeviceArray,
    cosines: DeviceArray | None = None,
    *,
    heads_kv: int,
    scale: float,
    mode: MaskMode = "hard",
) -> None:
    """out = softmax over the open channels of scale * Re <q, k>, times v; and the cosines, where asked for.

    ``mode`` says what a closed channel gets: nothing (hard), or the weight of a logit of
    -scale * ln(1e10) (reference, as CATCH's own code). The mask's diagonal counts as 1. scale is
    1 / sqrt(2 * dimension) in CATCH's code. The cosines of a vector shorter than EPS are 0.
    """
    given = arguments(q, kv, mask, lse, out.shape[2], out.shape[3], heads_kv, scale, mode)
    given |= cut(scratch, mask if cosines is None else cosines, out, heads_kv)
    kernel, form = out.device.kernel, form_of(out)
    kernel(f"MaskAttentionComplex{form}")(**given, out=out, alike=int(cosines is not None), eps=EPS)
    if cosines is not None and form != "CPU":
        kernel("MaskAttentionCosines")(sums=given["sums"], cosines=cosines, heads=out.shape[2])


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
    given = arguments(q, kv, mask, lse, lse.shape[2], dimension, heads_kv, scale, mode)
    lse.device.kernel("MaskAttentionScoresComplex")(**given, scores=scores, dimension=dimension)


def _key_column(q: DeviceArray, kv: DeviceArray, heads: int, heads_kv: int, dimension: int) -> int:
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


def arguments(
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
    k_column = _key_column(q, kv, heads, heads_kv, dimension)
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


def cut(scratch: DeviceArray, total: DeviceArray, out: DeviceArray, heads_kv: int) -> dict[str, DeviceArray]:
    """scratch and sums as the device's form takes them; the CPU's has the ``total`` at once."""
    rows, units, _, dimension, _ = out.shape
    needed = scratch_shape(rows, units, heads_kv, dimension)[0]
    if len(scratch.shape) != 1 or scratch.size < needed:
        raise ShapeError(
            f"scratch {list(scratch.shape)} has not {needed} floats",
            where="ops/mask_attention_complex.py",
            fix="allocate scratch_shape(rows, units, heads_kv, dimension)",
        )
    if form_of(out) == "CPU":
        shape: Shape = _stretches(rows, units, dimension)
        given = scratch.rows(math.prod(shape)).view(*shape)
        return {"scratch": given, "sums": total.view(rows, 1, units, units)}
    shape = rows, _parts(rows, units, heads_kv), units, units
    return {"scratch": scratch.rows(1).view(1, 1), "sums": scratch.rows(math.prod(shape)).view(*shape)}


def form_of(out: DeviceArray) -> str:
    """The end of a kernel's name."""
    form = form_for(out.device)
    return size_for(out.shape[1], out.shape[3]) if form == "GPU" else form
