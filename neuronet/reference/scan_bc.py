"""Twins of kernels/scan_bc.cl: gradients of B and C of a selective scan."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from neuronet.reference.scan_gradient import state_gradients
from neuronet.reference.scan_states import CHUNK, added, split

A = NDArray[Any]


def ScanBCGradients(*, xbc: A, delta: A, decay: A, states: A, dstates: A, dy: A, parts: A) -> None:
    heads, state = states.shape[2:4]
    groups = parts.shape[2]
    x, _, _ = split(xbc, heads, state)

    def grouped(values: A) -> A:
        """[batch, heads, state] summed over the heads of each group."""
        total: A = values.reshape(len(values), groups, heads // groups, state).sum(2)
        return total

    for t in range(xbc.shape[1]):
        if t % CHUNK == 0:
            h = states[:, t // CHUNK]
        h = decay[:, t, :, None, None] * h + added(xbc, delta, states, t)
        parts[:, t, :, state:] = grouped((h * dy[:, t, :, None, :]).sum(3))
    for t, g in state_gradients(xbc, decay, dstates, dy):
        u = delta[:, t, :, None] * x[:, t]
        parts[:, t, :, :state] = grouped((g * u[:, :, None, :]).sum(3))


def ScanSumGroups(*, parts: A, dxbc: A) -> None:
    dxbc[:, :, dxbc.shape[2] - parts.shape[3] :] = parts.sum(2)
