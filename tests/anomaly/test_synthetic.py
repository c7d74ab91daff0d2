"""Planted episodes: seen in two series together, in none alone."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.anomaly.baselines import WindowPca
from neuronet.anomaly.labels import runs
from neuronet.anomaly.metrics import auc_roc
from neuronet.anomaly.scores import total
from neuronet.anomaly.synthetic import APART, make_planted
from neuronet.errors import DataError


def test_episodes_are_where_they_were_asked_for() -> None:
    made = make_planted(3000, episodes=5, length=40, seed=2)
    spans = runs(made.labels)
    np.testing.assert_array_equal(spans[:, 1] - spans[:, 0], 40)
    assert len(spans) == 5
    assert spans[0, 0] >= 1500 + APART
    assert np.all(spans[1:, 0] - spans[:-1, 1] >= APART)
    assert made.names == ("SYMA", "SYMB")
    np.testing.assert_allclose(np.diff(np.log(made.closes), axis=0), made.returns[1:], atol=1e-15)
    again = make_planted(3000, episodes=5, length=40, seed=2)
    np.testing.assert_array_equal(again.returns, made.returns)
    assert not make_planted(3000, episodes=0).labels.any()


def test_correlation_breaks_and_nothing_else() -> None:
    inside, outside = [], []
    for seed in range(10):
        made = make_planted(4000, episodes=8, length=100, seed=seed, correlation=0.9)
        # Without episodes the same seed has the same volatility and the same own parts.
        calm = make_planted(4000, episodes=0, seed=seed, correlation=0.9)
        np.testing.assert_array_equal(made.returns[~made.labels], calm.returns[~made.labels])
        inside.append([made.returns[made.labels], calm.returns[made.labels]])
        outside.append(np.corrcoef(made.returns[~made.labels].T)[0, 1])
    broken, calm_returns = (np.concatenate(part) for part in zip(*inside, strict=True))
    assert np.mean(outside) == pytest.approx(0.9, abs=0.01)
    assert np.corrcoef(broken.T)[0, 1] == pytest.approx(0.0, abs=0.05)
    for one in range(2):  # 8,000 returns of one law: quantiles agree
        wanted = np.quantile(np.abs(calm_returns[:, one]), [0.25, 0.5, 0.75, 0.95])
        np.testing.assert_allclose(
            np.quantile(np.abs(broken[:, one]), [0.25, 0.5, 0.75, 0.95]), wanted, rtol=0.06
        )


def test_found_in_the_pair_not_alone() -> None:
    pair, alone = [], []
    for seed in range(3):
        made = make_planted(5000, episodes=6, seed=seed)
        test = slice(2500, None)
        both = WindowPca.fit(made.returns[:2500], components=32)
        pair.append(auc_roc(total(both.scores(made.returns[test])), made.labels[test]))
        for one in range(2):
            single = WindowPca.fit(made.returns[:2500, [one]], components=16)
            alone.append(auc_roc(total(single.scores(made.returns[test][:, [one]])), made.labels[test]))
    assert min(value for value in pair if value is not None) > 0.95
    assert 0.3 < np.mean([value for value in alone if value is not None]) < 0.65


def test_as_bars() -> None:
    made = make_planted(300, series=3, episodes=0)
    first, _, third = made.bars()
    assert (first.symbol, third.symbol, first.step) == ("SYMA", "SYMC", 3_600 * 10**9)
    np.testing.assert_allclose(first.open[1:], first.close[:-1], rtol=1e-14)
    assert np.all(first.high >= np.maximum(first.open, first.close))
    np.testing.assert_array_equal(third.close, made.closes[:, 2])


def test_episodes_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="10 episodes of 48 rows") as error:
        make_planted(1000, episodes=10)
    assert "at least 1460 rows" in error.value.fix
    make_planted(1460, episodes=10, clean=500)
    with pytest.raises(DataError, match=r"correlation 1\.5"):
        make_planted(1000, correlation=1.5)
