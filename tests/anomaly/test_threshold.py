"""Thresholds without labels: their value by hand, their rate of false alarms, and when there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from neuronet.anomaly.pareto import Pareto, fit_pareto
from neuronet.anomaly.threshold import (
    Threshold,
    effective,
    fewest,
    least_rate,
    pot_threshold,
    quantile_threshold,
)
from neuronet.errors import DataError


def test_quantile_by_hand() -> None:
    scores = np.random.default_rng(0).permutation(np.arange(1.0, 100.0))
    assert quantile_threshold(scores, 0.1).value == 90.0  # 9 of 99 above: a new one is with 10 of 100
    assert quantile_threshold(scores, 0.01).value == 99.0
    found = quantile_threshold(scores, 0.5)
    assert (found.value, found.method, found.scores) == (50.0, "quantile", 99)
    np.testing.assert_array_equal(found.above(np.array([49.0, 50.0, 50.5])), [False, False, True])


def test_a_tiny_rate_is_told_in_few_digits() -> None:
    found = Threshold(2.0, 1e-300, "quantile", 10, 10.0, {})
    assert found.describe().startswith("2: about 1 normal row in 1e+300 is above it, by the order of 10")
    assert "1 normal row in 1,000 is" in replace(found, rate=1e-3).describe()


def test_too_few_scores_for_a_rate() -> None:
    with pytest.raises(DataError, match=r"99 scores are too few for a rate of 0.009") as error:
        quantile_threshold(np.arange(99.0), 0.009)
    assert "give at least 111 scores, choose a rate >= 0.01" in error.value.fix
    for count in (99, 139, 149, 153, 10_000):  # of 1/140 = 0.00714 the first two digits would be too small
        rate = least_rate(count)
        assert quantile_threshold(np.arange(float(count)), rate).rate == rate
        with pytest.raises(DataError, match="too few"):
            quantile_threshold(np.arange(float(count)), 0.9 * rate)
    assert (fewest(0.001, "quantile"), fewest(0.001, "pot")) == (999, 300)
    with pytest.raises(DataError, match="200 scores are too few: the highest 10% are 20, and a tail"):
        pot_threshold(np.arange(200.0), 0.001)


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, float("nan")])
def test_rates_that_are_none(rate: float) -> None:
    for find in (quantile_threshold, pot_threshold):
        with pytest.raises(DataError, match=f"the rate is {rate}"):
            find(np.arange(5000.0), rate)


def test_scores_that_have_no_threshold() -> None:
    scores = np.arange(5000.0)
    scores[7] = np.nan
    with pytest.raises(DataError, match="1 of 5000 scores are not finite, first row 7"):
        pot_threshold(scores, 0.001)
    with pytest.raises(DataError, match=r"only 0 of 5000 scores are above the level 1, 2% were asked for"):
        pot_threshold(np.ones(5000), 0.001)
    with pytest.raises(DataError, match=r"rate of 0.05 from a tail of 0.02"):
        pot_threshold(np.arange(5000.0), 0.05)


def test_pareto_by_hand() -> None:
    heavy, ends, exponential = Pareto(0.5, 2.0), Pareto(-0.5, 1.0), Pareto(0.0, 3.0)
    assert heavy.survival(np.array(4.0)) == pytest.approx(0.25)  # (1 + 0.5 x 2)^-2
    np.testing.assert_allclose(ends.survival(np.array([1.0, 2.0, 9.0])), [0.25, 0.0, 0.0])
    assert exponential.survival(np.array(3.0)) == pytest.approx(np.exp(-1))
    for one in (heavy, ends, exponential, Pareto(1e-12, 3.0)):
        assert float(one.survival(np.array(one.exceeded(0.01)))) == pytest.approx(0.01)


@pytest.mark.parametrize("shape", [-0.7, -0.3, 0.0, 0.2, 0.5, 1.0])
def test_fit_finds_known_parameters(shape: float) -> None:
    """Excesses at evenly spread probabilities: the sample that is most like the distribution."""
    true = Pareto(shape, 2.0)
    excesses = np.array([true.exceeded(p) for p in (np.arange(2000) + 0.5) / 2000])
    found = fit_pareto(excesses)
    assert found.shape == pytest.approx(shape, abs=0.01)
    assert found.scale == pytest.approx(2.0, rel=0.01)
    large = fit_pareto(excesses * 1e200)  # the unit doesn't matter
    assert large.shape == pytest.approx(found.shape, rel=1e-9)
    assert large.scale == pytest.approx(found.scale * 1e200, rel=1e-9)


def test_fit_scatters_round_known_parameters() -> None:
    found = []
    for seed in range(200):
        uniform = np.random.default_rng(seed).uniform(size=100)
        one = fit_pareto(np.array([Pareto(0.2, 2.0).exceeded(p) for p in uniform]))
        found.append((one.shape, one.scale))
    shape, scale = np.mean(found, axis=0)
    assert shape == pytest.approx(0.2, abs=0.03)  # standard error 0.009
    assert scale == pytest.approx(2.0, abs=0.06)  # standard error 0.021


def test_excesses_that_cannot_be_fitted() -> None:
    with pytest.raises(DataError, match="9 excesses are too few"):
        fit_pareto(np.ones(9))
    with pytest.raises(DataError, match="not a finite number above 0"):
        fit_pareto(np.arange(20.0))


@pytest.mark.parametrize("kind", ["exponential", "squared normal", "uniform"])
def test_false_alarms_come_at_the_stated_rate(kind: str) -> None:
    def draw(seed: int, n: int) -> np.ndarray:
        random = np.random.default_rng([seed, n])
        if kind == "exponential":
            return random.exponential(size=n)
        return random.normal(size=n) ** 2 if kind == "squared normal" else random.uniform(size=n)

    new = np.sort(draw(0, 200_000))
    rates: dict[str, list[float]] = {"pot": [], "quantile": []}
    for seed in range(1, 61):
        scores = draw(seed, 3000)
        for found in (pot_threshold(scores, 0.001), quantile_threshold(scores, 0.001)):
            rates[found.method].append(1.0 - np.searchsorted(new, found.value, side="right") / len(new))
    for method, each in rates.items():
        assert 0.0008 < np.mean(each) < 0.0013, method


def test_pot_reaches_rates_below_one_in_all_scores() -> None:
    p = (np.arange(50_000) + 0.5) / 50_000
    found = pot_threshold(-np.log(p), 1e-6)
    assert found.value == pytest.approx(-np.log(1e-6), rel=0.02)
    assert found.detail["tail"] == 1000
    assert found.detail["level"] == pytest.approx(-np.log(0.02), rel=1e-3)
    assert "1 normal row in 1,000,000" in found.describe()


def test_effective_number_of_scores() -> None:
    random = np.random.default_rng(0)
    noise = random.normal(size=20_000)
    assert effective(noise) > 15_000
    related = np.empty_like(noise)
    related[0] = 0.0
    for t in range(1, len(noise)):
        related[t] = 0.9 * related[t - 1] + noise[t]
    assert effective(related) == pytest.approx(20_000 / 19, rel=0.2)  # (1 - 0.9) / (1 + 0.9)
    assert effective(np.ones(50)) == 1.0
    held = quantile_threshold(np.repeat(noise[:100], 100), 0.001)
    assert held.independent == pytest.approx(100, rel=0.5)
    assert "expect more" in held.describe()


def test_threshold_survives_a_dict() -> None:
    found = pot_threshold(np.random.default_rng(0).exponential(size=3000), 0.001)
    assert Threshold(**found.to_dict()) == found
