"""Twins of kernels/gather.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def GatherWindows(
    *, rows: A, starts: A, step: A, out: A, units: int, batch_size: int, offset: int, at: int
) -> None:
    batch = len(out)
    first = starts[step[1] * batch_size : step[1] * batch_size + batch] + offset
    found = rows[first[:, None] + np.arange(units)].reshape(batch, -1)
    out[:, at : at + found.shape[1]] = found


GatherClasses = GatherWindows  # the same, over class numbers
