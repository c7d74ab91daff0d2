"""Twins of kernels/few_weights.cl."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from neuronet.reference.adam import adam

A = NDArray[Any]


def FewWeightsGradient(*, x: A, dz: A, dw: A, db: A) -> None:
    dw += dz.T @ x
    db += dz.sum(axis=0)


def UpdateFewWeightsAdam(*, x: A, dz: A, w: A, b: A, w_m: A, w_v: A, b_m: A, b_v: A, hyper: A) -> None:
    adam(w, w_m, w_v, dz.T @ x, hyper)
    adam(b, b_m, b_v, dz.sum(axis=0), hyper)
