"""Twins of kernels/dot.cl: attention of each unit to the units around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def _slots(units: int, width: int, radius: int) -> Iterator[tuple[int, slice, slice]]:
    """Each slot with the units for which it exists, and the units that it is for them."""
    for j in range(width):
        ahead, back = max(0, j - radius), max(0, radius - j)
        yield j, slice(back, max(0, units - ahead)), slice(ahead, max(0, units - back))


def DOTFeedForward(*, qkv: A, rpb: A, score: A, out: A, radius: int, scale: float) -> None:
    q, k, v = (qkv[:, :, i] for i in range(3))
    units, width = score.shape[1], score.shape[-1]
    bias = np.broadcast_to(rpb, score.shape[1:])
    s = np.full_like(score, -np.inf)
    for j, own, other in _slots(units, width, radius):
        s[:, own, :, j] = scale * (q[:, own] * k[:, other]).sum(-1) + bias[own, :, j]
    e = np.exp(s - s.max(-1, keepdims=True))
    score[...] = e / e.sum(-1, keepdims=True)
    out[...] = 0
    for j, own, other in _slots(units, width, radius):
        out[:, own] += score[:, own, :, j, None] * v[:, other]


def DOTScoreGradients(*, qkv: A, score: A, dout: A, dscore: A, dqkv: A, radius: int, scale: float) -> None:
    units, width = score.shape[1], score.shape[-1]
    dp = np.zeros_like(score)
    for j, own, other in _slots(units, width, radius):
        dp[:, own, :, j] = (dout[:, own] * qkv[:, other, 2]).sum(-1)
    dscore[...] = score * (dp - (score * dp).sum(-1, keepdims=True))
    dqkv[:, :, 0] = 0
    for j, own, other in _slots(units, width, radius):
        dqkv[:, own, 0] += scale * dscore[:, own, :, j, None] * qkv[:, other, 1]


def DOTInsideGradients(*, qkv: A, score: A, dscore: A, dout: A, dqkv: A, radius: int, scale: float) -> None:
    units, width = score.shape[1], score.shape[-1]
    dqkv[:, :, 1:] = 0
    for j, own, other in _slots(units, width, radius):
        dqkv[:, other, 1] += scale * dscore[:, own, :, j, None] * qkv[:, own, 0]
        dqkv[:, other, 2] += score[:, own, :, j, None] * dout[:, own]
