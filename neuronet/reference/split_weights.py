"""Twins of kernels/split_weights.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.adam import adam

A = NDArray[Any]


def SplitWeightsGradient(*, x: A, dz: A, parts: A, some: int) -> None:
    for i, part in enumerate(parts):
        rows = slice(i * some, (i + 1) * some)
        part[:] = np.column_stack([dz[rows].T @ x[rows], dz[rows].sum(axis=0)])


def AddSplitWeights(*, parts: A, dw: A, db: A) -> None:
    g = parts.sum(axis=0)
    dw += g[:, :-1]
    db += g[:, -1]


def UpdateSplitWeightsAdam(*, parts: A, w: A, b: A, w_m: A, w_v: A, b_m: A, b_v: A, hyper: A) -> None:
    g = parts.sum(axis=0)
    adam(w, w_m, w_v, g[:, :-1], hyper)
    adam(b, b_m, b_v, g[:, -1], hyper)
