"""Twins of kernels/matmul.cl: products of matrices, one pair per variable, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def MatMult(*, a: A, b: A, c: A) -> None:
    np.matmul(a, b, out=c)


def MatMultGradA(*, dc: A, b: A, da: A) -> None:
    np.matmul(dc, b.swapaxes(1, 2), out=da)


def MatMultGradB(*, a: A, dc: A, db: A) -> None:
    np.matmul(a.swapaxes(1, 2), dc, out=db)
