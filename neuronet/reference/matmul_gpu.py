"""Twins of kernels/matmul_gpu.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.activation import activate

A = NDArray[Any]


def MatMultWide(
    *, a: A, b: A, bias: A, c: A, turned_a: int, turned_b: int, biased: int, activation: int
) -> None:
    left, right = (m.swapaxes(1, 2) if turned else m for m, turned in ((a, turned_a), (b, turned_b)))
    z = np.matmul(left, right)
    c[...] = activate(z + bias if biased else z, activation)


MatMultNarrow = MatMultRagged = MatMultWide
