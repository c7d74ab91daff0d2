"""Twins of kernels/channel_correlation.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.mask_attention_complex import heads_first

A = NDArray[Any]


def _vectors(q: A, kv: A, heads: int, heads_kv: int, dimension: int, k_column: int) -> tuple[A, A]:
    """Queries and keys, [rows, units, heads or heads_kv, 2 * dimension]."""
    queries = heads_first(q, heads, dimension).swapaxes(1, 2)
    return queries, heads_first(kv, heads_kv, dimension, k_column).swapaxes(1, 2)


def ChannelLengths(*, q: A, kv: A, lengths: A, heads: int, dimension: int, k_column: int, eps: float) -> None:
    both = _vectors(q, kv, heads, lengths.shape[2] - heads, dimension, k_column)
    norms = np.concatenate([np.sqrt((x**2).sum(-1)) for x in both], -1)
    lengths[...] = np.where(norms < eps, eps, norms)


def ChannelCosines(
    *, q: A, kv: A, lengths: A, scratch: A, cosines: A, heads: int, dimension: int, k_column: int
) -> None:
    heads_kv = lengths.shape[2] - heads
    queries, keys = _vectors(q, kv, heads, heads_kv, dimension, k_column)
    queries, keys = queries / lengths[..., :heads, None], keys / lengths[..., heads:, None]
    cosines[...] = 0
    for h in range(heads):
        cosines[...] += queries[:, :, h] @ keys[:, :, h % heads_kv].swapaxes(1, 2) / heads


def _sums(cosines: A, mask: A, tau: float) -> tuple[A, A, A, A]:
    """The mask with its diagonal of ones, E over its largest, and P and S of that, [rows, units, ...]."""
    m = np.where(np.eye(mask.shape[-1], dtype=bool), mask.dtype.type(1), mask)
    e = np.exp((cosines - cosines.max(-1, keepdims=True)) / tau)
    return m, e, (e * m).sum(-1, keepdims=True), e.sum(-1, keepdims=True)


def ChannelCorrelation(*, cosines: A, mask: A, value: A, tau: float, regular: float, weight: float) -> None:
    units = mask.shape[-1]
    _, _, p, s = _sums(cosines, mask, tau)
    opened = np.abs(mask * (1 - np.eye(units))).sum((1, 2)) / max(1, units * (units - 1))
    value[...] = weight * (regular * opened - np.log(p / s)[..., 0].mean(1))


def ChannelCorrelationMaskGradients(
    *, cosines: A, mask: A, dcosines: A, dmask: A, tau: float, regular: float, weight: float
) -> None:
    units = mask.shape[-1]
    m, e, p, s = _sums(cosines, mask, tau)
    dcosines[...] = weight / (units * tau) * e * (1 / s - m / p)
    added = weight * (regular * np.sign(m) / max(1, units * (units - 1)) - e / p / units)
    dmask[...] += added * (1 - np.eye(units))


def ChannelCorrelationGradients(
    *,
    q: A,
    kv: A,
    lengths: A,
    dcosines: A,
    scratch: A,
    dq: A,
    dkv: A,
    heads: int,
    dimension: int,
    k_column: int,
    eps: float,
) -> None:
    heads_kv = lengths.shape[2] - heads
    x = _vectors(q, kv, heads, heads_kv, dimension, k_column)
    dx = _vectors(dq, dkv, heads, heads_kv, dimension, k_column)
    norms = lengths[..., :heads, None], lengths[..., heads:, None]
    queries, keys = (vectors / norm for vectors, norm in zip(x, norms, strict=True))
    u = np.zeros_like(queries), np.zeros_like(keys)
    for h in range(heads):
        g = h % heads_kv
        u[0][:, :, h] = dcosines @ keys[:, :, g] / heads
        u[1][:, :, g] += dcosines.swapaxes(1, 2) @ queries[:, :, h] / heads
    for gradient, own, unit, norm in zip(dx, u, (queries, keys), norms, strict=True):
        across = (own - unit * (own * unit).sum(-1, keepdims=True)) / norm
        gradient[...] += np.where(norm > eps, across, 0)
