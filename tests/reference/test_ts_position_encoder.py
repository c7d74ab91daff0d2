from __future__ import annotations

import numpy as np

from neuronet.reference.ts_position_encoder import TimeHarmonics, TimeHarmonicsGradient


def test_harmonics_of_each_period() -> None:
    rng = np.random.default_rng(0)
    x, phases = rng.standard_normal((5, 3, 4, 2)), rng.random((5, 3))
    y = np.empty_like(x)
    TimeHarmonics(x=x, phases=phases, y=y)
    for r, p, j in np.ndindex(5, 3, 4):
        angle = 2 * np.pi * 2**j * phases[r, p]
        np.testing.assert_allclose(y[r, p, j] - x[r, p, j], [np.sin(angle), np.cos(angle)], atol=1e-12)


def test_gradient_of_the_phases() -> None:
    rng = np.random.default_rng(1)
    x, phases, dy = rng.standard_normal((5, 3, 4, 2)), rng.random((5, 3)), rng.standard_normal((5, 3, 4, 2))
    gradient, ends = np.empty_like(phases), []
    TimeHarmonicsGradient(phases=phases, dy=dy, dphases=gradient)
    direction, eps = rng.standard_normal(phases.shape), 1e-6
    for sign in (1, -1):
        y = np.empty_like(x)
        TimeHarmonics(x=x, phases=phases + sign * eps * direction, y=y)
        ends.append(float((y * dy).sum()))
    np.testing.assert_allclose((ends[0] - ends[1]) / (2 * eps), (gradient * direction).sum(), rtol=1e-7)
