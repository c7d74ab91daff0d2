"""Spikes and damping: what breaks the smoothness of synthetic series."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def spike_train(
    length: int, rng: np.random.Generator, *, interval: int | None = None, kinds: tuple[float, float, float]
) -> Values:
    """1 with spikes above it, or -1 with spikes below it (in 30 %); [length].

    A spike rises linearly over 1 to 3 steps (more in longer series), to 0.5-2 (70 %) or 2.5-5 times their
    number. ``kinds`` are the probabilities of spikes at every interval, at every interval within patches, and
    at random places. ``interval`` in steps; by default a spike fills 5 to 15 % of it.
    """
    shares = (1.0, 0.0, 0.0) if length < 120 else (0.7, 0.3, 0.0) if length < 250 else (0.4, 0.45, 0.15)
    rise = 1 + int(rng.choice(3, p=shares))
    kind = int(rng.choice(3, p=kinds))
    if kind == 2:
        number = int(rng.integers(4, min(max(length // (6 * rise), 6), 20)))
        places = rng.choice(length, min(number, length), replace=False)
    else:
        if interval is None:
            interval = int(rng.integers(int(np.ceil(2 * rise / 0.15)), int(np.ceil(2 * rise / 0.05))))
        places = np.arange(interval - 1, length, interval)
    if kind == 1 and len(places) > 3:
        patch = int(rng.integers(2, max(int(len(places) * 0.7), 3)))
        kept = int(rng.integers(int(np.ceil(patch * 0.4)), patch))
        places = places[np.arange(len(places)) % patch < kept]
    heights = np.where(
        rng.random(len(places)) < 0.7,
        rng.uniform(0.5, 2.0, len(places)),
        rng.uniform(2.5, 5.0, len(places)),
    )
    tips = np.zeros(length + 2 * rise)
    tips[places + rise] = heights
    slope = rise - np.abs(np.arange(1 - rise, rise, dtype=np.float64))  # such as 1, 2, 1
    spiked = 1.0 + np.convolve(tips, slope, "same")[rise : rise + length]
    return spiked if rng.random() < 0.7 else -spiked


def damping(length: int, rng: np.random.Generator) -> Values:
    """Factors [length] that are constant over stretches: equal ones, two alternating lengths, or random."""
    kind = int(rng.choice(3, p=(0.4, 0.5, 0.1)))
    if kind == 0:
        number = int(rng.integers(3, 7))
        edges = np.linspace(0.0, length, number + 2)[1:-1]
    elif kind == 1:
        two = rng.integers(1, max(length // 2, 2), 2)
        edges = np.cumsum(np.resize(two, 2 * int(np.ceil(length / two.sum()))))
        edges = edges[edges < length].astype(np.float64)
    else:
        edges = np.sort(rng.choice(max(int(length * 0.9), 2), int(rng.integers(1, 3)), replace=False) + 0.0)
    number = len(edges) + 1
    if kind == 2:
        levels = rng.uniform(0.1, 2.0, number)
    else:
        low, high = rng.uniform(0.4, 0.8, number), rng.uniform(1.0, 2.0, number)
        levels = np.where(np.arange(number) % 2 == 0, low, high)
    return np.asarray(levels[np.searchsorted(edges, np.arange(length), side="right")])
