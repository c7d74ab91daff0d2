"""Twins of kernels/dense.cl: the fully connected layer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.activation import activate
from neuronet.reference.adam import adam

A = NDArray[Any]


def FeedForward(*, x: A, w: A, b: A, y: A, activation: int) -> None:
    y[...] = activate(x @ w.T + b, activation)


def CalcHiddenGradient(*, dz: A, w: A, dx: A) -> None:
    np.matmul(dz, w, out=dx)


def WeightGradient(*, x: A, dz: A, dw: A, db: A) -> None:
    dw += dz.T @ x
    db += dz.sum(0)


def UpdateWeightsAdam(*, x: A, dz: A, w: A, b: A, w_m: A, w_v: A, b_m: A, b_v: A, hyper: A) -> None:
    adam(w, w_m, w_v, dz.T @ x, hyper)
    adam(b, b_m, b_v, dz.sum(0), hyper)
