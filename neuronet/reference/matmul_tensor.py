"""Twins of kernels/matmul_tensor.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.matmul_gpu import MatMultWide

A = NDArray[Any]

MatMultTensorWide = MatMultTensorNarrow = MatMultWide


def tf32(x: A) -> A:
    """To the nearest number with 10 bits behind the point; halves away from zero."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
    return np.where(np.isfinite(x), rounded, x).astype(x.dtype)


def MatMultTF32(
    *, a: A, b: A, bias: A, c: A, turned_a: int, turned_b: int, biased: int, activation: int
) -> None:
    MatMultWide(
        a=tf32(a),
        b=tf32(b),
        bias=bias,
        c=c,
        turned_a=turned_a,
        turned_b=turned_b,
        biased=biased,
        activation=activation,
    )
