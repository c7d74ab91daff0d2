"""WindowPca: exact where the data lie in a plane, high where they leave it."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.anomaly.baselines import WindowPca
from neuronet.anomaly.scores import total
from neuronet.errors import DataError, ShapeError


def waves(rows: int) -> np.ndarray:
    """Two channels of one wave and its shift: their windows lie in a plane of two dimensions."""
    t = np.arange(rows) * 2 * np.pi / 16
    return np.stack([3.0 * np.sin(t) + 1.0, np.cos(t)], axis=1)


def test_data_in_a_plane_score_0_until_they_leave_it() -> None:
    found = WindowPca.fit(waves(320), components=2, window=8)
    test = waves(64)
    np.testing.assert_allclose(found.scores(test), 0.0, atol=1e-25)
    test[40, 1] += 1.0
    scores = found.scores(test)
    np.testing.assert_array_equal(np.flatnonzero(total(scores) > 1e-6), np.arange(33, 48))
    assert np.argmax(scores.sum(axis=0)) == 1
    np.testing.assert_allclose(
        found.reconstruct(((waves(8) - found.mean) / found.scale)[None]).shape, (1, 8, 2)
    )


def test_score_of_a_row_by_hand() -> None:
    """Windows of 2 rows in one channel, the axis (1, 1): errors are squares of half differences."""
    train = np.array([1.0, 1.0, -1.0, -1.0] * 3)[:, None]
    found = WindowPca.fit(train, components=1, window=2, every=2)
    np.testing.assert_allclose(np.abs(found.axes[:, 0]), np.sqrt(0.5))
    scores = found.scores(np.array([0.0, 2.0, 2.0, 6.0])[:, None])[:, 0]
    np.testing.assert_allclose(scores, [1.0, 0.5, 2.0, 4.0])  # windows 1, 0, 4


def test_few_windows_give_the_same_axes_as_many() -> None:
    values = np.random.default_rng(0).normal(size=(60, 3))
    few = WindowPca.fit(values, components=4, window=16, every=4)  # 12 windows of 48 values
    points = np.stack([((values - few.mean) / few.scale)[i : i + 16].ravel() for i in range(0, 45, 4)])
    axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][:4]
    np.testing.assert_allclose(np.abs(axes @ few.axes), np.eye(4), atol=1e-10)
    many = WindowPca.fit(values, components=2, window=2, every=1)  # 59 windows of 6 values
    points = np.stack([((values - many.mean) / many.scale)[i : i + 2].ravel() for i in range(59)])
    axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][:2]
    np.testing.assert_allclose(np.abs(axes @ many.axes), np.eye(2), atol=1e-10)


def test_scores_in_chunks_and_with_a_constant_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).normal(size=(100, 2))
    values[:, 1] = 7.0
    found = WindowPca.fit(values, components=3, window=8)
    assert found.scale[1] == 1.0
    scores = found.scores(values)
    np.testing.assert_allclose(scores[:, 1], 0.0, atol=1e-25)
    monkeypatch.setattr("neuronet.anomaly.baselines.AT_ONCE", 1)
    np.testing.assert_allclose(found.scores(values), scores, rtol=1e-12)


def test_what_cannot_be_fitted_or_scored() -> None:
    values = np.random.default_rng(0).normal(size=(100, 2))
    with pytest.raises(DataError, match="20 components of 18 windows"):
        WindowPca.fit(values)
    with pytest.raises(DataError, match="10 rows are fewer than a window of 32"):
        WindowPca.fit(values[:10])
    found = WindowPca.fit(values, components=3, window=8)
    with pytest.raises(ShapeError, match="1 channels instead of 2"):
        found.scores(values[:, :1])
    values[3, 1] = np.inf
    with pytest.raises(DataError, match="row 3, channel 1 is inf"):
        found.scores(values)
