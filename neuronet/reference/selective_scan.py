"""Twins of kernels/selective_scan.cl: outputs of Mamba-2's recurrence over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.activations import Activation
from neuronet.reference.activation import activate, activation_gradient
from neuronet.reference.scan_states import CHUNK, added, split

A = NDArray[Any]


def ScanSteps(*, rows: A, a_log: A, delta: A, decay: A) -> None:
    delta[...] = activate(rows[:, :, rows.shape[2] - len(a_log) :], Activation.SOFTPLUS)
    decay[...] = np.exp(-np.exp(a_log) * delta)


def ScanStepsGradient(*, delta: A, drows: A) -> None:
    drows[:, :, drows.shape[2] - delta.shape[2] :] *= activation_gradient(delta, Activation.SOFTPLUS)


def ScanOutputs(*, xbc: A, delta: A, decay: A, d: A, states: A, y: A) -> None:
    x, _, c = split(xbc, *states.shape[2:4])
    for t in range(xbc.shape[1]):
        if t % CHUNK == 0:
            h = states[:, t // CHUNK]
        h = decay[:, t, :, None, None] * h + added(xbc, delta, states, t)
        y[:, t] = d[:, None] * x[:, t] + (c[:, t, None, :, None] * h).sum(2)
