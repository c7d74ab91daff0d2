"""Twin of kernels/soft_update.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def SoftUpdate(*, target: A, source: A, tau: float) -> None:
    target += target.dtype.type(tau) * np.subtract(source, target)
