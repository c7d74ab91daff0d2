"""Twins of kernels/swi_glu.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def _halves(uv: A) -> tuple[A, A, A]:
    u, v = np.split(uv, 2, axis=1)
    return u, v, 0.5 * (1 + np.tanh(0.5 * v))


def SwiGLU(*, uv: A, z: A) -> None:
    u, v, s = _halves(uv)
    z[...] = u * v * s


def SwiGLUGradient(*, uv: A, dz: A, duv: A) -> None:
    u, v, s = _halves(uv)
    duv[...] = np.concatenate([dz * v * s, dz * u * s * (1 + v * (1 - s))], axis=1)
