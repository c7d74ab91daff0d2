"""Twin of kernels/dropout.cl, and Philox, its random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def philox(counter: A, key: tuple[int, int]) -> A:
    """Philox 4x32-10 of uint32 counters [n, 4]: uint32 [n, 4]. Salmon et al., SC 2011."""
    x0, x1, x2, x3 = counter.T.astype(np.uint64)
    k0, k1 = key
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        product0, product1 = x0 * np.uint64(0xD2511F53), x2 * np.uint64(0xCD9E8D57)
        x0, x1 = (product1 >> np.uint64(32)) ^ x1 ^ np.uint64(k0), product1 & low
        x2, x3 = (product0 >> np.uint64(32)) ^ x3 ^ np.uint64(k1), product0 & low
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack((x0, x1, x2, x3), axis=1).astype(np.uint32)


def random_bits(n: int, key: int, step: int) -> A:
    """uint32 [n]: the random number of each element."""
    groups = -(-n // 1024)
    counter = np.zeros((groups * 256, 4), np.uint32)
    counter[:, 0] = np.arange(groups * 256)
    words = philox(counter, (key & 0xFFFFFFFF, step & 0xFFFFFFFF))
    return words.reshape(groups, 256, 4).transpose(0, 2, 1).reshape(-1)[:n]


def Dropout(*, inputs: A, key: A, step: A, out: A, threshold: int, scale: float) -> None:
    bits = random_bits(inputs.size, int(key[0]), int(step[0]))
    out[...] = np.where(bits < threshold, 0, inputs * inputs.dtype.type(scale))
