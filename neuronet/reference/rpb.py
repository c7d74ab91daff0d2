"""Twins of kernels/rpb.cl: the gradient of a relative-position bias, and its Adam step."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from neuronet.reference.adam import adam

A = NDArray[Any]


def RPBGradient(*, dscore: A, dw: A) -> None:
    dw += dscore.sum(0)


def RPBUpdateAdam(*, dscore: A, w: A, m: A, v: A, hyper: A) -> None:
    adam(w, m, v, dscore.sum(0), hyper)
