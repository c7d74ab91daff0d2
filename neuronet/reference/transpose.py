"""Twin of kernels/transpose.cl."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

A = NDArray[Any]


def Transpose(*, matrix_in: A, matrix_out: A) -> None:
    matrix_out[...] = matrix_in.transpose(0, 2, 1)


def TransposeRCD(*, matrix_in: A, matrix_out: A) -> None:
    matrix_out[...] = matrix_in.swapaxes(1, 2)
