"""Twins of kernels/elementwise.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def SumMatrix(*, matrix1: A, matrix2: A, matrix_out: A, multiplyer: float) -> None:
    np.add(matrix1, matrix2, out=matrix_out)
    if multiplyer != 1:
        matrix_out *= matrix_out.dtype.type(multiplyer)


def Copy(*, source: A, target: A) -> None:
    target[...] = source
