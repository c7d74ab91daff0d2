"""Twins of kernels/split_weights.cl."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from neuronet.reference.adam import adam

A = NDArray[Any]


BIAS = -4  # the column of biases: those of the weights are filled up to a multiple of four


def SplitWeightsGradient(*, x: A, dz: A, parts: A, some: int) -> None:
    for i, part in enumerate(parts):
        rows = slice(i * some, (i + 1) * some)
        part[:, : x.shape[1]] = dz[rows].T @ x[rows]
        part[:, BIAS] = dz[rows].sum(axis=0)


def AddSplitWeights(*, parts: A, dw: A, db: A) -> None:
    g = parts.sum(axis=0)
    dw += g[:, : dw.shape[1]]
    db += g[:, BIAS]


def UpdateSplitWeightsAdam(*, parts: A, w: A, b: A, w_m: A, w_v: A, b_m: A, b_v: A, hyper: A) -> None:
    g = parts.sum(axis=0)
    adam(w, w_m, w_v, g[:, : w.shape[1]], hyper)
    adam(b, b_m, b_v, g[:, BIAS], hyper)
