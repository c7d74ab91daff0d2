"""Seasonal series: the calendar's seasons are exact, the noise has median 1, trends are lines."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.prior.seasonal import draw_seasonal, seasons, trend, weibull
from neuronet.prior.settings import Prior
from neuronet.series.frequency import Frequency

START = int(np.datetime64("2021-03-01", "ns").astype(np.int64))
QUIET = {"noise_scales": [[0, 0]], "noise_scale_shares": [1], "damping": 0, "spikes": 0, "spike_batches": 0}


@pytest.mark.parametrize(
    ("frequency", "name", "season"),
    [
        (Frequency(1, "min"), "minute", 60),
        (Frequency(15, "min"), "minute", 4),
        (Frequency(1, "h"), "hour", 24),
        (Frequency(1, "h"), "weekday", 168),
        (Frequency(1, "d"), "weekday", 7),
        (Frequency(1, "m"), "month", 12),
        (Frequency(3, "m"), "month", 4),
        (Frequency(1, "q"), "month", 4),
    ],
)
def test_a_season_repeats_exactly_and_not_before(frequency: Frequency, name: str, season: int) -> None:
    prior = Prior(amplitudes=[[frequency.unit, name, 1.0]], trend_slope=0, **QUIET)
    times = frequency.stamps(START, 400)
    series = draw_seasonal(prior, [frequency], times[None], np.random.default_rng(0))[0] - 1.0
    np.testing.assert_array_equal(series[season:], series[:-season])
    for lag in range(1, season):
        assert np.abs(series[lag:] - series[:-lag]).max() > 1e-4, lag
    whole = series[: 400 // season * season]
    moves = whole - whole.mean()
    assert np.dot(moves, np.roll(moves, season)) == pytest.approx(np.dot(moves, moves))  # autocorrelation 1


def test_cycles_multiply_and_power_is_the_amplitude() -> None:
    times = Frequency(1, "h").stamps(START, 24 * 7)
    both = Prior(amplitudes=[["h", "hour", 1.0], ["h", "weekday", 1.0]], harmonic_scale=0)
    product = seasons(both, Frequency(1, "h"), times, np.random.default_rng(1)).reshape(7, 24)
    day, week = product.mean(0), product.mean(1)
    np.testing.assert_allclose(product, np.outer(week, day) / day.mean(), rtol=1e-12)
    np.testing.assert_allclose([day.mean(), week.mean()], 1.0, rtol=1e-12)  # harmonics alone have mean 0
    assert np.var(day) <= 0.5  # amplitude <= 1, squares of coefficients sum to 1: variance amplitude^2 / 2


def test_a_unit_without_cycles_has_no_season() -> None:
    times = Frequency(1, "y").stamps(START, 20)
    assert np.all(seasons(Prior(), Frequency(1, "y"), times, np.random.default_rng(0)) == 1.0)


@pytest.mark.parametrize("per", ["day", "step"])
def test_trend_is_a_line_with_the_slope_of_its_unit(per: str) -> None:
    times = Frequency(2, "d").stamps(START, 50)
    prior = Prior(trend_per=per, trend_slope=0.01, trend_offset=(0.5, 0.5))
    rng = np.random.default_rng(2)
    lines = np.stack([trend(prior, times, rng) for _ in range(2_000)])
    np.testing.assert_allclose(np.diff(lines, 2), 0.0, atol=1e-12)
    np.testing.assert_allclose((lines[:, 0] + lines[:, -1]) / 2, 1.0, rtol=1e-12)  # offset: the middle
    slope = 0.02 if per == "day" else 0.01
    assert np.std(np.diff(lines)[:, 0]) == pytest.approx(slope, rel=5 / np.sqrt(4_000))


@pytest.mark.parametrize("shape", [1.0, 2.2, 5.0])
def test_weibull_noise_has_median_1(shape: float) -> None:
    noise = weibull(shape, 20_001, np.random.default_rng(3))
    assert abs(np.median(noise) - 1.0) < 5.0 / (shape * np.log(2.0) * np.sqrt(20_001))
    below = np.mean(noise < 2.0)  # distribution at 2: 1 - 0.5 ** (2 ** shape)
    share = 1.0 - 0.5 ** (2.0**shape)
    assert abs(below - share) < 5.0 * np.sqrt(share * (1 - share) / 20_001) + 1e-4


def test_noise_multiplies_the_series() -> None:
    quiet = Prior(trend_slope=0.1, **QUIET)
    noisy = Prior(**{**quiet.to_dict(), "noise_scales": [[0.5, 0.5]], "weibull_shape": (2.0, 2.0)})
    frequency, times = Frequency(1, "d"), Frequency(1, "d").stamps(START, 4_000)[None]
    factor = draw_seasonal(noisy, [frequency], times, np.random.default_rng(4)) / draw_seasonal(
        quiet, [frequency], times, np.random.default_rng(4)
    )
    assert np.median(factor) == pytest.approx(1.0, abs=0.5 * 5 / (2 * np.log(2.0) * np.sqrt(4_000)))
    assert factor.min() >= 0.5  # 1 + 0.5 (w - 1), w > 0


def test_shares_of_noise_scales() -> None:
    prior = Prior(trend_slope=0, amplitudes=[], damping=0, spikes=0, spike_batches=0, weibull_shape=(5, 5))
    times = np.repeat(Frequency(1, "d").stamps(START, 300)[None], 600, axis=0)
    values = draw_seasonal(prior, [Frequency(1, "d")] * 600, times, np.random.default_rng(5)) / 2.0
    deviation = np.std(values, axis=1) / np.std(weibull(5.0, 100_000, np.random.default_rng(6)))
    counts = np.histogram(deviation, [0.0, 0.15, 0.6, 2.0])[0]  # between the ranges 0-.1, .2-.5, .7-.9
    expected = np.array([0.6, 0.3, 0.1])
    assert np.all(np.abs(counts - 600 * expected) < 4 * np.sqrt(600 * expected * (1 - expected)))


def test_spike_only_batches() -> None:
    prior = Prior(**{**QUIET, "spike_batches": 1.0}, trend_slope=0, amplitudes=[], spike_batch_share=1.0)
    times = np.repeat(Frequency(1, "d").stamps(START, 300)[None], 40, axis=0)
    values = draw_seasonal(prior, [Frequency(1, "d")] * 40, times, np.random.default_rng(7))
    spiky = np.ptp(values, axis=1) > 0.0
    assert 0 < spiky.sum() < 40
    assert np.all(values[~spiky] == 2.0)  # trend 1 plus season 1
    assert np.all(np.abs(values[spiky]) >= 1.0)
