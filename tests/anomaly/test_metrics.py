"""Metrics against values worked out by hand, and against those of published packages."""

from __future__ import annotations

import math

import numpy as np
import pytest

from neuronet.anomaly.affiliation import Affiliation, affiliation
from neuronet.anomaly.labels import flags, runs, why_undefined
from neuronet.anomaly.metrics import (
    Evaluation,
    auc_pr,
    auc_roc,
    f1,
    oracle_f1,
    random_control,
)
from neuronet.anomaly.vus import soften, vus
from neuronet.errors import DataError

ROWS = np.arange(120)
EVENTS = np.isin(ROWS, [*range(20, 26), 70, 71, 72, *range(74, 80)])
WAVES = np.sin(ROWS * ROWS / 7.0) + 1.5 * EVENTS * np.cos(ROWS)


def array(*values: float) -> np.ndarray:
    return np.array(values, np.float64)


def test_areas_by_hand() -> None:
    scores, labels = array(0.1, 0.4, 0.35, 0.8), [0, 0, 1, 1]
    assert auc_roc(scores, labels) == 0.75  # 3 of 4 pairs in order
    assert auc_pr(scores, labels) == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    assert auc_roc(-scores, labels) == 0.25


def test_equal_scores_are_one_threshold() -> None:
    scores, labels = array(1, 1, 0, 0), [1, 0, 1, 0]
    assert auc_roc(scores, labels) == 0.5
    assert auc_pr(scores, labels) == 0.5
    assert auc_roc(np.zeros(5), [1, 0, 0, 0, 0]) == 0.5
    assert auc_pr(np.zeros(5), [1, 0, 0, 0, 0]) == 0.2
    assert auc_roc(array(2, 1, 1, 0), [1, 1, 0, 0]) == 0.875  # 3 pairs and one half of 4


def test_f1_by_hand_without_adjustment() -> None:
    labels = np.array([0] * 10 + [1] * 10)
    scores = np.zeros(20)
    scores[[0, 15]] = 5.0, 9.0
    found = f1(scores, labels, 4.0)
    assert found is not None
    assert (found.precision, found.recall) == (0.5, 0.1)  # one hit of a run of ten is one row
    assert found.f1 == pytest.approx(2 * 1 / (2 + 10))
    none = f1(scores, labels, 9.0)  # alarms are above the threshold, not at it
    assert none is not None
    assert (none.precision, none.recall, none.f1) == (None, 0.0, 0.0)


def test_oracle_is_the_best_of_all_thresholds() -> None:
    scores, labels = array(5, 4, 4, 3, 2, 1), [1, 1, 0, 1, 0, 0]
    found = oracle_f1(scores, labels)  # cuts: 1/1 -> 2/4, 2/3 -> 4/6, 3/4 -> 6/7
    assert found is not None
    assert found.f1 == pytest.approx(6 / 7)
    assert found.threshold == 2.0
    every = oracle_f1(array(1, 1, 1), [1, 1, 0])
    assert every is not None
    assert every.f1 == pytest.approx(4 / 5)
    assert every.threshold < 1.0


def test_soft_labels_by_hand() -> None:
    truth = np.array([0, 0, 0, 1, 0, 0, 0, 0], bool)
    spans = runs(truth)
    half, three = math.sqrt(0.5), math.sqrt(0.75)
    np.testing.assert_array_equal(soften(truth, spans, 0), truth)
    np.testing.assert_array_equal(soften(truth, spans, 1), truth)
    np.testing.assert_allclose(soften(truth, spans, 2), [0, 0, half, 1, half, 0, 0, 0])
    np.testing.assert_allclose(soften(truth, spans, 4), [0, half, three, 1, three, half, 0, 0])
    edge = np.array([1, 0, 0, 1], bool)  # cut at both ends, at most 1 where two meet
    np.testing.assert_allclose(soften(edge, runs(edge), 4), [1, 1, 1, 1])


