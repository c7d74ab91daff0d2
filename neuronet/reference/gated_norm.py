"""Twins of kernels/gated_norm.cl: values times a gate, each unit divided by its root mean square."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.activations import Activation
from neuronet.reference.activation import activate, activation_gradient

A = NDArray[Any]


def GatedNorm(*, x: A, rows: A, w: A, scale: A, y: A, eps: float) -> None:
    u = x * activate(rows[:, : len(w)], Activation.SILU)
    scale[...] = 1 / np.sqrt((u * u).mean(1) + eps)
    y[...] = w * u * scale[:, None]


def GatedNormGradient(*, x: A, rows: A, w: A, scale: A, dy: A, dx: A, drows: A, parts: A) -> None:
    z, s = rows[:, : len(w)], scale[:, None]
    gate = activate(z, Activation.SILU)
    u = x * gate
    du = s * (w * dy - u * s**2 * (w * dy * u).mean(1, keepdims=True))
    dx[...] = du * gate
    drows[:, : len(w)] = du * x * activation_gradient(z, Activation.SILU)
    length = -(-len(x) // len(parts))
    for c, part in enumerate(parts):
        stretch = slice(c * length, (c + 1) * length)
        part[...] = (dy * u * s)[stretch].sum(0)
