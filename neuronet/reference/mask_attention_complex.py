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


def _products(q: A, k: A, mask: A, scale: float, closed: float) -> tuple[A, A, A]:
    """s and the logits, [rows, heads, units, units], and the mask with a diagonal of 1, [rows, 1, ...]."""
    m = np.where(np.eye(mask.shape[-1], dtype=bool), mask.dtype.type(1), mask)[:, None]
    s = q @ k.swapaxes(-1, -2)
    return s, s * (scale * m) + np.where(m == 0, closed, 0).astype(s.dtype), m


def MaskAttentionComplex(
    *,
    q: A,
    kv: A,
    mask: A,
    scratch: A,
    lse: A,
    out: A,
    heads_kv: int,
    k_column: int,
    scale: float,
    closed: float,
) -> None:
    heads, dimension = out.shape[2:4]
    keys = np.arange(heads) % heads_kv
    k = heads_first(kv, heads_kv, dimension, k_column)[:, keys]
    v = heads_first(kv, heads_kv, dimension, k_column + heads_kv * 2 * dimension)[:, keys]
    _, logits, _ = _products(heads_first(q, heads, dimension), k, mask, scale, closed)
    top = logits.max(-1, keepdims=True)
    e = np.exp(logits - top)
    total = e.sum(-1, keepdims=True)
    lse[...] = (top + np.log(total))[..., 0].swapaxes(1, 2)
    out[...] = (e / total @ v).transpose(0, 2, 1, 3).reshape(out.shape)


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
    _, logits, _ = _products(heads_first(q, heads, dimension), k, mask, scale, closed)
    scores[...] = np.exp(logits.swapaxes(1, 2) - lse[..., None])


def MaskAttentionGradientsComplex(
    *,
    q: A,
    kv: A,
    mask: A,
    lse: A,
    out: A,
    dout: A,
    scratch: A,
    dq: A,
    dkv: A,
    dmask: A,
    heads_kv: int,
    k_column: int,
    scale: float,
    closed: float,
) -> None:
    heads, dimension = out.shape[2:4]
    keys, v_column = np.arange(heads) % heads_kv, k_column + heads_kv * 2 * dimension
    qh = heads_first(q, heads, dimension)
    k = heads_first(kv, heads_kv, dimension, k_column)[:, keys]
    v = heads_first(kv, heads_kv, dimension, v_column)[:, keys]
    flat = (*out.shape[:2], heads * 2 * dimension)
    o, do = (
        heads_first(out.reshape(flat), heads, dimension),
        heads_first(dout.reshape(flat), heads, dimension),
    )
    s, logits, m = _products(qh, k, mask, scale, closed)
    a = np.exp(logits - lse.swapaxes(1, 2)[..., None])
    dl = a * (do @ v.swapaxes(-1, -2) - (do * o).sum(-1, keepdims=True))
    ds = scale * m * dl
    dk, dv = ds.swapaxes(-1, -2) @ qh, a.swapaxes(-1, -2) @ do
    heads_first(dq, heads, dimension)[...] = ds @ k
    for g in range(heads_kv):
        heads_first(dkv, heads_kv, dimension, k_column)[:, g] = dk[:, g::heads_kv].sum(1)
        heads_first(dkv, heads_kv, dimension, v_column)[:, g] = dv[:, g::heads_kv].sum(1)
    dmask[...] = (scale * dl * s).sum(1)
    dmask[:, np.arange(dmask.shape[1]), np.arange(dmask.shape[1])] = 0
