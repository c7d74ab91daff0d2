"""Twins of kernels/flash_stca_combine.cl: puts together what the stretches of a history leave."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def MHFlashSTCACombine(*, top: A, total: A, sums: A, out: A, lse: A) -> None:
    most = top.max(1)
    w = np.where(top == -np.inf, 0, np.exp(top - most[:, None]))
    whole = (w * total).sum(1)
    empty = whole == 0
    out[...] = np.where(empty[..., None], 0, (w[..., None] * sums).sum(1) / whole[..., None])
    lse[...] = np.where(empty, np.inf, most + np.log(whole))


def MHFlashSTCAReduce(*, parts: A, du: A) -> None:
    du[...] = parts.sum(1)
