"""VUS-ROC and VUS-PR: areas under the curve for runs of anomalies whose edges are soft."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.anomaly.labels import Flags, Floats, pair, runs
from neuronet.errors import DataError

THRESHOLDS = 250


@dataclass(frozen=True)
class Vus:
    """Volumes under the ROC and the precision-recall surface, 0..1; ``window``: see ``vus``."""

    roc: float
    pr: float
    window: int


def vus(
    scores: Floats, labels: object, *, window: int | None = None, thresholds: int = THRESHOLDS
) -> Vus | None:
    """Return the mean of range-AUC-ROC and of range-AUC-PR over the buffers 0, 1, ... 2 x window.

    scores, labels  [rows]; labels 0 or 1. None when they hold one class only
    window          rows; None is the median length of the labelled runs, rounded down, at least 1
    thresholds      score levels that are looked at, evenly spread over the sorted scores

    For a buffer b each run gets soft labels on its b // 2 rows to either side: sqrt(1 - d / b) at distance d,
    added where two overlap, at most 1. With these labels l and the rows p at or above a level, with

        TP = sum l p                P = (rows labelled + sum l) / 2
        E  = share of the runs of l > 0 in which some row is in p
        TPR = min(TP / P, 1) E      FPR = (sum p - TP) / (rows - P)      precision = TP / sum p

    the areas are sums of trapezoids from (0, 0), and for the ROC to (1, 1); the precision begins at 1.
    With buffer 0 runs must still be hit for a TPR of 1, so even then it is not the AUC of single rows.

    Paparrizos et al., Volume Under the Surface: A New Accuracy Evaluation Measure for Time-Series Anomaly
    Detection, PVLDB 15, 2022, with P and trapezoids as in TSB-UAD's code (get_range_vus_roc); the
    VUS package's later "opt" version counts buffers of runs that are not hit differently. Here a buffer costs
    O(rows) by running sums over the sorted scores, not O(rows x thresholds).

    Raises DataError for scores and labels that do not fit, window < 0 or fewer than 2 thresholds.
    """
    values, truth = pair(scores, labels)
    if (window is not None and window < 0) or thresholds < 2:
        raise DataError(
            f"window {window}, {thresholds} thresholds",
            where="vus",
            fix="choose a window >= 0 and at least 2 thresholds",
        )
    if truth.all() or not truth.any():
        return None
    spans = runs(truth)
    if window is None:
        window = max(1, int(np.median(spans[:, 1] - spans[:, 0])))
    order = np.argsort(-values, kind="stable")
    falling = values[order]
    level = falling[np.linspace(0, len(values) - 1, thresholds).astype(int)]
    alarms = np.searchsorted(-falling, -level, side="right")  # rows at or above each level
    areas = [_areas(values, truth, spans, order, level, alarms, b) for b in range(2 * window + 1)]
    roc, pr = np.mean(areas, axis=0)
    return Vus(float(roc), float(pr), window)


def soften(truth: Flags, spans: NDArray[np.int64], buffer: int) -> Floats:
    """Return labels with soft edges, [rows]: see ``vus``."""
    soft = truth.astype(np.float64)
    distance = np.arange(1, buffer // 2 + 1)
    weight = np.sqrt(1.0 - distance / buffer) if buffer else np.zeros(0)
    for first, end in spans:
        after = distance[: max(len(truth) - end, 0)]
        soft[end - 1 + after] += weight[: len(after)]
        before = distance[:first]
        soft[first - before] += weight[: len(before)]
    return np.minimum(soft, 1.0)


def _areas(
    values: Floats,
    truth: Flags,
    spans: NDArray[np.int64],
    order: NDArray[np.int64],
    level: Floats,
    alarms: NDArray[np.int64],
    buffer: int,
) -> tuple[float, float]:
    soft = soften(truth, spans, buffer)
    hits = np.cumsum(soft[order])[alarms - 1]
    peaks = np.sort([values[first:end].max() for first, end in runs(soft > 0.0)])
    found = 1.0 - np.searchsorted(peaks, level, side="left") / len(peaks)
    positive = (truth.sum() + soft.sum()) / 2.0
    recall = np.minimum(hits / positive, 1.0) * found
    false = (alarms - hits) / (len(values) - positive)
    precision = np.concatenate([[1.0], hits / alarms])
    recall = np.concatenate([[0.0], recall])
    roc = _trapezoids(np.concatenate([[0.0], false, [1.0]]), np.append(recall, 1.0))
    return roc, _trapezoids(recall, precision)


def _trapezoids(x: Floats, y: Floats) -> float:
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2.0)
