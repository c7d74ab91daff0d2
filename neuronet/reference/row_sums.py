"""Twin of kernels/row_sums.cl: sums over the rows of a matrix."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

A = NDArray[Any]


def AddRowSums(*, matrix: A, target: A) -> None:
    target += matrix.sum(0)
