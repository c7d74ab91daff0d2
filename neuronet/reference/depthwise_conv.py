"""Twins of kernels/depthwise_conv.cl: convolution over time, each channel with taps of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]
STRETCH = 64


def _seen(x: A, tail: A, taps: int, before: int) -> list[A]:
    """What tap k sees of every unit: [batch, length, channels] for each k."""
    padded = np.concatenate([tail, x, np.zeros_like(tail)], axis=1)
    first = tail.shape[1] - before
    return [padded[:, first + k : first + k + x.shape[1]] for k in range(taps)]


def DepthwiseConv(*, x: A, tail: A, w: A, b: A, y: A, before: int) -> None:
    y[...] = b + sum(w[k] * seen for k, seen in enumerate(_seen(x, tail, len(w), before)))


def DepthwiseConvInput(*, dy: A, w: A, dx: A, before: int) -> None:
    taps, length = len(w), dy.shape[1]
    none = np.zeros((len(dy), taps, dy.shape[2]), dy.dtype)
    padded = np.concatenate([none, dy, none], axis=1)
    dx[...] = sum(w[k] * padded[:, taps + before - k : taps + before - k + length] for k in range(taps))


def DepthwiseConvWeights(*, x: A, tail: A, dy: A, w_parts: A, b_parts: A, before: int) -> None:
    taps = w_parts.shape[2]
    for part in range(b_parts.shape[1]):
        units = slice(part * STRETCH, (part + 1) * STRETCH)
        b_parts[:, part] = dy[:, units].sum(1)
        for k, seen in enumerate(_seen(x, tail, taps, before)):
            w_parts[:, part, k] = (dy * seen)[:, units].sum(1)


def DepthwiseConvKeep(*, x: A, tail: A) -> None:
    tail[...] = np.concatenate([tail, x], axis=1)[:, -tail.shape[1] :]
