"""Twins of kernels/flash_attention_q.cl: gradients of the questions of attention."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.flash_attention import heads_of, put, scores

A = NDArray[Any]


def MHFlashAttentionGradientQ(
    *,
    q: A,
    k: A,
    v: A,
    limits: A,
    out: A,
    lse: A,
    dout: A,
    delta: A,
    dq: A,
    heads_kv: int,
    q_column: int,
    k_column: int,
    v_column: int,
    scale: float,
) -> None:
    heads, d = out.shape[2:]
    keys, values = heads_of(k, k_column, heads_kv, d), heads_of(v, v_column, heads_kv, d)
    s = scores(heads_of(q, q_column, heads, d), keys, limits, scale)
    delta[...] = (dout * out).sum(-1)
    level, whole = (a.transpose(0, 2, 1)[..., None] for a in (lse, delta))
    p = np.where(s == -np.inf, 0, np.exp(s - level))
    dp = dout.transpose(0, 2, 1, 3) @ values.repeat(heads // heads_kv, 1).swapaxes(-1, -2)
    put(dq, q_column, scale * (p * (dp - whole)) @ keys.repeat(heads // heads_kv, 1))