def test_vus_by_hand() -> None:
    labels, scores = [0, 1, 0, 0], array(3, 2, 1, 0)
    plain = vus(scores, labels, window=0, thresholds=2)  # levels 3 and 0
    assert plain is not None
    assert plain.roc == pytest.approx(2 / 3 / 2)  # (0,0) (1/3,0) (1,1)
    assert plain.pr == pytest.approx(0.25 / 2)  # precision 1, 0, 1/4 at recall 0, 0, 1
    soft = vus(scores, labels, window=1, thresholds=2)  # buffers 0, 1 (the same) and 2
    assert soft is not None
    a = math.sqrt(0.5)
    tpr, fpr, last = a / (1 + a), (1 - a) / (3 - a), (3 - 2 * a) / (3 - a)
    roc = fpr * tpr / 2 + (last - fpr) * (tpr + 1) / 2 + (1 - last)
    pr = tpr * (1 + a) / 2 + (1 - tpr) * (a + (1 + 2 * a) / 4) / 2
    assert soft.roc == pytest.approx((2 * plain.roc + roc) / 3)
    assert soft.pr == pytest.approx((2 * plain.pr + pr) / 3)


def test_vus_of_the_published_package() -> None:
    """Values of vus 0.0.6's RangeAUC, averaged over the windows 0..10 as TSB-UAD's RangeAUC_volume does."""
    found = vus(WAVES, EVENTS, window=5)
    assert found is not None
    assert found.roc == pytest.approx(0.6151286657109096, abs=1e-12)
    assert found.pr == pytest.approx(0.44925972123605046, abs=1e-12)


def test_vus_window_is_the_median_run() -> None:
    found = vus(WAVES, EVENTS)
    assert found is not None
    assert found.window == 6  # runs of 6, 3, 6
    assert found == vus(WAVES, EVENTS, window=6)
    perfect = vus(EVENTS.astype(float), EVENTS, window=0)
    assert perfect is not None
    assert perfect.roc == 1.0
    with pytest.raises(DataError, match="window -1"):
        vus(WAVES, EVENTS, window=-1)


def test_affiliation_by_hand() -> None:
    labels = np.zeros(10, bool)
    labels[4:6] = True
    alarms = np.zeros(10, bool)
    alarms[8] = True
    # Places 2 to 3 from the run: (8 - 2 d) / 10, mean 0.3. Recall: 2 / 10 behind, 0 to 4 / 10 before.
    found = affiliation(alarms, labels)
    assert found is not None
    assert (found.precision, found.recall) == (pytest.approx(0.3), pytest.approx(0.4))
    assert found.f1 == pytest.approx(0.24 / 0.7)
    assert affiliation(labels, labels) == Affiliation(1.0, 1.0, 1.0)
    assert affiliation(np.zeros(10, bool), labels) == Affiliation(None, 0.0, 0.0)
    mirror = affiliation(alarms[::-1], labels)
    assert mirror is not None
    assert (mirror.precision, mirror.recall) == (pytest.approx(0.3), pytest.approx(0.4))


def test_affiliation_splits_an_alarm_between_runs() -> None:
    labels = np.zeros(12, bool)
    labels[[2, 9]] = True  # zones [0, 6] and [6, 12]
    alarms = np.zeros(12, bool)
    alarms[2:10] = True
    found = affiliation(alarms, labels)
    assert found is not None
    assert found.recall == 1.0
    # Zone [0, 6], J = [2, 3]: 1 of 4 places hits; d in [0, 3]: (2-d)+ + (3-d)+ integrates to 2 + 4.5.
    assert found.precision == pytest.approx((6 + 6.5) / 6 / 4)


def test_affiliation_of_the_published_package() -> None:
    """Values of the affiliation package within vus 0.0.6."""
    found = affiliation(WAVES > 0.95, EVENTS)
    assert found is not None
    assert (found.precision, found.recall) == (
        pytest.approx(0.5837751726627439, abs=1e-12),
        pytest.approx(0.9649538354768431, abs=1e-12),
    )


