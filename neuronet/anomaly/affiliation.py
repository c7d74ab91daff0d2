"""Affiliation precision and recall: how near alarms are to labelled runs, against alarms thrown at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.anomaly.labels import flags, runs
from neuronet.errors import DataError

Spans = NDArray[np.float64]


@dataclass(frozen=True)
class Affiliation:
    """precision (None without an alarm), recall and their harmonic mean f1, each 0..1."""

    precision: float | None
    recall: float
    f1: float


def affiliation(alarms: object, labels: object) -> Affiliation | None:
    """Return the affiliation metrics of alarms against labels, both [rows] of 0 or 1.

    Row i is the interval [i, i + 1). The line is cut in the middle between neighbouring labelled runs: each
    run J has a zone E of the places that are nearest to it, and only the alarms in there are its own. With X
    uniform in E,

        precision of J = mean over the places a in its alarms of P(dist(X, J) >= dist(a, J))
        recall of J    = mean over the places y in J of P(|X - y| >= dist(y, its alarms)), 0 without alarms

    and the metrics are means over the runs: for the precision, over those whose zone has an alarm. All
    integrals are exact. None when the labels hold one class only.

    An alarm at random has a precision of 0.5 and more, and a few rows that hit give the best values,
    however much they miss: a recall of 1% of the rows can have a high F1 here. Look at the plain F1 too.

    Raises DataError for shapes that differ. Huet, Navarro & Rossi, Local Evaluation of Time Series Anomaly
    Detection Algorithms, KDD 2022.
    """
    flagged, truth = flags(alarms, "alarms"), flags(labels)
    if flagged.shape != truth.shape:
        raise DataError(
            f"alarms {flagged.shape}, labels {truth.shape}",
            where="affiliation",
            fix="give one for each label",
        )
    if truth.all() or not truth.any():
        return None
    events, found = runs(truth).astype(np.float64), runs(flagged).astype(np.float64)
    middle = (events[:-1, 1] + events[1:, 0]) / 2.0
    edges = np.concatenate([[0.0], middle, [float(len(truth))]])
    precision, recall = [], []
    for (first, end), left, right in zip(events, edges[:-1], edges[1:], strict=True):
        own = np.clip(found, left, right)
        own = own[own[:, 1] > own[:, 0]]
        if len(own):
            precision.append(_precision(own, first, end, left, right))
        recall.append(_recall(own, first, end, left, right) if len(own) else 0.0)
    r = float(np.mean(recall))
    if not precision:
        return Affiliation(None, r, 0.0)
    p = float(np.mean(precision))
    return Affiliation(p, r, 2.0 * p * r / (p + r) if p + r > 0.0 else 0.0)


def _precision(own: Spans, first: float, end: float, left: float, right: float) -> float:
    """Mean of P(dist(X, J) >= d) over the places of ``own``, for J = [first, end] in E = [left, right]."""
    before, after = first - left, right - end

    def area(low: float, high: float) -> float:
        """Integral over d in [low, high] of |{x in E: dist(x, J) >= d}| = (before - d)+ + (after - d)+."""
        both = 0.0
        for size in (before, after):
            a, b = min(low, size), min(high, size)
            both += size * (b - a) - (b * b - a * a) / 2.0
        return both

    total = 0.0
    for a, b in own:
        total += max(0.0, min(b, end) - max(a, first)) * (right - left)  # inside: distance 0, P = 1
        if a < first:
            total += area(first - min(b, first), first - a)
        if b > end:
            total += area(max(a, end) - end, b - end)
    return float(total / ((right - left) * np.sum(own[:, 1] - own[:, 0])))


def _recall(own: Spans, first: float, end: float, left: float, right: float) -> float:
    """Mean over y in [first, end] of P(|X - y| >= distance of y to ``own``), X uniform in [left, right]."""

    def ramp(low: float, high: float, zero: float) -> float:
        """Integral over y in [low, high] of (2 y - zero)+."""
        return (max(2.0 * high - zero, 0.0) ** 2 - max(2.0 * low - zero, 0.0) ** 2) / 4.0

    total = 0.0
    for a, b in own:  # inside an alarm: distance 0
        total += max(0.0, min(b, end) - max(a, first)) * (right - left)
    # Places between alarms belong to the nearer one: `ahead` is at their right, `behind` at their left.
    middle = (own[:-1, 1] + own[1:, 0]) / 2.0
    for a, low in zip(own[:, 0], np.concatenate([[-np.inf], middle]), strict=True):
        low, high = max(first, low), min(end, a)
        if low < high:  # d = a - y: X beyond a, or below 2 y - a
            total += (high - low) * (right - a) + ramp(low, high, a + left)
    for b, high in zip(own[:, 1], np.concatenate([middle, [np.inf]]), strict=True):
        low, high = max(first, b), min(end, high)
        if low < high:  # d = y - b: X below b, or beyond 2 y - b, the mirror image
            total += (high - low) * (b - left) + ramp(-high, -low, -b - right)
    return float(total / ((right - left) * (end - first)))
