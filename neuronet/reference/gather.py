"""Twins of kernels/gather.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def GatherWindows(*, rows: A, starts: A, step: A, out: A, batch_size: int, offset: int) -> None:
    batch, units = out.shape[:2]
    first = starts[step[1] * batch_size : step[1] * batch_size + batch] + offset
    out[...] = rows[first[:, None] + np.arange(units)]


GatherClasses = GatherWindows  # the same, over class numbers
