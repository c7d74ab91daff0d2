"""Twin of kernels/spectrum_loss.cl: the mean modulus of the differences of two spectra."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]
TINY = 1e-12


def SpectrumLoss(*, y: A, target: A, value: A, dy: A, add: int, weight: float) -> None:
    e = y - target
    square = (e**2).sum(-1, keepdims=True)
    g = weight * e / np.sqrt(square + TINY) / square.size
    dy[...] = dy + g if add else g
    value[...] = weight * np.sqrt(square).mean((1, 2, 3))
