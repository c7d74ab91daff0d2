"""Spikes and damping: shapes, places and levels."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.prior.spikes import damping, spike_train


def test_regular_spikes_stand_at_every_interval() -> None:
    signs = []
    for seed in range(100):
        spikes = spike_train(100, np.random.default_rng(seed), interval=10, kinds=(1, 0, 0))
        signs.append(np.sign(spikes[0]))
        assert np.array_equal(np.flatnonzero(np.abs(spikes) > 1.0), np.arange(9, 100, 10))
        heights = np.abs(spikes[9::10]) - 1.0
        assert np.all(((heights >= 0.5) & (heights <= 2.0)) | ((heights >= 2.5) & (heights <= 5.0)))
    assert abs(np.sum(np.array(signs) < 0) - 30) < 4 * np.sqrt(21)


def test_spikes_of_long_series_rise_and_fall_evenly() -> None:
    widths = set()
    for seed in range(40):
        spikes = np.abs(spike_train(600, np.random.default_rng(seed), interval=50, kinds=(1, 0, 0))) - 1.0
        rise = int(np.sum(spikes[40:60] > 0) + 1) // 2
        widths.add(rise)
        around = spikes[49 - rise : 50 + rise]
        np.testing.assert_allclose(
            around / around[rise], 1 - np.abs(np.arange(-rise, rise + 1)) / rise, atol=1e-12
        )
    assert widths == {1, 2, 3}


@pytest.mark.parametrize("kind", [1, 2])
def test_patches_and_random_places_leave_spikes_out(kind: int) -> None:
    kinds = tuple(float(k == kind) for k in range(3))
    for seed in range(50):
        spikes = spike_train(110, np.random.default_rng(seed), interval=10, kinds=kinds)
        places = np.flatnonzero(np.abs(spikes) > 1.0)
        assert 0 < len(places) < 11 or kind == 2
        assert kind == 2 or set(places % 10) == {9}


@pytest.mark.parametrize("length", [8, 9, 100, 1_000])
def test_every_length_works(length: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        spikes, levels = spike_train(length, rng, kinds=(0.4, 0.5, 0.1)), damping(length, rng)
        assert spikes.shape == levels.shape == (length,)
        assert np.all(np.abs(spikes) >= 1.0)
        assert np.all((levels >= 0.1) & (levels <= 2.0))


def test_damping_has_stretches_of_different_levels() -> None:
    rng = np.random.default_rng(1)
    changes = [np.count_nonzero(np.diff(damping(200, rng))) for _ in range(200)]
    assert min(changes) >= 1
    assert np.median(changes) < 20
