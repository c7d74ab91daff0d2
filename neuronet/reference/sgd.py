"""Twin of kernels/sgd.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.adam import BETA1, GO, L1, L2, LR

A = NDArray[Any]


def SgdStep(*, w: A, g: A, m: A, hyper: A) -> None:
    if hyper[GO] != 0:
        m[...] = hyper[BETA1] * m + g
        w -= hyper[LR] * (m + hyper[L2] * w + hyper[L1] * np.sign(w))
    g[...] = 0
