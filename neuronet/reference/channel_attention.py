"""Twins of kernels/channel_attention.cl: attention between the channels of a head, over all units."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def head_columns(rows: A, column: int, heads: int, dimension: int) -> A:
    """The columns of all heads from ``column`` on: [batch, units, heads, dimension]."""
    columns = rows[:, :, column : column + heads * dimension]
    return columns.reshape(*rows.shape[:2], heads, dimension)


def stretches(units: int, parts: int) -> list[slice]:
    """The units of each part."""
    length = -(-units // parts)
    return [slice(p * length, (p + 1) * length) for p in range(parts)]


def XCiTSums(*, a: A, b: A, c: A, sums: A, a_column: int, b_column: int) -> None:
    heads, e = sums.shape[2], sums.shape[4]
    a, b, c = (head_columns(x, at, heads, e) for x, at in ((a, a_column), (b, b_column), (c, b_column)))
    for p, part in enumerate(stretches(a.shape[1], sums.shape[1])):
        sums[:, p, :, :e] = np.einsum("nthj,nthi->nhji", a[:, part], b[:, part])
        sums[:, p, :, e] = (b[:, part] * c[:, part]).sum(1)
        sums[:, p, :, e + 1] = (a[:, part] ** 2).sum(1)


def XCiTScores(*, sums: A, tau: A, scores: A, mix: A, eps: float) -> None:
    e = mix.shape[-1]
    total = sums.sum(1)
    norms = np.maximum(np.sqrt(total[:, :, e:]), eps)
    q, k = norms[:, :, 0], norms[:, :, 1]
    g = total[:, :, :e] / (q[:, :, None, :] * k[:, :, :, None])  # [.., j, i]
    scores[:, :, :e], scores[:, :, e:] = g, norms
    z = tau[:, None, None] * g
    p = np.exp(z - z.max(2, keepdims=True))
    mix[...] = p / p.sum(2, keepdims=True)


def XCiTFeedForward(*, rows: A, mix: A, y: A, v_column: int) -> None:
    v = head_columns(rows, v_column, *mix.shape[1:3])
    y[...] = np.einsum("nhji,nthj->nthi", mix, v).reshape(y.shape)


def XCiTFactors(
    *, sums: A, scores: A, mix: A, tau: A, factors: A, corrections: A, tau_parts: A, eps: float
) -> None:
    e = mix.shape[-1]
    total = sums.sum(1)
    g, q, k = scores[:, :, :e], scores[:, :, e], scores[:, :, e + 1]
    ds = mix * (total[:, :, :e] - total[:, :, None, e])  # [.., j, i]
    m = tau[:, None, None] * ds / (q[:, :, None, :] * k[:, :, :, None])
    factors[:, :, 0] = m
    factors[:, :, 1] = m.swapaxes(2, 3)
    factors[:, :, 2] = mix.swapaxes(2, 3)
    along = (ds * g).sum(2)
    corrections[:, :, 0] = np.where(q > eps, tau[:, None] * along / q**2, 0)
    corrections[:, :, 1] = np.where(k > eps, tau[:, None] * (ds * g).sum(3) / k**2, 0)
    tau_parts[...] = along.swapaxes(1, 2)


def XCiTInsideGradients(*, rows: A, factors: A, corrections: A, dy: A, drows: A, v_column: int) -> None:
    heads, e = factors.shape[1], factors.shape[-1]
    inner = heads * e
    q, k = (head_columns(rows, at, heads, e) for at in (0, inner))
    d = head_columns(dy, 0, heads, e)
    dq = np.einsum("nhji,nthj->nthi", factors[:, :, 0], k) - q * corrections[:, None, :, 0]
    dk = np.einsum("nhij,nthi->nthj", factors[:, :, 1], q) - k * corrections[:, None, :, 1]
    dv = np.einsum("nhij,nthi->nthj", factors[:, :, 2], d)
    drows[:, :, :inner] = (dq if v_column else dq + dv).reshape(dy.shape)
    drows[:, :, inner : 2 * inner] = dk.reshape(dy.shape)
    if v_column:
        drows[:, :, v_column : v_column + inner] = dv.reshape(dy.shape)
