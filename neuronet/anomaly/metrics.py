"""How well scores find labelled anomalies, row by row: AUC, average precision, F1, and a random control.

Nothing is adjusted: a run of anomalous rows that is hit once counts as one hit, not as found as a whole.
Such "point adjustment" lets random scores reach an F1 near 1 (Kim et al., Towards a Rigorous Evaluation of
Time-Series Anomaly Detection, AAAI 2022). Metrics of runs are in vus.py and affiliation.py.

A metric is None where it is not defined; ``why_undefined`` of the labels says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.anomaly.affiliation import Affiliation, affiliation
from neuronet.anomaly.labels import Flags, Floats, flags, pair, runs, why_undefined
from neuronet.anomaly.vus import vus
from neuronet.errors import DataError


def auc_roc(scores: Floats, labels: object) -> float | None:
    """Area under the ROC curve: P(score of an anomalous row > score of a normal one), ties count half.

    scores, labels  [rows]; labels 0 or 1. None when they hold one class only
    Hanley & McNeil, Radiology 143, 1982: the Mann-Whitney statistic.
    """
    values, truth = pair(scores, labels)
    positive, negative = int(truth.sum()), int((~truth).sum())
    if not positive or not negative:
        return None
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2.0  # the mean rank of equals, from 1 on
    above = float(rank[place][truth].sum()) - positive * (positive + 1) / 2.0
    return above / (positive * negative)


def auc_pr(scores: Floats, labels: object) -> float | None:
    """Average precision: sum over the thresholds of precision x (recall - recall of the threshold before).

    Equal scores are one threshold; there is no interpolation between thresholds, which would flatter.
    Random scores have the share of anomalous rows. None when the labels hold one class only.
    As scikit-learn's average_precision_score; Davis & Goadrich, ICML 2006, on interpolation.
    """
    values, truth = pair(scores, labels)
    if truth.all() or not truth.any():
        return None
    hits, alarms, _ = _thresholds(values, truth)
    return float(np.sum(hits / alarms * np.diff(hits, prepend=0)) / hits[-1])


@dataclass(frozen=True)
class F1:
    """F1 at a threshold: 2 hits / (alarms + anomalies), counted in rows.

    precision  hits / alarms; None without an alarm
    recall     hits / anomalous rows
    threshold  alarms are the scores above it
    """

    f1: float
    precision: float | None
    recall: float
    threshold: float


def f1(scores: Floats, labels: object, threshold: float) -> F1 | None:
    """Count the rows whose score is above ``threshold`` against the labels, each row by itself.

    None when the labels hold one class only. Van Rijsbergen, Information Retrieval, 1979.
    """
    values, truth = pair(scores, labels)
    if truth.all() or not truth.any():
        return None
    flagged = values > threshold
    hits, alarms, anomalies = int((flagged & truth).sum()), int(flagged.sum()), int(truth.sum())
    return F1(
        2.0 * hits / (alarms + anomalies), hits / alarms if alarms else None, hits / anomalies, threshold
    )


def oracle_f1(scores: Floats, labels: object) -> F1 | None:
    """Return the best F1 of any threshold: found with the labels, so out of reach where there are none.

    ``threshold`` is the largest score that is still no alarm there; of equally good ones the highest. None
    when the labels hold one class only.
    """
    values, truth = pair(scores, labels)
    if truth.all() or not truth.any():
        return None
    hits, alarms, levels = _thresholds(values, truth)
    best = int(np.argmax(2.0 * hits / (alarms + hits[-1])))
    below = float(levels[best + 1]) if best + 1 < len(levels) else float(np.nextafter(levels[-1], -np.inf))
    return f1(values, truth, below)


def _thresholds(values: Floats, truth: Flags) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return hits and alarms of the rows with a score of at least each level, levels falling."""
    order = np.argsort(-values, kind="stable")
    sorted_values = values[order]
    last = np.append(np.flatnonzero(np.diff(sorted_values)), len(values) - 1)  # of each group of equals
    return np.cumsum(truth[order])[last], last + 1, sorted_values[last]


@dataclass(frozen=True)
class Control:
    """A metric of random scores: mean and standard deviation (n - 1) over ``seeds`` draws."""

    mean: float
    std: float
    seeds: int


def random_control(
    metric: Callable[[Floats, Flags], float | None], labels: object, *, seeds: int = 20, seed: int = 0
) -> Control | None:
    """Return what scores that know nothing get: uniform in (0, 1), independent of the data.

    metric  from scores and labels [rows] to a number, as ``auc_pr``, or a lambda with a threshold

    None where the metric is not defined. A result within a few standard deviations shows nothing.
    Raises DataError for fewer than 2 seeds.
    """
    truth = flags(labels)
    if seeds < 2:
        raise DataError(f"{seeds} seeds", where="random_control", fix="choose at least 2")
    found = [
        metric(np.random.Generator(np.random.PCG64([seed, one])).uniform(size=len(truth)), truth)
        for one in range(seeds)
    ]
    known = [value for value in found if value is not None]
    if len(known) < seeds:
        return None
    return Control(float(np.mean(known)), float(np.std(known, ddof=1)), seeds)


@dataclass(frozen=True)
class Evaluation:
    """All metrics of scores against labels; None with a reason in ``undefined`` where there is none.

    rows, anomalies, events  rows, labelled rows, runs of labelled rows
    auc_roc, auc_pr          of the ranking, no threshold: see the functions
    vus_roc, vus_pr          the same for runs with soft edges, up to ``vus_window`` rows: see vus
    f1                       plain F1 at the threshold that was found without labels; None without one
    oracle                   the best F1 of any threshold, named so as it needs the labels
    affiliation              of the alarms at the threshold, if any; chance gets 0.5 to 0.7, so never alone
    """

    rows: int
    anomalies: int
    events: int
    auc_roc: float | None
    auc_pr: float | None
    vus_roc: float | None
    vus_pr: float | None
    vus_window: int | None
    f1: F1 | None
    oracle: F1 | None
    affiliation: Affiliation | None
    undefined: str

    @classmethod
    def of(
        cls, scores: Floats, labels: object, threshold: float | None, *, window: int | None = None
    ) -> Evaluation:
        """Evaluate scores [rows] against labels [rows]; ``window`` as in ``vus``. DataError as they say."""
        values, truth = pair(scores, labels)
        volume = vus(values, truth, window=window)
        return cls(
            rows=len(values),
            anomalies=int(truth.sum()),
            events=len(runs(truth)),
            auc_roc=auc_roc(values, truth),
            auc_pr=auc_pr(values, truth),
            vus_roc=volume.roc if volume else None,
            vus_pr=volume.pr if volume else None,
            vus_window=volume.window if volume else None,
            f1=None if threshold is None else f1(values, truth, threshold),
            oracle=oracle_f1(values, truth),
            affiliation=None if threshold is None else affiliation(values > threshold, truth),
            undefined=why_undefined(truth),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)
