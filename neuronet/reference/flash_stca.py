"""Twins of kernels/flash_stca.cl: attention of a few questions to a long history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def limits_of(limits: A, n: int, length: int) -> A:
    """[queries, 2]: first and last + 1 of the rows that each question of sample n sees."""
    own: A = np.clip(limits[n if len(limits) > 1 else 0], 0, length)
    return own


def stretches(limits: A, n: int, length: int, splits: int) -> Iterator[slice]:
    """The history that any question of sample n sees, in ``splits`` parts."""
    own = limits_of(limits, n, length)
    own = own[own[:, 0] < own[:, 1]]
    begin, end = (int(own[:, 0].min()), int(own[:, 1].max())) if len(own) else (0, 0)
    each = -(-(end - begin) // splits)
    for s in range(splits):
        at = min(begin + s * each, end)
        yield slice(at, min(at + each, end))


def ages_of(limits: A, ages: A, n: int, length: int) -> A:
    """[queries, length]: how much older each row is than the newest that the question sees."""
    own = limits_of(limits, n, length)
    now = np.zeros(len(own), ages.dtype)
    for q, (first, last) in enumerate(own):
        if first < last:
            now[q] = min(ages[n, first], ages[n, last - 1])
    old: A = ages[n] - now[:, None]
    return old


def scores(*, u: A, x: A, limits: A, ages: A, slope: A, n: int, scale: float, recency: int) -> A:
    """[queries, heads, length] of sample n before softmax; -inf where the question sees nothing."""
    length = x.shape[1]
    s: A = scale * (u[n] @ x[n].T)
    if recency:
        s -= slope[:, None] * ages_of(limits, ages, n, length)[:, None]
    own, t = limits_of(limits, n, length), np.arange(length)
    sees = (t >= own[:, :1]) & (t < own[:, 1:])
    s[~np.broadcast_to(sees[:, None], s.shape)] = -np.inf
    return s


def MHFlashSTCA(
    *, u: A, x: A, limits: A, ages: A, slope: A, top: A, total: A, sums: A, scale: float, recency: int
) -> None:
    batch, length, _ = x.shape
    for n in range(batch):
        s = scores(u=u, x=x, limits=limits, ages=ages, slope=slope, n=n, scale=scale, recency=recency)
        for i, part in enumerate(stretches(limits, n, length, top.shape[1])):
            top[n, i] = s[..., part].max(-1, initial=-np.inf)
            e = np.exp(s[..., part] - np.where(top[n, i] == -np.inf, 0, top[n, i])[..., None])
            total[n, i] = e.sum(-1)
            sums[n, i] = e @ x[n, part]
