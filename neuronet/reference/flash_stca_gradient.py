"""Twins of kernels/flash_stca_gradient.cl: gradients of the attention to a long history."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.flash_stca import ages_of, scores, stretches

A = NDArray[Any]


def MHFlashSTCAGradient(
    *,
    u: A,
    x: A,
    limits: A,
    ages: A,
    slope: A,
    out: A,
    lse: A,
    dout: A,
    dx: A,
    parts: A,
    slopes: A,
    scale: float,
    recency: int,
    beta: float,
) -> None:
    batch, length, width = x.shape
    for n in range(batch):
        s = scores(u=u, x=x, limits=limits, ages=ages, slope=slope, n=n, scale=scale, recency=recency)
        p = np.where(s == -np.inf, 0, np.exp(s - lse[n, ..., None]))  # not inf - inf for an empty row
        ds = p * (dout[n] @ x[n].T - (dout[n] * out[n]).sum(-1, keepdims=True))
        rows = p.reshape(-1, length).T @ dout[n].reshape(-1, width)
        rows += scale * ds.reshape(-1, length).T @ u[n].reshape(-1, width)
        dx[n] = rows if beta == 0 else rows + beta * dx[n]
        old = ages_of(limits, ages, n, length)[:, None] if recency else np.zeros((1, 1, length), x.dtype)
        for i, part in enumerate(stretches(limits, n, length, parts.shape[1])):
            parts[n, i] = scale * ds[..., part] @ x[n, part]
            slopes[n, i] = -(ds[..., part] * old[..., part]).sum(-1)
