"""Masked attention with a whole head in local memory, on a GPU. Kernels: kernels/mask_attention_small.cl.

Shapes as in mask_attention_complex.py and mask_attention_gradients.py, which run them where they fit.
"""

from __future__ import annotations

from typing import Literal

DIMENSION = 16  # complex numbers of a vector, at most


def size_for(units: int, dimension: int) -> Literal["", "20", "32"]:
    """Up to how many units the kernel has that fits, the end of its name; none fits: nothing."""
    if dimension > DIMENSION or units > 32:
        return ""
    return "20" if units <= 20 else "32"
