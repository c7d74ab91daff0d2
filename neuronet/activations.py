"""Activation functions, numbered as in NeuroNet's kernels (ENUM_ACTIVATION); new ones follow."""

from __future__ import annotations

from enum import IntEnum


class Activation(IntEnum):
    """The code that kernels receive as ``activation``.

    Formulas are in ``kernels/common.cl`` and, for NumPy, ``reference/activation.py``.
    """

    NONE = -1
    TANH = 0
    SIGMOID = 1
    LRELU = 2
    SOFTPLUS = 3
    GELU = 4
    SILU = 5
    RELU = 6

    @property
    def needs_input(self) -> bool:
        """Whether the derivative needs the pre-activation, because the output does not tell it."""
        return self in (Activation.GELU, Activation.SILU)
