"""Twins of kernels/multi_windows_weights.cl: gradients of the weights of multi_windows_conv."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.adam import adam
from neuronet.reference.multi_windows_conv import each_tap

A = NDArray[Any]


def _weight_gradients(x: A, dz: A, w: A, windows_in: A, starts: A, step: int) -> tuple[A, A]:
    inputs, dimension = x.shape[1:]
    dw = np.zeros_like(w)
    taps = dw.reshape(-1, dimension, w.shape[1])
    for q, k, seen, position in each_tap(windows_in, starts, units=dz.shape[1], inputs=inputs, step=step):
        taps[k] = np.einsum("nud,nuf->df", x[:, position], dz[:, seen, q], optimize=True)
    db: A = dz.sum((0, 1))
    return dw, db


def WeightGradientMultWinConvWPad(*, x: A, dz: A, windows_in: A, starts: A, dw: A, db: A, step: int) -> None:
    more_w, more_b = _weight_gradients(x, dz, dw, windows_in, starts, step)
    dw += more_w
    db += more_b


def UpdateWeightsMultWinConvAdamWPad(
    *,
    x: A,
    dz: A,
    windows_in: A,
    starts: A,
    w: A,
    b: A,
    w_m: A,
    w_v: A,
    b_m: A,
    b_v: A,
    hyper: A,
    step: int,
) -> None:
    dw, db = _weight_gradients(x, dz, w, windows_in, starts, step)
    adam(w, w_m, w_v, dw, hyper)
    adam(b, b_m, b_v, db, hyper)


def WeightPartsMultWinConvWPad(
    *, x: A, dz: A, windows_in: A, starts: A, parts: A, step: int, some: int
) -> None:
    batch, units, windows, filters = dz.shape
    taps = parts.shape[1] - windows
    like = np.empty((taps, filters))
    for i, part in enumerate(parts):
        seen = np.zeros(batch * units, bool)
        seen[i * some : (i + 1) * some] = True
        ds = dz * seen.reshape(batch, units, 1, 1)
        part[:taps], part[taps:] = _weight_gradients(x, ds, like, windows_in, starts, step)


def AddWeightPartsMultWinConvWPad(*, parts: A, dw: A, db: A) -> None:
    g = parts.sum(0)
    dw += g[: len(dw)]
    db += g[len(dw) :]


def UpdateWeightPartsMultWinConvAdamWPad(
    *, parts: A, w: A, b: A, w_m: A, w_v: A, b_m: A, b_v: A, hyper: A
) -> None:
    g = parts.sum(0)
    adam(w, w_m, w_v, g[: len(w)], hyper)
    adam(b, b_m, b_v, g[len(w) :], hyper)
