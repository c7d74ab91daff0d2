"""Labels of a test part: checked once, as runs, and the reason when a metric is not defined for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import DataError

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def flags(labels: object, where: str = "labels") -> Flags:
    """Return labels [rows] as bool. DataError unless they are one-dimensional and 0 or 1 (or bool)."""
    array = np.asarray(labels)
    if array.ndim != 1 or not len(array):
        raise DataError(f"they have shape {array.shape}", where=where, fix="give [rows], at least one")
    if array.dtype != bool and not np.isin(array, (0, 1)).all():
        odd = array[~np.isin(array, (0, 1))][0]
        raise DataError(f"there is a {odd!r}", where=where, fix="give 0 for normal and 1 for anomalous rows")
    return array.astype(bool)


def pair(scores: object, labels: object) -> tuple[Floats, Flags]:
    """Return scores as float64 and labels as bool, [rows]. DataError unless they fit and are finite."""
    truth = flags(labels)
    values = np.asarray(scores, np.float64)
    if values.shape != truth.shape:
        raise DataError(
            f"scores {values.shape}, labels {truth.shape}",
            where="metrics",
            fix="give one score for each label",
        )
    bad = ~np.isfinite(values)
    if bad.any():
        raise DataError(
            f"{int(bad.sum())} of {len(values)} scores are not finite, first row {int(np.argmax(bad))}",
            where="metrics",
            fix="look at the model's output there",
        )
    return values, truth


def why_undefined(labels: object) -> str:
    """Return why metrics have no value for these labels, '' where they have."""
    truth = flags(labels)
    if not truth.any():
        return f"undefined, because none of {len(truth)} rows is labelled as an anomaly"
    if truth.all():
        return f"undefined, because all of {len(truth)} rows are labelled as anomalies"
    return ""


def runs(flagged: Flags) -> NDArray[np.int64]:
    """Return the runs of True as [runs, 2]: first row, and row after the last."""
    edges = np.diff(np.concatenate([[0], np.asarray(flagged, np.int8), [0]]))
    return np.stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)], axis=1)


def spans_flags(spans: NDArray[np.int64], rows: int) -> Flags:
    """Undo ``runs``."""
    found = np.zeros(rows, bool)
    for first, end in spans:
        found[first:end] = True
    return found
