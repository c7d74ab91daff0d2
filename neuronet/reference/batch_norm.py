"""Twins of kernels/batch_norm.cl: normalisation over the samples of a batch, or over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.activation import activate

A = NDArray[Any]


def BatchStatistics(
    *,
    x: A,
    mean: A,
    scale: A,
    running_mean: A,
    running_variance: A,
    count: A,
    batch_size: int,
    eps: float,
) -> None:
    batch = len(x)
    mean[...] = x.mean(0)
    squares = ((x - mean) ** 2).sum(0)
    scale[...] = 1 / np.sqrt(squares / batch + eps)
    total = np.maximum(batch, np.minimum(count + batch, batch_size))
    running_mean += (mean - running_mean) * (batch / total)
    running_variance += (squares / (batch - 1) - running_variance) * (batch / total)
    count[...] = total


def RunningStatistics(*, x: A, mean: A, variance: A, count: A, scale: A, batch_size: int, eps: float) -> None:
    total = np.minimum(count + 1, batch_size)
    mean += (x - mean) / total
    variance += ((x - mean) ** 2 - variance) / total
    scale[...] = 1 / np.sqrt(variance + eps)
    count[...] = total


def BatchScale(*, variance: A, scale: A, eps: float) -> None:
    scale[...] = 1 / np.sqrt(variance + eps)


def BatchFeedForward(*, x: A, mean: A, scale: A, gamma: A, beta: A, y: A, activation: int) -> None:
    y[...] = activate(gamma * ((x - mean) * scale) + beta, activation)


def BatchGradientSums(*, x: A, dz: A, mean: A, scale: A, sums: A) -> None:
    sums[0] = dz.sum(0)
    sums[1] = (dz * (x - mean)).sum(0) * scale


def CalcHiddenGradientBatch(
    *, x: A, dz: A, mean: A, scale: A, gamma: A, sums: A, dx: A, share: float
) -> None:
    nx = (x - mean) * scale
    dx[...] = gamma * scale * (dz - (sums[0] + nx * sums[1]) * share)


def CalcHiddenGradientRunning(*, x: A, dz: A, mean: A, scale: A, gamma: A, count: A, dx: A) -> None:
    nx = (x - mean) * scale
    dx[...] = dz * gamma * scale * ((count - 1) / count) * (1 - nx * nx / count)


def WeightGradientBatch(*, sums: A, dgamma: A, dbeta: A) -> None:
    dbeta += sums[0]
    dgamma += sums[1]
