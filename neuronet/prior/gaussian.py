"""Series drawn from Gaussian processes whose kernels are random sums and products.

Every kernel is Matern, periodic or linear. The first two depend on the lag only, the linear one is x x', so
any combination is  K[i, j] = sum over m of (x_i x_j)^m rows_m[|i - j|]:  a few Toeplitz matrices. A draw is
the sum of x^m g_m with independent g_m ~ N(0, Toeplitz(rows_m)), and ``correlate`` draws those by Schur's
algorithm in O(n^2), for a whole block of series at once and without storing a matrix. At 572 steps a whole
series takes 0.7 ms, LAPACK's Cholesky alone 2.2 ms; and no BLAS means one thread and the same bits with any
number of processes (LAPACK's factor changes with its threads).

After Mamba4Cast (arXiv 2410.09385). Its program adds no likelihood noise: it declares 0.4 and draws from the
process itself, hence ``likelihood_noise`` 0. The noise variances, there the jitter of a factor, are white
noise of exactly that variance here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import DataError
from neuronet.prior.settings import Prior
from neuronet.prior.spikes import spike_train
from neuronet.series.frequency import Frequency

Values = NDArray[np.float64]
Terms = dict[int, Values]  # power m of x x' -> covariance [n] by lag
_JITTERS = (1e-9, 1e-7, 1e-5, 1e-3)  # of the variance, tried in turn
_FEW = 2  # periodic kernels up to which the longest calendar periods are left out
_LONGEST = 3
_SPACING = 100  # steps between the periods that are added for long series


def draw_gaussian(prior: Prior, steps: Sequence[Frequency], length: int, rng: np.random.Generator) -> Values:
    """One series for each frequency in ``steps``, [len(steps), length]; each has a kernel of its own."""
    x = np.linspace(0.0, 1.0, length)
    means = np.zeros((len(steps), length))
    longest: list[int] = []
    kernels: list[Terms] = []
    for i, frequency in enumerate(steps):
        terms, period = draw_kernel(prior, frequency, length, rng)
        longest.append(period)
        noise = rng.choice(prior.noise_variances, p=prior.noise_shares) + prior.likelihood_noise**2
        if noise > 0.0:
            white = np.zeros(length)
            white[0] = noise
            terms = add(terms, {0: white})
        kernels.append(terms)
        if rng.random() < prior.linear_mean:
            slope, base = rng.standard_normal(2)
            means[i] = slope * x + base
    values = means + draw_processes(kernels, length, rng)
    for i, period in enumerate(longest):
        if rng.random() < prior.peak_share and 0 < period <= length:
            values[i] = _with_peaks(values[i], period, rng)
    return values


def draw_processes(kernels: Sequence[Terms], length: int, rng: np.random.Generator) -> Values:
    """One draw with mean 0 for each covariance in ``kernels``, [len(kernels), length]."""
    x = np.linspace(0.0, 1.0, length)
    places = [(i, power) for i, terms in enumerate(kernels) for power in terms]
    rows = np.stack([kernels[i][power] for i, power in places])
    values = np.zeros((len(kernels), length))
    drawn = correlate(rows, rng.standard_normal(rows.shape))
    for (i, power), series in zip(places, drawn, strict=True):
        values[i] += x**power * series
    return values


def draw_kernel(
    prior: Prior, frequency: Frequency, length: int, rng: np.random.Generator
) -> tuple[Terms, int]:
    """A random kernel over ``length`` steps and its longest period in steps, 0 without one."""
    weights = np.array([prior.matern_weight, prior.linear_weight, prior.periodic_weight])
    kinds = rng.choice(3, int(rng.integers(1, prior.max_kernels + 1)), p=weights / weights.sum())
    choices, spread = _periods(prior, frequency, length, int(np.sum(kinds == 2)), rng)
    longest = 0
    kernel: Terms = {}
    for number, kind in enumerate(kinds):
        scale = rng.uniform(*prior.length_scales)
        if kind == 0:
            part = {0: matern(length, float(rng.choice(prior.matern_orders)), scale)}
        elif kind == 1:
            part = {1: np.full(length, prior.kernel_scale)}
        else:
            period = _period(choices, spread, prior.period_spread, rng)
            longest = max(longest, period)
            part = {0: periodic(length, period, scale)}
        if rng.random() < prior.scaled_share:
            part = {power: prior.kernel_scale * row for power, row in part.items()}
        plus = number == 0 or rng.random() < 0.5
        kernel = add(kernel, part) if plus else multiply(kernel, part)
    return kernel, longest


def matern(length: int, order: float, scale: float) -> Values:
    """Covariance [length] by lag of a Matern process of order 0.5, 1.5 or 2.5; scale 1: the whole series."""
    d = np.sqrt(2.0 * order) * np.arange(length) / (max(length - 1, 1) * scale)
    polynomial = {0.5: 1.0, 1.5: 1.0 + d, 2.5: 1.0 + d + d * d / 3.0}[order]
    return np.asarray(polynomial * np.exp(-d))


def periodic(length: int, period: int, scale: float) -> Values:
    """Covariance [length] by lag, exp(-2 sin^2(pi lag / period) / scale); exactly ``period`` steps.

    The published program has the period as a share of ``length``, over an axis of length - 1 steps, so that
    its day of 24 hours has 23.96 at 572 steps and drifts off the clock.
    """
    lags = np.arange(length) % period
    return np.asarray(np.exp(-2.0 * np.sin(np.pi * lags / period) ** 2 / scale))


def dense(terms: Terms, length: int) -> Values:
    """The covariance matrix [length, length] of ``terms``."""
    x = np.linspace(0.0, 1.0, length)
    lags = np.abs(np.arange(length)[:, None] - np.arange(length))
    return np.asarray(sum(np.outer(x, x) ** power * row[lags] for power, row in terms.items()))


def correlate(rows: Values, white: Values) -> Values:
    """L_r z_r for each Toeplitz covariance L_r L_r' with first row ``rows[r]``: [r, n] from two [r, n].

    A row that is not positive definite to rounding gets more on its diagonal: 1e-9 to 1e-3 of its variance.
    Raises DataError when that does not suffice: the row is no covariance.
    """
    drawn = np.empty_like(rows)
    todo = np.arange(len(rows))
    for jitter in _JITTERS:
        raised = rows[todo]
        raised[:, 0] *= 1.0 + jitter
        some, sound = _schur(raised, white[todo])
        drawn[todo[sound]] = some[sound]
        todo = todo[~sound]
        if len(todo) == 0:
            return drawn
    raise DataError(
        f"row {todo[0]} is not the first row of a covariance matrix", where="prior", fix="report this kernel"
    )


def _schur(rows: Values, white: Values) -> tuple[Values, NDArray[np.bool_]]:
    """L z, and which rows are positive definite; column k of L is made from column k - 1 and dropped.

    u and v are the generators of what is left of the matrix; a hyperbolic rotation makes v's first element 0.
    Its mixed form (v from the new u) keeps the factor exact to rounding (Bojanczyk et al., 1995).
    """
    rows, white = np.ascontiguousarray(rows.T), np.ascontiguousarray(white.T)  # [n, r]: r side by side
    n = len(rows)
    sound = rows[0] > 0.0
    u = rows / np.sqrt(np.where(sound, rows[0], 1.0))
    v = u.copy()
    out = u * white[0]
    buffer = np.empty_like(u)
    for k in range(1, n):
        u, v, part = u[:-1], v[1:], buffer[: n - k]
        turn = v[0] / np.where(u[0] > 0.0, u[0], 1.0)
        sound &= np.abs(turn) < 1.0
        turn = np.where(sound, turn, 0.0)
        cosine = np.sqrt((1.0 - turn) * (1.0 + turn))
        np.multiply(v, turn, out=part)
        u -= part
        u *= 1.0 / cosine
        v *= cosine
        np.multiply(u, turn, out=part)
        v -= part
        np.multiply(u, white[k], out=part)
        out[k:] += part
    return out.T, sound


def add(a: Terms, b: Terms) -> Terms:
    """The terms of the sum of two covariances."""
    return {m: np.asarray(sum(terms[m] for terms in (a, b) if m in terms)) for m in sorted({*a, *b})}


def multiply(a: Terms, b: Terms) -> Terms:
    """The terms of the product, element by element, of two covariances."""
    product: Terms = {}
    for p, row in a.items():
        for q, other in b.items():
            product = add(product, {p + q: row * other})
    return product


def _periods(
    prior: Prior, frequency: Frequency, length: int, kernels: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], bool]:
    """Periods in steps from which a process draws, and whether it draws around rather than at them."""
    most = max(int(prior.max_period * length), 2)
    calendar, around = rng.random() < prior.periods_per_freq, rng.random() < prior.gaussian_sampling
    choices = np.array(dict(prior.calendar_periods).get(frequency.unit, ()), np.int64)
    if calendar and kernels <= _FEW and frequency.count == 1 and len(choices) > _LONGEST:
        choices = choices[:-_LONGEST]
    choices = choices[choices >= frequency.count] // frequency.count
    choices = choices[(choices >= 2) & (choices <= most)]
    if calendar and len(choices):
        return choices, around
    choices = np.array(prior.periods, np.int64)
    longer = np.arange(max(most // 2, int(choices.max()) + _SPACING), most, _SPACING)
    choices = np.concatenate([choices, longer])
    choices = choices[choices <= most]
    return (choices if len(choices) else np.array([most])), True


def _period(choices: NDArray[np.int64], around: bool, spread: float, rng: np.random.Generator) -> int:
    middle = int(rng.choice(choices))
    return max(int(abs(rng.normal(middle, middle**spread))), 2) if around else middle


def _with_peaks(series: Values, period: int, rng: np.random.Generator) -> Values:
    """The series with spikes where its first period is highest, and at every period or patches from there."""
    spikes = spike_train(len(series), rng, interval=period, kinds=(0.3, 0.7, 0.0))
    spikes = np.roll(spikes, int(np.argmax(series[:period])) - (period - 1))
    return series + spikes + 1.0 if spikes[0] < 0.0 else series * spikes
