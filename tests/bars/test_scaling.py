"""Scaler: fitted on the rows given and no other, constant columns, bit-exact storage."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.features import make_features
from neuronet.bars.scaling import Scaler
from neuronet.bars.split import split_by_time
from neuronet.bars.windows import window_starts
from neuronet.errors import DataError


def test_standardises_and_back() -> None:
    values = np.random.default_rng(0).normal(3.0, 0.5, (500, 4)) * [1.0, 1e5, 1e-6, 2.0]
    scaler = Scaler.fit(values, ["a", "b", "c", "d"])
    scaled = scaler.transform(values)
    np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(scaler.inverse(scaled), values, rtol=1e-12)


def test_the_future_does_not_leak(bars: Bars) -> None:
    features = make_features(bars, ["neuronet9", "returns"])
    starts = window_starts(bars, history=40, horizon=5, warmup=features.warmup)
    split = split_by_time(starts, bars.time, history=40, horizon=5)
    end = int(split.train[-1]) + 40
    perturbed = features.values.copy()
    perturbed[end:] *= -7.0
    scalers = [Scaler.fit(v[features.warmup : end], features.names) for v in (features.values, perturbed)]
    assert scalers[0].to_dict() == scalers[1].to_dict()


def test_a_constant_column_is_named_and_gets_scale_1(caplog: pytest.LogCaptureFixture) -> None:
    values = np.stack([np.arange(10.0), np.full(10, 1.1)], axis=1)
    with caplog.at_level(logging.WARNING, "neuronet"):
        scaler = Scaler.fit(values, ["moves", "spread"])
    assert scaler.scale[1] == 1.0
    assert "scale is 1: spread" in caplog.text
    assert np.isfinite(scaler.transform(values)).all()


def test_values_beyond_the_training_range_are_not_clipped() -> None:
    scaler = Scaler.fit(np.array([[0.0], [2.0]]), ["x"])
    assert scaler.transform(np.array([[11.0]]))[0, 0] == 10.0


def test_stored_bit_for_bit() -> None:
    scaler = Scaler.fit(np.random.default_rng(1).normal(size=(50, 3)), ["a", "b", "c"])
    again = Scaler.from_dict(json.loads(json.dumps(scaler.to_dict())))
    assert again.names == scaler.names
    np.testing.assert_array_equal(again.mean, scaler.mean)
    np.testing.assert_array_equal(again.scale, scaler.scale)


def test_refusals() -> None:
    with pytest.raises(DataError, match="dead has no value in 3 of 4 rows"):
        Scaler.fit(np.array([[1.0, np.nan], [2.0, np.inf], [3.0, np.nan], [4.0, 1.0]]), ["x", "dead"])
    with pytest.raises(DataError, match=r"shape \(4, 2\) do not match 3 names"):
        Scaler.fit(np.ones((4, 2)), ["a", "b", "c"])
