"""Twins of kernels/mask_attention_complex.cl: attention between channels under a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def heads_first(x: A, heads: int, dimension: int, column: int = 0) -> A:
    """Columns from ``column`` on of [rows, units, ...] as [rows, heads, units, 2 * dimension], a view."""
    inner = heads * 2 * dimension
    part = x[:, :, column : column + inner]
    return part.reshape(*x.shape[:2], heads, 2 * dimension).transpose(0, 2, 1, 3)


def products(q: A, k: A, mask: A, scale: float, closed: float) -> tuple[A, A, A]:
    """s and the logits, [rows, heads, units, units], and the mask with a diagonal of 1, [rows, 1, ...]."""
    m = np.where(np.eye(mask.shape[-1], dtype=bool), mask.dtype.type(1), mask)[:, None]
    s = q @ k.swapaxes(-1, -2)
    return s, s * (scale * m) + np.where(m == 0, closed, 0).astype(s.dtype), m


def directions(x: A, eps: float) -> A:
    """1 / |x|, or 0 for a vector shorter than eps, [..., 1]."""
    norms = np.sqrt((x**2).sum(-1, keepdims=True))
    return np.where(norms < eps, 0, 1 / np.where(norms < eps, 1, norms))


def by_part(heads: A, sums: A, heads_kv: int) -> None:
    """sums = those over the heads of each work-group, of [rows, heads, units, units]."""
    parts = sums.shape[1]
    sums[...] = 0
    for h in range(heads.shape[1]):
        sums[:, h % heads_kv % parts] += heads[:, h]


def MaskAttentionComplex(
    *,
    q: A,
    kv: A,
    mask: A,
    scratch: A,
    sums: A,
    lse: A,
    out: A,
    heads_kv: int,
    k_column: int,
    alike: int,
    scale: float,
    closed: float,
    eps: float,
) -> None:
    heads, dimension = out.shape[2:4]
    keys = np.arange(heads) % heads_kv
    k = heads_first(kv, heads_kv, dimension, k_column)[:, keys]
    v = heads_first(kv, heads_kv, dimension, k_column + heads_kv * 2 * dimension)[:, keys]
    queries = heads_first(q, heads, dimension)
    s, logits, _ = products(queries, k, mask, scale, closed)
    if alike:
        by_part(s * directions(queries, eps) * directions(k, eps).swapaxes(-1, -2), sums, heads_kv)
    top = logits.max(-1, keepdims=True)
    e = np.exp(logits - top)
    total = e.sum(-1, keepdims=True)
    lse[...] = (top + np.log(total))[..., 0].swapaxes(1, 2)
    out[...] = (e / total @ v).transpose(0, 2, 1, 3).reshape(out.shape)


def MaskAttentionCosines(*, sums: A, cosines: A, heads: int) -> None:
    cosines[...] = sums.sum(1) / heads


def MaskAttentionScoresComplex(
    *,
    q: A,
    kv: A,
    mask: A,
    lse: A,
    scores: A,
    dimension: int,
    heads_kv: int,
    k_column: int,
    scale: float,
    closed: float,
) -> None:
    heads = lse.shape[2]
    k = heads_first(kv, heads_kv, dimension, k_column)[:, np.arange(heads) % heads_kv]
    _, logits, _ = products(heads_first(q, heads, dimension), k, mask, scale, closed)
    scores[...] = np.exp(logits.swapaxes(1, 2) - lse[..., None])