def test_affiliation_against_its_definition() -> None:
    """Brute force: a fine grid in place of the integrals."""
    random = np.random.default_rng(3)
    labels, alarms = np.zeros(30, bool), random.uniform(size=30) < 0.15
    labels[[7, 8, 20]] = True
    found = affiliation(alarms, labels)
    fine = (np.arange(30 * 40) + 0.5) / 40
    truth, raised = np.repeat(labels, 40), np.repeat(alarms, 40)
    precision, recall = [], []
    for first, end, left, right in [(7, 9, 0, 14.5), (20, 21, 14.5, 30)]:
        zone = (fine >= left) & (fine < right)
        x, own, event = fine[zone], fine[zone & raised], fine[zone & truth & (fine >= first) & (fine < end)]
        far = np.maximum(np.maximum(first - x, x - end), 0.0)
        if len(own):
            away = np.maximum(np.maximum(first - own, own - end), 0.0)
            precision.append(np.mean(far[None] >= away[:, None]))
            nearest = np.abs(event[:, None] - own[None]).min(axis=1)
            nearest[nearest < 0.02] = 0.0
            recall.append(np.mean(np.abs(x[None] - event[:, None]) >= nearest[:, None]))
        else:
            recall.append(0.0)
    assert found is not None
    assert found.precision == pytest.approx(np.mean(precision), abs=0.01)
    assert found.recall == pytest.approx(np.mean(recall), abs=0.01)


@pytest.mark.parametrize(
    ("label", "reason"),
    [(0, "none of 5 rows is labelled as an anomaly"), (1, "all of 5 rows are labelled as anomalies")],
)
def test_one_class_has_no_metrics(label: int, reason: str) -> None:
    labels, scores = np.full(5, label), np.arange(5.0)
    assert why_undefined(labels) == f"undefined, because {reason}"
    found = Evaluation.of(scores, labels, 2.0)
    assert found.undefined == why_undefined(labels)
    values = found.to_dict()
    names = ("auc_roc", "auc_pr", "vus_roc", "vus_pr", "f1", "oracle", "affiliation")
    assert [values[name] for name in names] == [None] * 7
    assert random_control(auc_roc, labels) is None


def test_evaluation_holds_every_metric() -> None:
    found = Evaluation.of(WAVES, EVENTS, 1.2, window=5)
    volume = vus(WAVES, EVENTS, window=5)
    assert volume is not None
    assert (found.rows, found.anomalies, found.events, found.undefined) == (120, 15, 3, "")
    assert (found.auc_roc, found.auc_pr) == (auc_roc(WAVES, EVENTS), auc_pr(WAVES, EVENTS))
    assert (found.vus_roc, found.vus_pr, found.vus_window) == (volume.roc, volume.pr, 5)
    assert found.f1 == f1(WAVES, EVENTS, 1.2)
    assert found.oracle == oracle_f1(WAVES, EVENTS)
    assert found.f1 is not None
    assert found.oracle is not None
    assert found.oracle.f1 >= found.f1.f1
    assert found.affiliation == affiliation(WAVES > 1.2, EVENTS)


def test_random_scores_know_nothing() -> None:
    labels = np.arange(400) % 20 == 0
    area = random_control(auc_roc, labels)
    assert area is not None
    assert area.mean == pytest.approx(0.5, abs=3 * area.std / math.sqrt(20))
    assert 0.03 < area.std < 0.12  # 1 / sqrt(12 x 20) = 0.065
    assert area == random_control(auc_roc, labels)
    half = random_control(lambda s, y: float(np.mean(s > 0.5)), labels)
    assert half is not None
    assert half.mean == pytest.approx(0.5, abs=0.03)
    with pytest.raises(DataError, match="1 seeds"):
        random_control(auc_roc, labels, seeds=1)


def test_labels_and_scores_that_are_none() -> None:
    with pytest.raises(DataError, match=r"there is a .*2"):
        flags([0, 1, 2])
    with pytest.raises(DataError, match=r"scores \(3,\), labels \(2,\)"):
        auc_roc(np.zeros(3), [0, 1])
    with pytest.raises(DataError, match="1 of 2 scores are not finite, first row 1"):
        auc_pr(array(0, np.nan), [0, 1])
    np.testing.assert_array_equal(runs(np.array([1, 1, 0, 1], bool)), [[0, 2], [3, 4]])
