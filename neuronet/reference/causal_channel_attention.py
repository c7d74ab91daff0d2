"""Twins of kernels/causal_channel_attention.cl: attention between channels that sees no later unit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.channel_attention import head_columns, stretches

A = NDArray[Any]


def XCiTRunning(*, initial: A, sums: A, running: A) -> None:
    running[:, 0] = initial
    running[:, 1:] = initial[:, None] + np.cumsum(sums, 1)


def XCiTScales(*, rows: A, running: A, scales: A, eps: float) -> None:
    heads, e, inner = running.shape[2], running.shape[4], scales.shape[3]
    for p, part in enumerate(stretches(rows.shape[1], running.shape[1] - 1)):
        for which in range(2):
            x = head_columns(rows[:, part], which * inner, heads, e)
            squares = running[:, p, None, :, e + which] + np.cumsum(x * x, 1)
            scales[:, part, which] = (1 / np.maximum(np.sqrt(squares), eps)).reshape(*x.shape[:2], inner)


def stretch_cosines(rows: A, running: A, scales: A, p: int, part: slice) -> tuple[A, A]:
    """g and 1 / (|q_i| |k_j|) of the units of stretch p: [batch, units, heads, j, i]."""
    heads, e, inner = running.shape[2], running.shape[4], scales.shape[3]
    q, k = (head_columns(rows[:, part], at, heads, e) for at in (0, inner))
    products = k[:, :, :, :, None] * q[:, :, :, None, :]
    covariances = running[:, p, None, :, :e] + np.cumsum(products, 1)
    of_q, of_k = (scales[:, part, which].reshape(q.shape) for which in (0, 1))
    scale = of_k[:, :, :, :, None] * of_q[:, :, :, None, :]
    return covariances * scale, scale


def XCiTCausal(*, rows: A, running: A, scales: A, tau: A, lse: A, y: A, v_column: int) -> None:
    heads, e = running.shape[2], running.shape[4]
    for p, part in enumerate(stretches(rows.shape[1], running.shape[1] - 1)):
        g, _ = stretch_cosines(rows, running, scales, p, part)
        s = tau[:, None, None] * g
        most = s.max(3)
        a = np.exp(s - most[:, :, :, None])
        total = a.sum(3)
        v = head_columns(rows[:, part], v_column, heads, e)
        lse[:, part] = (most + np.log(total)).reshape(lse[:, part].shape)
        y[:, part] = (np.einsum("nthji,nthj->nthi", a, v) / total).reshape(y[:, part].shape)
