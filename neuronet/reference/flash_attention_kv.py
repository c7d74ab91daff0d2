"""Twins of kernels/flash_attention_kv.cl: gradients of the keys and values of attention."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.flash_attention import heads_of, put, scores

A = NDArray[Any]


def MHFlashAttentionGradientKV(
    *,
    q: A,
    k: A,
    v: A,
    limits: A,
    lse: A,
    dout: A,
    delta: A,
    dk: A,
    dv: A,
    heads_kv: int,
    q_column: int,
    k_column: int,
    v_column: int,
    scale: float,
) -> None:
    batch, _, heads, d = dout.shape
    asked, values = heads_of(q, q_column, heads, d), heads_of(v, v_column, heads_kv, d)
    back = dout.transpose(0, 2, 1, 3)
    s = scores(asked, heads_of(k, k_column, heads_kv, d), limits, scale)
    level, whole = (a.transpose(0, 2, 1)[..., None] for a in (lse, delta))
    p = np.where(s == -np.inf, 0, np.exp(s - level))
    ds = scale * p * (back @ values.repeat(heads // heads_kv, 1).swapaxes(-1, -2) - whole)
    shared = (batch, heads_kv, heads // heads_kv, k.shape[1], d)
    put(dk, k_column, (ds.swapaxes(-1, -2) @ asked).reshape(shared).sum(2))
    put(dv, v_column, (p.swapaxes(-1, -2) @ back).reshape(shared).sum(2))
