"""Metrics in NumPy, each with its definition: the same name means other numbers in other tools.

y is the truth and f the forecast, both [windows, horizon] log returns of the close,
log(close[t + k] / close[t]); ``close`` [windows] is close[t]. Every window and every step ahead count alike.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Classes = NDArray[np.integer[Any]]


def mae(f: Floats, y: Floats) -> float:
    """mean |f - y|."""
    return float(np.mean(np.abs(f - y)))


def rmse(f: Floats, y: Floats) -> float:
    """sqrt of mean (f - y)^2."""
    return math.sqrt(float(np.mean((f - y) ** 2)))


def skill(f: Floats, y: Floats, baseline: Floats | float = 0.0) -> float | None:
    """1 - sum (f - y)^2 / sum (baseline - y)^2; baseline 0 is 'no change'.

    1 is perfect, 0 no better than the baseline, below 0 worse; None when the baseline has no error.
    """
    worst = float(np.sum((baseline - y) ** 2))
    return 1.0 - float(np.sum((f - y) ** 2)) / worst if worst > 0.0 else None


def prices(close: Floats, returns: Floats, *, differences: bool = False) -> Floats:
    """Log returns, or ``differences``, [windows, horizon] after ``close`` [windows] as prices."""
    result: Floats = close[:, None] + returns if differences else close[:, None] * np.exp(returns)
    return result


def naive_error(close: Floats, m: int = 1) -> tuple[float | None, int]:
    """MASE's denominator: mean |close[t] - close[t - m]| over a history, and the number of terms.

    Hyndman & Koehler 2006. None when the history is flat or too short: MASE is then undefined, never filled.
    """
    steps = np.abs(close[m:] - close[:-m])
    return (float(steps.mean()), len(steps)) if len(steps) and steps.any() else (None, len(steps))


def mase(f_price: Floats, y_price: Floats, denominator: float | None) -> float | None:
    """mean |f - y| in price units / ``naive_error`` of the whole training part with m = 1."""
    return None if denominator is None else float(np.mean(np.abs(f_price - y_price))) / denominator


def smape(f_price: Floats, y_price: Floats) -> float:
    """mean of 2 |f - y| / (|y| + |f|), from 0 to 2; 0 where both are 0."""
    size = np.abs(y_price) + np.abs(f_price)
    return float(
        np.mean(np.divide(2.0 * np.abs(f_price - y_price), size, out=np.zeros_like(size), where=size > 0))
    )


def wilson(hits: float, n: float, z: float = 1.959964) -> tuple[float, float]:
    """95 % interval of a share ``hits`` / ``n``. Wilson 1927."""
    p = hits / n
    middle, spread = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)


def sign_hits(f: Floats, y: Floats) -> dict[str, Any] | None:
    """How often the sign of the last step's forecast is right, over windows where neither is 0.

    base_rate  share of the commoner sign: what always saying it would reach
    low, high  Wilson's interval for windows / horizon independent trials, because windows overlap

    None when the forecast is 0 everywhere, as the last value's is.
    """
    moved = (f[:, -1] != 0.0) & (y[:, -1] != 0.0)
    n = int(moved.sum())
    if not n:
        return None
    up = y[moved, -1] > 0.0
    hits, trials = float(np.mean((f[moved, -1] > 0.0) == up)), n / f.shape[1]
    low, high = wilson(hits * trials, trials)
    base = float(max(up.mean(), 1.0 - up.mean()))
    return {"accuracy": hits, "base_rate": base, "low": low, "high": high, "windows": n}


def log_loss(p: Floats, y: Classes) -> float:
    """mean of -log p[true class], p [windows, classes]; p counts as 1e-12 at least, so it is finite."""
    return float(-np.mean(np.log(np.maximum(p[np.arange(len(y)), y], 1e-12))))


def confusion(p: Floats, y: Classes) -> NDArray[np.int64]:
    """Counts [true class, most probable class]."""
    classes = p.shape[1]
    return np.bincount(y * classes + p.argmax(axis=1), minlength=classes**2).reshape(classes, classes)


def class_scores(p: Floats, y: Classes, horizon: int) -> dict[str, Any]:
    """accuracy with Wilson's interval (windows / horizon trials), balanced accuracy, log loss, confusion.

    balanced_accuracy  mean of the share found of each class that occurs
    base_rate          share of the commonest class
    """
    table = confusion(p, y)
    occurs = table.sum(axis=1)
    hits, trials = float(np.trace(table) / len(y)), len(y) / horizon
    low, high = wilson(hits * trials, trials)
    found = np.diag(table)[occurs > 0] / occurs[occurs > 0]
    return {
        "accuracy": hits,
        "low": low,
        "high": high,
        "base_rate": float(occurs.max() / len(y)),
        "balanced_accuracy": float(found.mean()),
        "log_loss": log_loss(p, y),
        "confusion": table.tolist(),
    }


def forecast_scores(
    f: Floats, y: Floats, close: Floats, denominator: float | None, *, differences: bool = False
) -> dict[str, Any]:
    """Every metric of a forecast; mae and rmse in log returns or differences, mae_price in price units."""
    f_price, y_price = (prices(close, values, differences=differences) for values in (f, y))
    return {
        "mae": mae(f, y),
        "rmse": rmse(f, y),
        "mae_price": mae(f_price, y_price),
        "mase": mase(f_price, y_price, denominator),
        "smape": smape(f_price, y_price),
        "skill": skill(f, y),
        "direction": sign_hits(f, y),
    }
