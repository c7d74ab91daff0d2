"""Twins of kernels/scan_states.cl: the states of a selective scan in front of chunks of 64 steps."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

A = NDArray[Any]
CHUNK = 64


def split(xbc: A, heads: int, state: int) -> tuple[A, A, A]:
    """Views of x [batch, length, heads, head_dim], B and C [batch, length, state]."""
    inner = xbc.shape[2] - 2 * state
    x = xbc[:, :, :inner].reshape(*xbc.shape[:2], heads, inner // heads)
    return x, xbc[:, :, inner : inner + state], xbc[:, :, inner + state :]


def added(xbc: A, delta: A, states: A, t: int) -> A:
    """What step t adds to the state: [batch, heads, state, head_dim]."""
    x, b, _ = split(xbc, *states.shape[2:4])
    more: A = b[:, t, None, :, None] * (delta[:, t, :, None] * x[:, t])[:, :, None, :]
    return more


def outer(vector: A, values: A) -> A:
    """[batch, state] times [batch, heads, head_dim]: [batch, heads, state, head_dim]."""
    product: A = vector[:, None, :, None] * values[:, :, None, :]
    return product


def ScanChunkStates(*, xbc: A, delta: A, decay: A, states: A, span: A) -> None:
    states[:, 1:] = 0
    span[...] = 1
    for t in range(xbc.shape[1]):
        chunk = t // CHUNK
        h = states[:, chunk + 1]
        h[...] = decay[:, t, :, None, None] * h + added(xbc, delta, states, t)
        span[:, chunk] *= decay[:, t]


def ScanCarry(*, initial: A, span: A, states: A) -> None:
    states[:, 0] = initial
    for chunk in range(span.shape[1]):
        states[:, chunk + 1] += span[:, chunk, :, None] * states[:, chunk]


def ScanFinal(*, states: A, final: A) -> None:
    final[...] = states[:, -1]


def ScanChunkGradients(*, xbc: A, decay: A, dy: A, dstates: A) -> None:
    _, _, c = split(xbc, *dstates.shape[2:4])
    dstates[...] = 0
    for t in reversed(range(xbc.shape[1])):
        g = dstates[:, t // CHUNK]
        g[...] = decay[:, t, :, None, None] * (g + outer(c[:, t], dy[:, t]))


def ScanCarryBack(*, span: A, dstates: A) -> None:
    for chunk in reversed(range(span.shape[1])):
        dstates[:, chunk] += span[:, chunk, :, None] * dstates[:, chunk + 1]
