"""Twins of kernels/rev_in.cl: reversible instance normalisation and its reverse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def _normalized(x: A, mean: A, deviation: A) -> A:
    nx: A = (x - mean[:, None]) / deviation[:, None]
    return nx


def RevInStatistics(*, x: A, mean: A, deviation: A, eps: float) -> None:
    mean[...] = x.mean(1)
    deviation[...] = np.sqrt(x.var(1) + eps)


def RevInNormalize(*, x: A, mean: A, deviation: A, gamma: A, beta: A, y: A) -> None:
    y[...] = gamma * _normalized(x, mean, deviation) + beta


def RevInGradientSums(*, x: A, dy: A, mean: A, deviation: A, sums: A) -> None:
    sums[:, 0] = dy.sum(1)
    sums[:, 1] = (dy * _normalized(x, mean, deviation)).sum(1)


def RevInNormalizeGradient(
    *, x: A, dy: A, mean: A, deviation: A, gamma: A, sums: A, dmean: A, ddeviation: A, dx: A
) -> None:
    units, nx = x.shape[1], _normalized(x, mean, deviation)
    direct = dy - (sums[:, :1] + nx * sums[:, 1:]) / units
    dx[...] = gamma / deviation[:, None] * direct + (dmean[:, None] + nx * ddeviation[:, None]) / units


def RevInWeightGradient(*, sums: A, dgamma: A, dbeta: A) -> None:
    dbeta += sums[:, 0].sum(0)
    dgamma += sums[:, 1].sum(0)


def RevInFeedForward(*, y: A, mean: A, deviation: A, gamma: A, beta: A, x: A, feature: int) -> None:
    f = slice(feature, feature + y.shape[2])
    x[...] = (y - beta[f]) / gamma[f] * deviation[:, None, f] + mean[:, None, f]


def RevInHiddenGradient(*, dx: A, deviation: A, gamma: A, dy: A, feature: int) -> None:
    f = slice(feature, feature + dx.shape[2])
    dy[...] = dx * deviation[:, None, f] / gamma[f]


def RevInStatisticsGradient(*, y: A, dx: A, gamma: A, beta: A, dmean: A, ddeviation: A, feature: int) -> None:
    f = slice(feature, feature + y.shape[2])
    dmean[:, f] = dx.sum(1)
    ddeviation[:, f] = (dx * (y - beta[f])).sum(1) / gamma[f]


def RevInDenormWeightGradient(
    *,
    deviation: A,
    gamma: A,
    dmean: A,
    ddeviation: A,
    dgamma: A,
    dbeta: A,
    columns: int,
    feature: int,
) -> None:
    f = slice(feature, feature + columns)
    dbeta[f] -= (deviation[:, f] * dmean[:, f]).sum(0) / gamma[f]
    dgamma[f] -= (deviation[:, f] * ddeviation[:, f]).sum(0) / gamma[f]
