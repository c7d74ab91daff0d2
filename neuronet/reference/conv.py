"""Twins of kernels/conv.cl: one-dimensional convolution without padding, its own filters per variable."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from neuronet.reference.activation import activate
from neuronet.reference.adam import adam

A = NDArray[Any]


def _windows(x: A, w: A, step: int) -> A:
    """The windows of x: [batch, variables, units, window], a view."""
    return sliding_window_view(x, w.shape[2], axis=2)[:, :, ::step]


def _weight_gradients(x: A, dz: A, w: A, step: int) -> tuple[A, A]:
    dw: A = np.einsum("nvuf,nvuk->vfk", dz, _windows(x, w, step), optimize=True)
    db: A = dz.sum((0, 2))
    return dw, db


def FeedForwardConv(*, x: A, w: A, b: A, y: A, step: int, activation: int) -> None:
    z = _windows(x, w, step) @ w.swapaxes(1, 2)
    y[...] = activate(z + b[:, None], activation)


def CalcHiddenGradientConv(*, dz: A, w: A, dx: A, step: int) -> None:
    units, window = dz.shape[2], w.shape[2]
    dx[...] = 0
    for u in range(units):
        dx[:, :, u * step : u * step + window] += np.einsum("nvf,vfk->nvk", dz[:, :, u], w)


def WeightGradientConv(*, x: A, dz: A, dw: A, db: A, step: int) -> None:
    more_w, more_b = _weight_gradients(x, dz, dw, step)
    dw += more_w
    db += more_b


def UpdateWeightsConvAdam(
    *, x: A, dz: A, w: A, b: A, w_m: A, w_v: A, b_m: A, b_v: A, hyper: A, step: int
) -> None:
    dw, db = _weight_gradients(x, dz, w, step)
    adam(w, w_m, w_v, dw, hyper)
    adam(b, b_m, b_v, db, hyper)
