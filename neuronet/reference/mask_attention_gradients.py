"""Twins of kernels/mask_attention_gradients.cl: gradients of attention between channels under a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.mask_attention_complex import by_part, directions, heads_first, products

A = NDArray[Any]


def MaskAttentionGradientsComplex(
    *,
    q: A,
    kv: A,
    mask: A,
    lse: A,
    out: A,
    dout: A,
    dcosines: A,
    scratch: A,
    sums: A,
    dq: A,
    dkv: A,
    heads_kv: int,
    k_column: int,
    alike: int,
    scale: float,
    closed: float,
    eps: float,
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
    s, logits, m = products(qh, k, mask, scale, closed)
    a = np.exp(logits - lse.swapaxes(1, 2)[..., None])
    dl = a * (do @ v.swapaxes(-1, -2) - (do * o).sum(-1, keepdims=True))
    ds = scale * m * dl
    dk, dv, dqh = ds.swapaxes(-1, -2) @ qh, a.swapaxes(-1, -2) @ do, ds @ k
    if alike:
        turn, k_turn = directions(qh, eps), directions(k, eps)
        dc = (dcosines / heads)[:, None] * turn * k_turn.swapaxes(-1, -2)
        across = dc * s
        dqh += dc @ k - qh * turn**2 * across.sum(-1, keepdims=True)
        dk += dc.swapaxes(-1, -2) @ qh - k * k_turn**2 * across.sum(-2)[..., None]
    heads_first(dq, heads, dimension)[...] = dqh
    for g in range(heads_kv):
        heads_first(dkv, heads_kv, dimension, k_column)[:, g] = dk[:, g::heads_kv].sum(1)
        heads_first(dkv, heads_kv, dimension, v_column)[:, g] = dv[:, g::heads_kv].sum(1)
    by_part(scale * dl * s, sums, heads_kv)


def MaskAttentionMaskGradients(*, sums: A, dmask: A, alike: int) -> None:
    dmask[...] = sums.sum(1) + (dmask if alike else 0)
    dmask[:, np.arange(dmask.shape[1]), np.arange(dmask.shape[1])] = 0
