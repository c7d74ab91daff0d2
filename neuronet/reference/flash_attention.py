"""Twins of kernels/flash_attention.cl: attention of questions to keys and values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def heads_of(rows: A, column: int, heads: int, dimension: int) -> A:
    """[batch, heads, units, dimension]: a view of the heads that begin at this column of wider rows."""
    part = rows[:, :, column : column + heads * dimension]
    view: A = part.reshape(*rows.shape[:2], heads, dimension).transpose(0, 2, 1, 3)
    return view


def put(rows: A, column: int, values: A) -> None:
    """The heads' columns of rows = values [batch, heads, units, dimension]."""
    batch, heads, units, dimension = values.shape
    wide = values.transpose(0, 2, 1, 3).reshape(batch, units, heads * dimension)
    rows[:, :, column : column + heads * dimension] = wide


def scores(q: A, k: A, limits: A, scale: float) -> A:
    """[batch, heads, queries, keys] before softmax, -inf where a question does not see."""
    s: A = scale * (q @ k.repeat(q.shape[1] // k.shape[1], 1).swapaxes(-1, -2))
    t = np.arange(k.shape[2])
    sees = (t >= limits[..., :1]) & (t < limits[..., 1:])
    s[~np.broadcast_to(sees[:, None], s.shape)] = -np.inf
    return s


def MHFlashAttention(
    *,
    q: A,
    k: A,
    v: A,
    limits: A,
    out: A,
    lse: A,
    heads_kv: int,
    q_column: int,
    k_column: int,
    v_column: int,
    scale: float,
) -> None:
    heads, d = out.shape[2:]
    s = scores(heads_of(q, q_column, heads, d), heads_of(k, k_column, heads_kv, d), limits, scale)
    top = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(top == -np.inf, 0, top))
    total = e.sum(-1, keepdims=True)
    p = e / np.where(total == 0, 1, total)
    out[...] = (p @ heads_of(v, v_column, heads_kv, d).repeat(heads // heads_kv, 1)).transpose(0, 2, 1, 3)
    lse[...] = np.where(total == 0, np.inf, top + np.log(total))[..., 0].transpose(0, 2, 1)
