"""Preparation: no look-ahead, no leak, and a sentence for bars that cannot be learned from."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.scaling import Scaler
from neuronet.bars.synthetic import make_bars
from neuronet.errors import DataError
from neuronet.train.prepare import cut, known_rows, prepare
from neuronet.train.settings import Settings

Small = Callable[..., Settings]


def flat(bars: Bars, begin: int, end: int) -> Bars:
    """The bars with prices that stand still from row begin to end."""
    changed = {name: getattr(bars, name).copy() for name in ("open", "high", "low", "close")}
    for values in changed.values():
        values[begin:end] = bars.close[begin]
    return replace(bars, **changed)


def test_windows_hold_the_scaled_features_and_targets_of_their_bars(bars: Bars, small: Small) -> None:
    prepared = prepare(bars, small())
    starts = prepared.split.validation
    source = prepared.source(starts)
    assert len(prepared.bars) == len(bars) - 1  # one bar of warm-up, dropped once
    for i in (0, 7, len(starts) - 1):
        rows = source.rows[source.starts[i] : source.starts[i] + 24]
        t = int(starts[i]) + 23
        closes = np.log(prepared.bars.close[t - 23 : t + 5])
        returns = np.diff(closes)[:23]
        column = prepared.features.names.index("close_return")
        raw = rows[1:, column] * prepared.features.scale[column] + prepared.features.mean[column]
        np.testing.assert_allclose(raw, returns, rtol=1e-4, atol=1e-9)
        target = source.targets[source.starts[i] + 23] * prepared.target.scale
        np.testing.assert_allclose(target, closes[24:] - closes[23], rtol=1e-12)


def test_sources_carry_only_the_rows_of_their_part(bars: Bars, small: Small) -> None:
    prepared = prepare(bars, small())
    split = prepared.split
    train = prepared.source(split.train)
    assert len(train.rows) == split.train[-1] + 24 - split.train[0]
    assert np.isfinite(train.targets).all()
    last_target = int(split.train[-1]) + 24 + 4 - 1
    assert last_target < split.validation[0] < split.validation[-1] + 27 < split.test[0]


def test_every_nth_window_trains_and_all_others_count(bars: Bars, small: Small) -> None:
    whole, thin = prepare(bars, small()).split, prepare(bars, small(every=5)).split
    assert thin.train.tolist() == whole.train[::-1][::5][::-1].tolist()
    assert thin.train[-1] == whole.train[-1]
    for part in ("validation", "test"):
        np.testing.assert_array_equal(getattr(thin, part), getattr(whole, part))


def test_a_policy_trains_on_every_nth_run_of_neighbours(bars: Bars, small: Small) -> None:
    whole = prepare(bars, small(task="policy")).split.train
    thin = prepare(bars, small(task="policy", every=3, batch=10)).split.train
    last = whole[-10 * (len(whole) // 10) :].reshape(-1, 10)[::-1][::3][::-1]
    assert thin[-last.size :].tolist() == last.ravel().tolist()
    assert len(whole) / 3 - 10 <= len(thin) <= len(whole) / 3 + 10


def test_what_comes_after_the_training_part_moves_no_scaler(bars: Bars, small: Small) -> None:
    before = prepare(bars, small())
    cutoff = int(before.split.train[-1]) + 24 + 4 + 1  # in the whole bars, one row of warm-up further on
    rng = np.random.default_rng(0)
    noise = np.ones(len(bars))
    noise[cutoff:] = rng.uniform(0.5, 2.0, size=len(bars) - cutoff)
    changed = {n: getattr(bars, n) * noise for n in ("open", "high", "low", "close", "volume")}
    after = prepare(replace(bars, **changed), small())
    assert after.features.to_dict() == before.features.to_dict()
    assert after.target.to_dict() == before.target.to_dict()
    for name in ("rows", "targets", "starts"):
        np.testing.assert_array_equal(
            getattr(after.source(after.split.train), name), getattr(before.source(before.split.train), name)
        )


def test_values_far_beyond_the_training_part_are_not_clipped(small: Small) -> None:
    bars = make_bars(900)
    factor = np.where(np.arange(900) == 850, 3.0, 1.0)
    spiked = replace(bars, **{n: getattr(bars, n) * factor for n in ("open", "high", "low", "close")})
    prepared = prepare(spiked, small())
    column = prepared.features.names.index("close_return")
    assert prepared.values[849, column] > 500


def test_a_constant_feature_is_named_in_a_warning(
    bars: Bars, small: Small, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="neuronet"):
        prepared = prepare(replace(bars, volume=np.zeros(len(bars))), small())
    assert "volume_change" in caplog.text
    assert np.isfinite(prepared.values).all()


def test_nothing_to_learn_in_the_training_part(bars: Bars, small: Small) -> None:
    still = flat(bars, 0, 700)
    for task in ("forecast", "direction"):
        with pytest.raises(DataError, match="nothing to learn: every target of the training part is"):
            prepare(still, small(task=task))
    with pytest.raises(DataError, match="nothing to learn"):
        prepare(flat(bars, 0, 900), small())


def test_nothing_to_learn_from_where_all_features_stand_still(bars: Bars, small: Small) -> None:
    end = prepare(bars, small()).split.train[-1] + 24  # rows of the last training window, not its targets
    still = flat(replace(bars, volume=np.ones(len(bars))), 0, int(end) + 1)
    with pytest.raises(DataError, match="all 5 features are constant in the training part"):
        prepare(still, small())


@pytest.mark.parametrize("count", [1, 8])
def test_too_few_bars_is_a_sentence(count: int, small: Small) -> None:
    with pytest.raises(DataError, match=r"need|leaves no bar|too few"):
        prepare(make_bars(count), small())


def test_a_part_without_a_window_is_named_with_its_numbers(small: Small) -> None:
    with pytest.raises(
        DataError, match=r"train: \d+ bars give \d+ windows, validation: 14 bars give 0 windows of 40\+5"
    ):
        prepare(make_bars(71), small(history=40, horizon=5, validation=0.2, test=0.0))


def test_known_rows_reorder_features_by_name(bars: Bars, small: Small) -> None:
    scaler = prepare(bars, small()).features
    order = [3, 0, 4, 1, 2]
    turned = Scaler(tuple(scaler.names[i] for i in order), scaler.mean[order], scaler.scale[order])
    np.testing.assert_array_equal(
        known_rows(bars, small(), turned)[1], known_rows(bars, small(), scaler)[1][:, order]
    )


def test_a_missing_feature_is_named(bars: Bars, small: Small) -> None:
    scaler = prepare(bars, small()).features
    other = Scaler((*scaler.names[:-1], "rsi_of_the_moon"), scaler.mean, scaler.scale)
    with pytest.raises(DataError, match="needs the features rsi_of_the_moon"):
        known_rows(bars, small(), other)


def test_what_is_too_large_for_float32_is_named(bars: Bars, small: Small) -> None:
    scaler = prepare(bars, small()).features
    tiny = Scaler(scaler.names, scaler.mean, np.where(np.arange(5) == 2, 1e-60, scaler.scale))
    with pytest.raises(DataError, match=f"{scaler.names[2]} is .*: cannot scale it"):
        known_rows(bars, small(), tiny)


def test_windows_do_not_span_a_longer_gap(bars: Bars, small: Small) -> None:
    prepared = prepare(bars, small(max_gap="1d"))
    starts = np.concatenate([prepared.split.train, prepared.split.validation, prepared.split.test])
    for s in starts:
        assert np.diff(prepared.bars.time[s : s + 28]).max() <= 86_400 * 10**9


def test_cut_keeps_windows() -> None:
    values, starts = np.arange(40.0).reshape(20, 2), np.array([5, 6, 11], np.int32)
    source = cut(values, starts, 3, np.arange(20))
    assert len(source.rows) == 9
    for i, s in enumerate(starts):
        np.testing.assert_array_equal(source.rows[source.starts[i] : source.starts[i] + 3], values[s : s + 3])
        assert source.targets[source.starts[i] + 2] == s + 2
