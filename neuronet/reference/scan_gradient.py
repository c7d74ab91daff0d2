"""Twins of kernels/scan_gradient.cl: gradients of a selective scan's inputs and steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.scan_states import CHUNK, outer, split

A = NDArray[Any]


def state_gradients(xbc: A, decay: A, dstates: A, dy: A) -> Iterator[tuple[int, A]]:
    """(t, g[t]) from the last step to the first."""
    _, _, c = split(xbc, *dstates.shape[2:4])
    length = xbc.shape[1]
    for t in reversed(range(length)):
        if t == length - 1 or (t + 1) % CHUNK == 0:
            g = dstates[:, t // CHUNK + 1]
        else:
            g = decay[:, t + 1, :, None, None] * g
        g = g + outer(c[:, t], dy[:, t])
        yield t, g


def ScanInputGradients(*, xbc: A, decay: A, dstates: A, dy: A, dxbc: A) -> None:
    heads, state = dstates.shape[2:4]
    _, b, _ = split(xbc, heads, state)
    for t, g in state_gradients(xbc, decay, dstates, dy):
        dxbc[:, t, : heads * dy.shape[3]] = np.einsum("nk,nhkp->nhp", b[:, t], g).reshape(len(b), -1)


def ScanStepGradients(
    *,
    xbc: A,
    delta: A,
    a_log: A,
    d: A,
    states: A,
    dstates: A,
    y: A,
    dy: A,
    dxbc: A,
    drows: A,
    a_parts: A,
    d_parts: A,
) -> None:
    heads, state = states.shape[2:4]
    batch, length, inner = *xbc.shape[:2], xbc.shape[2] - 2 * state
    x, _, _ = split(xbc, heads, state)
    gb = dxbc[:, :, :inner].reshape(x.shape).copy()
    dxbc[:, :, :inner] = (delta[..., None] * gb + d[:, None] * dy).reshape(batch, length, inner)
    xgb, dyx = (x * gb).sum(3), (x * dy).sum(3)
    change = (dy * y).sum(3) - d * dyx - delta * xgb
    a = -np.exp(a_log)
    for chunk in range(a_parts.shape[1]):
        part = slice(chunk * CHUNK, (chunk + 1) * CHUNK)
        end = (states[:, chunk + 1] * dstates[:, chunk + 1]).sum((2, 3))
        q = end[:, None] + change[:, part][:, ::-1].cumsum(1)[:, ::-1]
        drows[:, part, drows.shape[2] - heads :] = a * q + xgb[:, part]
        a_parts[:, chunk] = a * (delta[:, part] * q).sum(1)
        d_parts[:, chunk] = dyx[:, part].sum(1)
