"""Twin of kernels/adam.cl, and ``adam``, the update that the fused twins share (common.cl)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]
LR, BETA1, BETA2, EPS, C1, C2, L2, L1, GO = range(9)  # as HYPER_* in common.cl


def adam(w: A, m: A, v: A, g: A, hyper: A) -> None:
    """One Adam step in place: Kingma & Ba, arXiv:1412.6980, with decoupled decay."""
    if hyper[GO] == 0:
        return
    m[...] = hyper[BETA1] * m + (1 - hyper[BETA1]) * g
    v[...] = hyper[BETA2] * v + (1 - hyper[BETA2]) * g * g
    decay = hyper[L2] * w + hyper[L1] * np.sign(w)
    w -= hyper[LR] * (m * hyper[C1] / (np.sqrt(v * hyper[C2]) + hyper[EPS]) + decay)


def AdamStep(*, w: A, g: A, m: A, v: A, hyper: A, keep: int) -> None:
    if keep and hyper[GO] == 0:
        return
    adam(w, m, v, g, hyper)
    g[...] = 0
