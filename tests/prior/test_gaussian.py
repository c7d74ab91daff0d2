"""Gaussian processes: the factor is exact, kernels combine, draws have the covariance that they should."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.errors import DataError
from neuronet.prior.gaussian import (
    Terms,
    add,
    correlate,
    dense,
    draw_gaussian,
    draw_kernel,
    draw_processes,
    matern,
    multiply,
    periodic,
)
from neuronet.prior.settings import Prior
from neuronet.series.frequency import Frequency

DAY = Frequency(1, "d")
MIXED: Terms = add(  # 0.7 x x' * periodic + Matern + x x' x x'
    add(multiply({1: np.full(24, 0.7)}, {0: periodic(24, 7, 0.8)}), {0: matern(24, 1.5, 0.5)}),
    {2: np.ones(24)},
)


@pytest.mark.parametrize(
    "row",
    [
        periodic(150, 13, 3.0),  # rank of about a dozen: singular but for the jitter
        np.ones(150),
        matern(150, 2.5, 5.0),
        matern(150, 0.5, 0.1) * periodic(150, 24, 0.2),
        np.eye(1, 150)[0] * 0.01,
    ],
)
def test_factor_times_its_transpose_is_the_matrix(row: np.ndarray) -> None:
    n = len(row)
    factor = correlate(np.repeat(row[None], n, axis=0), np.eye(n)).T  # column j: L e_j
    assert np.array_equal(factor, np.tril(factor))
    lags = np.abs(np.arange(n)[:, None] - np.arange(n))
    jitter = 1e-9 * row[0] * np.eye(n)
    np.testing.assert_allclose(factor @ factor.T, row[lags] + jitter, atol=1e-13)


def test_rows_beside_each_other_do_not_touch() -> None:
    rng = np.random.default_rng(0)
    rows = np.stack([periodic(60, 7, 1.0), matern(60, 0.5, 1.0), np.ones(60)])
    white = rng.standard_normal(rows.shape)
    alone = [correlate(rows[i : i + 1], white[i : i + 1])[0] for i in range(3)]
    np.testing.assert_array_equal(correlate(rows, white), alone)


def test_a_row_that_is_not_positive_definite_gets_a_larger_diagonal_or_is_refused() -> None:
    rows = np.array([[1.0, 1.0 + 5e-6, 1.0], [1.0, 0.5, 0.25]])  # the first: short of 5e-6
    drawn = correlate(rows, np.ones((2, 3)))
    assert np.isfinite(drawn).all()
    np.testing.assert_allclose(
        drawn[1], [1.0, 0.5 + 0.75**0.5, 0.25 + 0.5 * 0.75**0.5 + 0.75**0.5], rtol=1e-8
    )
    for bad in ([1.0, 2.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]):
        with pytest.raises(DataError, match="row 1 is not the first row of a covariance"):
            correlate(np.array([rows[1], bad]), np.ones((2, 3)))


def test_sum_and_product_of_terms_are_those_of_the_matrices() -> None:
    a: Terms = {0: matern(9, 2.5, 0.3), 1: np.full(9, 0.7)}
    b: Terms = {1: np.full(9, 1.3), 2: periodic(9, 4, 2.0)}
    np.testing.assert_allclose(dense(add(a, b), 9), dense(a, 9) + dense(b, 9), rtol=1e-14)
    np.testing.assert_allclose(dense(multiply(a, b), 9), dense(a, 9) * dense(b, 9), rtol=1e-14)


def test_kernels() -> None:
    np.testing.assert_allclose(matern(3, 0.5, 2.0), np.exp([0.0, -0.25, -0.5]))
    d = np.sqrt(3.0) * np.array([0.0, 0.25, 0.5])
    np.testing.assert_allclose(matern(3, 1.5, 2.0), (1.0 + d) * np.exp(-d))
    row = periodic(200, 24, 0.7)
    np.testing.assert_array_equal(row[24:], row[:-24])  # exactly a day, however long the series
    np.testing.assert_allclose(row[12], np.exp(-2.0 / 0.7))


def test_random_kernels_are_positive_semidefinite() -> None:
    rng = np.random.default_rng(1)
    kinds = set()
    for _ in range(150):
        unit = str(rng.choice(["min", "h", "d", "w", "m", "q", "y"]))
        terms, longest = draw_kernel(Prior(), Frequency(1, unit), 40, rng)
        kinds.add(tuple(terms))
        eigenvalues = np.linalg.eigvalsh(dense(terms, 40))
        assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
        assert longest == 0 or longest >= 2
    assert {(0,), (1,), (0, 1)} < kinds


def test_covariance_of_draws_is_the_kernel() -> None:
    draws, n = 20_000, 24
    values = draw_processes([MIXED] * draws, n, np.random.default_rng(2))
    kernel = dense(MIXED, n)
    deviation = np.sqrt((np.outer(np.diag(kernel), np.diag(kernel)) + kernel**2) / draws)
    assert np.max(np.abs(values.T @ values / draws - kernel) / deviation) < 5.0
    assert np.max(np.abs(values.mean(0)) / np.sqrt(np.diag(kernel) / draws)) < 5.0


def test_noise_and_period_of_a_fixed_prior() -> None:
    prior = Prior(
        max_kernels=1, matern_weight=0, linear_weight=0, scaled_share=0, length_scales=(1, 1), linear_mean=0,
        peak_share=0, periods_per_freq=1, gaussian_sampling=0, calendar_periods=[["d", [7]]],
        noise_variances=[0.04], noise_shares=[1], likelihood_noise=0.1,
    )  # fmt: skip
    values = draw_gaussian(prior, [DAY] * 4_000, 15, np.random.default_rng(3))
    white = np.eye(1, 15)[0] * 0.05
    kernel = dense({0: periodic(15, 7, 1.0) + white}, 15)
    deviation = np.sqrt((1.05**2 + kernel**2) / 4_000)
    assert np.max(np.abs(values.T @ values / 4_000 - kernel) / deviation) < 5.0


def test_share_of_linear_means() -> None:
    prior = Prior(
        max_kernels=1, matern_weight=0, periodic_weight=0, kernel_scale=1e-20, scaled_share=0, peak_share=0,
        noise_variances=[1e-20], noise_shares=[1],
    )  # fmt: skip
    values = draw_gaussian(prior, [DAY] * 1_000, 10, np.random.default_rng(4))
    lines = np.abs(values).max(1) > 1e-6
    assert abs(lines.sum() - 500) < 4 * np.sqrt(250)
    np.testing.assert_allclose(np.diff(values[lines], 2), 0.0, atol=1e-8)
    ends = values[lines][:, [0, -1]]  # b and a + b of a x + b
    spread = np.std(np.stack([ends[:, 0], ends[:, 1] - ends[:, 0]]), axis=1)
    np.testing.assert_allclose(spread, 1.0, atol=5 / np.sqrt(2 * lines.sum()))


def test_calendar_periods_follow_the_frequency() -> None:
    prior = Prior(
        max_kernels=1, matern_weight=0, linear_weight=0, periods_per_freq=1, gaussian_sampling=0
    )  # fmt: skip
    rng = np.random.default_rng(5)
    for frequency, expected in (
        (Frequency(1, "h"), {3, 6, 12, 24}),  # the three longest only among several kernels
        (Frequency(6, "h"), {2, 4, 8, 12, 28}),  # whole units of 6 hours: 12, 24, 48, 72, 168
        (Frequency(1, "m"), {3, 4, 6, 12}),
    ):
        seen = {draw_kernel(prior, frequency, 500, rng)[1] for _ in range(150)}
        assert seen == expected, frequency


def test_peaks_stand_where_the_first_period_is_highest() -> None:
    prior = Prior(
        max_kernels=1, matern_weight=0, linear_weight=0, periods_per_freq=1, gaussian_sampling=0,
        calendar_periods=[["d", [24]]], peak_share=1, length_scales=(0.5, 0.5), linear_mean=0,
        noise_variances=[0], noise_shares=[1],
    )  # fmt: skip
    values = draw_gaussian(prior, [DAY] * 20, 120, np.random.default_rng(6))
    plain = draw_gaussian(
        Prior(**{**prior.to_dict(), "peak_share": 0.0}), [DAY] * 20, 120, np.random.default_rng(6)
    )
    for with_peaks, without in zip(values, plain, strict=True):
        changed = np.flatnonzero(np.abs(with_peaks - without) > 1e-6)
        assert np.argmax(without[:24]) in changed % 24
