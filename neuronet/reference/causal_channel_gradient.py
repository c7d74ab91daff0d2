"""Twins of kernels/causal_channel_gradient.cl: gradients of the causal attention between channels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.causal_channel_attention import stretch_cosines
from neuronet.reference.channel_attention import head_columns, stretches

A = NDArray[Any]


def XCiTRunningBack(*, sums: A, later: A) -> None:
    later[:, -1] = 0
    later[:, :-1] = np.cumsum(sums[:, ::-1], 1)[:, ::-1]


def _back_sums(x: A) -> A:
    """Sums over all later units and the unit itself."""
    return np.cumsum(x[:, ::-1], 1)[:, ::-1]


def _stretch(
    rows: A,
    running: A,
    scales: A,
    tau: A,
    lse: A,
    y: A,
    dy: A,
    v_column: int,
    eps: float,
    p: int,
    part: slice,
) -> tuple[A, A, A, A, A]:
    """Of stretch p: a and m = tau ds / (|q| |k|), [.., j, i]; pulls on q and on k; sums of ds g over j."""
    heads, e = running.shape[2], running.shape[4]
    g, scale = stretch_cosines(rows, running, scales, p, part)
    of_lse, of_y, of_dy = (head_columns(x[:, part], 0, heads, e)[:, :, :, None, :] for x in (lse, y, dy))
    v = head_columns(rows[:, part], v_column, heads, e)[:, :, :, :, None]
    a = np.exp(tau[:, None, None] * g - of_lse)
    ds = a * of_dy * (v - of_y)
    of_q, of_k = (scales[:, part, which].reshape(v.shape[:-1]) for which in (0, 1))
    pull_q = np.where(of_q < 1 / eps, tau[:, None] * (ds * g).sum(3) * of_q**2, 0)
    pull_k = np.where(of_k < 1 / eps, tau[:, None] * (ds * g).sum(4) * of_k**2, 0)
    return a, tau[:, None, None] * ds * scale, pull_q, pull_k, (ds * g).sum(3)


def XCiTCausalSums(
    *,
    rows: A,
    running: A,
    scales: A,
    tau: A,
    lse: A,
    y: A,
    dy: A,
    sums: A,
    tau_parts: A,
    v_column: int,
    eps: float,
) -> None:
    e = running.shape[4]
    for p, part in enumerate(stretches(rows.shape[1], sums.shape[1])):
        _, m, pull_q, pull_k, dtau = _stretch(rows, running, scales, tau, lse, y, dy, v_column, eps, p, part)
        sums[:, p, :, :e] = m.sum(1)
        sums[:, p, :, e], sums[:, p, :, e + 1] = pull_q.sum(1), pull_k.sum(1)
        tau_parts[:, p] = dtau.sum(1).swapaxes(1, 2)


def XCiTCausalGradients(
    *,
    rows: A,
    running: A,
    later: A,
    scales: A,
    tau: A,
    lse: A,
    y: A,
    dy: A,
    drows: A,
    v_column: int,
    eps: float,
) -> None:
    heads, e, inner = running.shape[2], running.shape[4], y.shape[2]
    for p, part in enumerate(stretches(rows.shape[1], running.shape[1] - 1)):
        a, m, pull_q, pull_k, _ = _stretch(rows, running, scales, tau, lse, y, dy, v_column, eps, p, part)
        q, k = (head_columns(rows[:, part], at, heads, e) for at in (0, inner))
        r = later[:, p + 1, None, :, :e] + _back_sums(m)
        back_q, back_k = (
            later[:, p + 1, None, :, e + which] + _back_sums(pull)
            for which, pull in enumerate((pull_q, pull_k))
        )
        dq = np.einsum("nthji,nthj->nthi", r, k) - q * back_q
        dk = np.einsum("nthji,nthi->nthj", r, q) - k * back_k
        dv = np.einsum("nthji,nthi->nthj", a, head_columns(dy[:, part], 0, heads, e))
        flat = (*q.shape[:2], inner)
        drows[:, part, :inner] = (dq if v_column else dq + dv).reshape(flat)
        drows[:, part, inner : 2 * inner] = dk.reshape(flat)
        if v_column:
            drows[:, part, v_column : v_column + inner] = dv.reshape(flat)
