"""Twins of kernels/batch_norm.cl: normalisation over the samples of a batch, or over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.activation import activate

A = NDArray[Any]


def BatchStatistics(
    *, x: A, mean: A, variance: A, running_mean: A, running_variance: A, count: A, batch_size: int
) -> None:
    batch = len(x)
    mean[...] = x.mean(0)
    squares = ((x - mean) ** 2).sum(0)
    variance[...] = squares / batch
    total = np.maximum(batch, np.minimum(count + batch, batch_size))
    running_mean += (mean - running_mean) * (batch / total)
    running_variance += (squares / (batch - 1) - running_variance) * (batch / total)
    count[...] = total


def RunningStatistics(*, x: A, mean: A, variance: A, count: A, batch_size: int) -> None:
    total = np.minimum(count + 1, batch_size)
    mean += (x - mean) / total
    variance += ((x - mean) ** 2 - variance) / total
    count[...] = total


def BatchFeedForward(
    *, x: A, mean: A, variance: A, gamma: A, beta: A, y: A, eps: float, activation: int
) -> None:
    y[...] = activate(gamma * ((x - mean) / np.sqrt(variance + eps)) + beta, activation)


def BatchGradientSums(*, x: A, dz: A, mean: A, variance: A, sums: A, eps: float) -> None:
    sums[0] = dz.sum(0)
    sums[1] = (dz * (x - mean)).sum(0) / np.sqrt(variance + eps)


def CalcHiddenGradientBatch(
    *, x: A, dz: A, mean: A, variance: A, gamma: A, sums: A, dx: A, eps: float, share: float
) -> None:
    deviation = np.sqrt(variance + eps)
    nx = (x - mean) / deviation
    dx[...] = gamma / deviation * (dz - (sums[0] + nx * sums[1]) * share)


def CalcHiddenGradientRunning(
    *, x: A, dz: A, mean: A, variance: A, gamma: A, count: A, dx: A, eps: float
) -> None:
    deviation = np.sqrt(variance + eps)
    nx = (x - mean) / deviation
    dx[...] = dz * gamma / deviation * ((count - 1) / count) * (1 - nx * nx / count)


def WeightGradientBatch(*, sums: A, dgamma: A, dbeta: A) -> None:
    dbeta += sums[0]
    dgamma += sums[1]
