"""Twins of kernels/causal_conv.cl: convolution over time with four taps for each channel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.activations import Activation
from neuronet.reference.activation import activate, activation_gradient

A = NDArray[Any]
TAPS, STRETCH = 4, 64


def _inputs(rows: A, tail: A, offset: int) -> A:
    """The steps of the tail and then all others: [batch, 3 + length, channels]."""
    return np.concatenate([tail, rows[:, :, offset : offset + tail.shape[2]]], axis=1)


def _sums(x: A, w: A, b: A) -> A:
    length = x.shape[1] - TAPS + 1
    z: A = b + sum(w[k] * x[:, k : k + length] for k in range(TAPS))
    return z


def CausalConv(*, rows: A, tail: A, w: A, b: A, y: A, offset: int) -> None:
    y[...] = activate(_sums(_inputs(rows, tail, offset), w, b), Activation.SILU)


def CausalConvGradient(
    *, rows: A, tail: A, w: A, b: A, dy: A, drows: A, w_parts: A, b_parts: A, offset: int
) -> None:
    x = _inputs(rows, tail, offset)
    dz = dy * activation_gradient(_sums(x, w, b), Activation.SILU)
    length, channels = dy.shape[1:]
    padded = np.concatenate([dz, np.zeros_like(tail)], axis=1)
    drows[:, :, offset : offset + channels] = sum(
        w[k] * padded[:, TAPS - 1 - k : TAPS - 1 - k + length] for k in range(TAPS)
    )
    for part in range(b_parts.shape[1]):
        begin, end = part * STRETCH, min((part + 1) * STRETCH, length)
        b_parts[:, part] = dz[:, begin:end].sum(1)
        for k in range(TAPS):
            w_parts[:, part, k] = (dz[:, begin:end] * x[:, begin + k : end + k]).sum(1)


def CausalConvKeep(*, rows: A, tail: A, offset: int) -> None:
    tail[...] = _inputs(rows, tail, offset)[:, -(TAPS - 1) :]
