"""Twins of kernels/loss.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.reference.adam import GO

A = NDArray[Any]
MSE, MAE, HUBER = range(3)  # as LOSS_* in loss.cl


def _finish(mean: Any, rows: int, loss: A, hyper: A, step: A) -> None:
    loss[0] += mean * rows
    loss[1] = mean
    if not np.isfinite(mean) and hyper[GO] != 0:
        hyper[GO] = 0
        step[2] = step[1]


def _value_and_slope(e: A, kind: int, delta: float) -> tuple[A, A]:
    a = np.abs(e)
    if kind == MSE:
        return e * e, 2 * e
    if kind == MAE:
        return a, np.sign(e)
    return np.where(a > delta, delta * (a - 0.5 * delta), 0.5 * e * e), np.clip(e, -delta, delta)


def CalcOutputGradient(
    *, y: A, target: A, dy: A, loss: A, hyper: A, step: A, kind: int, delta: float
) -> None:
    value, slope = _value_and_slope(y - target, kind, delta)
    dy[...] = slope / y.size
    _finish(value.mean(), len(y), loss, hyper, step)


def OutputGradientParts(*, y: A, target: A, dy: A, sums: A, kind: int, delta: float) -> None:
    value, slope = _value_and_slope(y - target, kind, delta)
    dy[...] = slope / y.size
    length = -(-len(y) // len(sums))
    for part in range(len(sums)):
        sums[part] = value[part * length : (part + 1) * length].sum()


def FinishLoss(*, sums: A, loss: A, hyper: A, step: A, count: int, rows: int) -> None:
    _finish(sums.sum() / count, rows, loss, hyper, step)


def AddPenalty(*, penalty: A, loss: A, hyper: A, step: A) -> None:
    before = loss[1]
    _finish(penalty.mean(), len(penalty), loss, hyper, step)
    loss[1] += before


def CalcOutputGradientQuantile(*, y: A, target: A, levels: A, dy: A, loss: A, hyper: A, step: A) -> None:
    e = target[..., None] - y
    value = np.where(e > 0, levels * e, (levels - 1) * e)
    dy[...] = np.where(e > 0, -levels, np.where(e < 0, 1 - levels, 0)) / e.size
    _finish(value.mean(), len(y), loss, hyper, step)


def CalcOutputGradientCrossEntropy(*, y: A, target: A, dy: A, loss: A, hyper: A, step: A) -> None:
    rows = np.arange(len(y))
    shifted = y - y.max(axis=1, keepdims=True)
    e = np.exp(shifted)
    total = e.sum(axis=1, keepdims=True)
    p = e / total
    p[rows, target] -= 1
    dy[...] = p / len(y)
    _finish((np.log(total[:, 0]) - shifted[rows, target]).mean(), len(y), loss, hyper, step)


def CalcOutputGradientPolicy(*, y: A, target: A, dy: A, loss: A, hyper: A, step: A) -> None:
    gain, cost, follows = target.T
    p = np.tanh(y)
    cost = cost[1:] * (follows[1:] != 0)  # of the change into rows 1, 2, ...
    change = np.diff(p)
    dp = -gain
    dp[1:] += cost * np.sign(change)
    dp[:-1] -= cost * np.sign(change)
    dy[...] = dp * (1 - p * p) / len(y)
    _finish(((cost * np.abs(change)).sum() - (gain * p).sum()) / len(y), len(y), loss, hyper, step)


def CalcOutputGradientAction(
    *, y: A, target: A, dy: A, loss: A, hyper: A, step: A, weight: float, delta: float
) -> None:
    came = target[:, :1] == np.arange(3)
    shifted = y[:, :3] - y[:, :3].max(axis=1, keepdims=True)
    e = np.exp(shifted)
    total = e.sum(axis=1, keepdims=True)
    value, slope = _value_and_slope(y[:, 3:] - target[:, 1:], HUBER, delta)
    dy[:, :3] = (e / total - came) / len(y)
    dy[:, 3:] = weight * slope / (2 * len(y))
    rows = np.log(total[:, 0]) - np.where(came, shifted, 0).sum(axis=1) + weight * value.mean(axis=1)
    _finish(rows.mean(), len(y), loss, hyper, step)
