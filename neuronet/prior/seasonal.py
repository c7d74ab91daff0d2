"""Series with a trend and calendar seasons, after ForecastPFN (arXiv 2311.01933) as Mamba4Cast changed it.

values = (trend + product over cycles of (1 + amplitude * harmonics)) * (1 + scale * (Weibull - 1)), then
stretches of another level, spikes, and in some blocks series of nothing but spikes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neuronet.prior.settings import Prior
from neuronet.prior.spikes import damping, spike_train
from neuronet.prior.stamps import CYCLE_LENGTHS, Times, cycle
from neuronet.series.frequency import Frequency

Values = NDArray[np.float64]
_DAY_NS = 86_400 * 10**9
_KINDS = (0.4, 0.5, 0.1)  # spikes at every interval, in patches, at random


def draw_seasonal(prior: Prior, steps: Sequence[Frequency], times: Times, rng: np.random.Generator) -> Values:
    """One series for each frequency in ``steps``, on the stamps ``times`` [len(steps), n]; same shape."""
    values = np.stack([_draw(prior, f, t, rng) for f, t in zip(steps, times, strict=True)])
    if rng.random() < prior.spike_batches:
        share = rng.uniform(0.0, prior.spike_batch_share)
        for i in rng.choice(len(values), int(np.ceil(share * len(values))), replace=False):
            values[i] = spike_train(values.shape[1], rng, kinds=_KINDS)
    return values


def _draw(prior: Prior, frequency: Frequency, times: Times, rng: np.random.Generator) -> Values:
    n = len(times)
    values = trend(prior, times, rng) + seasons(prior, frequency, times, rng)
    low, high = prior.noise_scales[int(rng.choice(len(prior.noise_scales), p=prior.noise_scale_shares))]
    noise = weibull(rng.uniform(*prior.weibull_shape), n, rng)
    values *= 1.0 + rng.uniform(low, high) * (noise - 1.0)
    if rng.random() < prior.damping:
        values *= damping(n, rng)
    if rng.random() < prior.spikes:
        spikes = spike_train(n, rng, kinds=_KINDS)
        values = values * spikes if spikes[0] < 0.0 else values + spikes + 1.0
    return values


def trend(prior: Prior, times: Times, rng: np.random.Generator) -> Values:
    """1 + slope * (age - offset * last age), [n]; the age in days or in steps."""
    days = (times - times[0]) / _DAY_NS
    age = days if prior.trend_per == "day" else np.arange(len(times), dtype=np.float64)
    return np.asarray(
        1.0 + rng.normal(0.0, prior.trend_slope) * (age - rng.uniform(*prior.trend_offset) * age[-1])
    )


def seasons(prior: Prior, frequency: Frequency, times: Times, rng: np.random.Generator) -> Values:
    """Product of 1 + amplitude * pattern over the unit's cycles, [n]; 1 where the unit has none.

    Each pattern is a sum of sines and cosines of the part of the calendar, with squares of coefficients that
    sum to 1. (Published amplitudes of cycles that cannot vary are left out: minutes of hourly stamps.)
    """
    values = np.ones(len(times))
    decaying = rng.random() < prior.harmonic_scale
    for unit, name, most in prior.amplitudes:
        if unit != frequency.unit:
            continue
        number = int(np.ceil(dict(prior.harmonics)[name] * prior.harmonic_rate))
        k = np.arange(1, number + 1)
        weights = rng.standard_normal((2, number)) / (k if decaying else 1)
        weights /= np.sqrt(np.sum(weights**2))
        parts = cycle(name, times)
        angle = 2.0 * np.pi / CYCLE_LENGTHS[name] * np.outer(np.arange(parts.max() + 1), k)
        pattern = np.sum(weights[0] * np.sin(angle) + weights[1] * np.cos(angle), axis=1)
        values *= 1.0 + rng.uniform(0.0, most) * pattern[parts]
    return values


def weibull(shape: float, n: int, rng: np.random.Generator) -> Values:
    """Weibull noise [n] of this shape whose median is 1."""
    return np.asarray(rng.weibull(shape, n) / np.log(2.0) ** (1.0 / shape))
