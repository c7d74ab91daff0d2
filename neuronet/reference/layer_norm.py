"""Twins of kernels/layer_norm.cl: normalisation of each unit over its own window."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def _normalized(x: A, mean: A, scale: A) -> A:
    nx: A = (x - mean[:, None]) * scale[:, None]
    return nx


def NormalizeStatistics(*, x: A, mean: A, scale: A, eps: float) -> None:
    mean[...] = x.mean(1)
    scale[...] = 1 / np.sqrt(x.var(1) + eps)


def Normalize(*, x: A, mean: A, scale: A, gamma: A, beta: A, y: A) -> None:
    y[...] = gamma * _normalized(x, mean, scale) + beta


def NormalizeGradientSums(*, x: A, dy: A, mean: A, scale: A, gamma: A, sums: A) -> None:
    sums[0] = (gamma * dy).mean(1)
    sums[1] = (gamma * dy * _normalized(x, mean, scale)).mean(1)


def NormalizeGradient(*, x: A, dy: A, mean: A, scale: A, gamma: A, sums: A, dx: A) -> None:
    nx = _normalized(x, mean, scale)
    dx[...] = scale[:, None] * (gamma * dy - sums[0][:, None] - nx * sums[1][:, None])


def NormalizeWeightParts(*, x: A, dy: A, mean: A, scale: A, parts: A) -> None:
    nx = _normalized(x, mean, scale)
    length = -(-len(x) // len(parts))
    for c, part in enumerate(parts):
        rows = slice(c * length, (c + 1) * length)
        part[0] = dy[rows].sum(0)
        part[1] = (dy[rows] * nx[rows]).sum(0)


def NormalizeWeightGradient(*, parts: A, dgamma: A, dbeta: A) -> None:
    dbeta += parts[:, 0].sum(0)
    dgamma += parts[:, 1].sum(0)


def NormalizeRows(*, x: A, gamma: A, beta: A, mean: A, scale: A, y: A, eps: float) -> None:
    NormalizeStatistics(x=x, mean=mean, scale=scale, eps=eps)
    Normalize(x=x, mean=mean, scale=scale, gamma=gamma, beta=beta, y=y)


def NormalizeRowsGradient(*, x: A, dy: A, mean: A, scale: A, gamma: A, sums: A, dx: A) -> None:
    NormalizeGradientSums(x=x, dy=dy, mean=mean, scale=scale, gamma=gamma, sums=sums)
    NormalizeGradient(x=x, dy=dy, mean=mean, scale=scale, gamma=gamma, sums=sums, dx=dx)
