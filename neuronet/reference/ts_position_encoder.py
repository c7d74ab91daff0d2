"""Twins of kernels/ts_position_encoder.cl: harmonics of where a time lies in each of several periods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def _angles(phases: A, freqs: int) -> tuple[A, A]:
    """(2 pi 2^j for each harmonic j, that times the phases' distance to the nearest whole turn)."""
    factor = 2.0 ** np.arange(freqs)
    turns = phases[..., None] * factor
    return 2 * np.pi * factor, 2 * np.pi * (turns - np.rint(turns))


def TimeHarmonics(*, x: A, phases: A, y: A) -> None:
    _, angle = _angles(phases, x.shape[2])
    y[...] = x + np.stack([np.sin(angle), np.cos(angle)], -1)


def TimeHarmonicsGradient(*, phases: A, dy: A, dphases: A) -> None:
    slope, angle = _angles(phases, dy.shape[2])
    dphases[...] = (slope * (np.cos(angle) * dy[..., 0] - np.sin(angle) * dy[..., 1])).sum(-1)
