"""Twins of kernels/activation.cl, and the activation formulas for the other twins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.activations import Activation

A = NDArray[Any]
GELU_SCALE, GELU_CUBIC = math.sqrt(2 / math.pi), 0.044715  # arXiv:1606.08415, eq. 2


def sigmoid(z: A) -> Any:
    e = np.exp(-np.abs(z))  # never overflows
    return np.where(z >= 0, 1, e) / (1 + e)


def activate(z: A, activation: int) -> Any:
    """act(z), in z's dtype."""
    match activation:
        case Activation.TANH:
            return np.tanh(z)
        case Activation.SIGMOID:
            return sigmoid(z)
        case Activation.LRELU:
            return np.where(z < 0, z * z.dtype.type(0.01), z)
        case Activation.SOFTPLUS:
            return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))
        case Activation.GELU:
            return z * sigmoid(2 * GELU_SCALE * (z + GELU_CUBIC * z * z * z))
        case Activation.SILU:
            return z * sigmoid(z)
        case Activation.RELU:
            return np.where(z < 0, z.dtype.type(0), z)
    return z


def activation_gradient(s: A, activation: int) -> Any:
    """act'(z) from ``s``: the output act(z), or z itself for GELU and SILU."""
    one = s.dtype.type(1)
    match activation:
        case Activation.TANH:
            return 1 - s * s
        case Activation.SIGMOID:
            return s * (1 - s)
        case Activation.LRELU:
            return np.where(s < 0, s.dtype.type(0.01), one)
        case Activation.SOFTPLUS:
            return -np.expm1(-s)
        case Activation.GELU:
            v = 2 * GELU_SCALE * (s + GELU_CUBIC * s * s * s)
            inner = 2 * GELU_SCALE * (1 + 3 * GELU_CUBIC * s * s)
            return sigmoid(v) * (1 + s * sigmoid(-v) * inner)  # 1 - tanh^2 would cancel
        case Activation.SILU:
            e = sigmoid(s)
            return e * (1 + s * (1 - e))
        case Activation.RELU:
            return np.where(s > 0, one, s.dtype.type(0))
    return np.ones_like(s)


def Activate(*, z: A, y: A, activation: int) -> None:
    y[...] = activate(z, activation)


def DeActivation(*, s: A, dy: A, dz: A, activation: int) -> None:
    dz[...] = dy * activation_gradient(s, activation)
