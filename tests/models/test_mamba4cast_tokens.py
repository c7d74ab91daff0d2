"""Tokens: scaled by the known past alone, dated by the calendar; training cuts are pieces of their series."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from neuronet.layers.ts_position_encoder import time_phases
from neuronet.models import mamba4cast_tokens as module
from neuronet.models.mamba4cast_tokens import (
    FARTHEST,
    FLAT,
    KNOWN,
    MOST_GAPS,
    SEASON,
    SEASON_KNOWN,
    VALUE,
    Tokens,
    tokens_of,
    tokens_of_series,
    training_samples,
)
from neuronet.series.frequency import Frequency
from neuronet.series.series import Series

Make = Callable[..., Series]
PERIODS = (86_400, 604_800)
HOUR = 3_600 * 10**9
HORIZON = 4


def tokens(series: Series, context: int = 40, horizon: int = HORIZON) -> Tokens:
    return tokens_of_series([series], context, horizon, PERIODS)


def samples(
    values: Any, *, context: int, horizon: int = HORIZON, seed: int = 0, times: Any = None, season: int = 24
) -> tuple[Tokens, Any]:
    values = np.asarray(values, np.float64)
    if times is None:
        times = np.broadcast_to(np.arange(values.shape[1]) * HOUR, values.shape)
    seasons = np.full(len(values), season)
    return training_samples(
        values, times, seasons, context=context, horizon=horizon, periods=PERIODS,
        rng=np.random.default_rng(seed),
    )  # fmt: skip


# --- scaling -----------------------------------------------------------------------------------------


def test_an_output_of_0_is_the_last_known_value_and_1_the_range(make_series: Make) -> None:
    made = tokens(make_series([3.0, 7.0, -1.0, 5.0]), context=4)
    assert (made.shift.tolist(), made.scale.tolist()) == ([5.0], [8.0])
    assert made.x[0, :, VALUE].tolist() == [-0.25, 0.25, -0.75, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert made.x[0, :, KNOWN].tolist() == [1.0] * 4 + [0.0] * 4
    assert (made.x.dtype, made.phases.dtype, made.scale.dtype) == (np.float32, np.float32, np.float64)


def test_what_is_missing_is_not_seen_and_moves_no_scale(make_series: Make) -> None:
    made = tokens(make_series([np.nan, 2.0, np.nan, 6.0, 4.0, np.nan, np.nan]), context=7)
    assert (made.shift.tolist(), made.scale.tolist()) == ([4.0], [4.0])
    assert made.x[0, :7, VALUE].tolist() == [0.0, -0.5, 0.0, 0.5, 0.0, 0.0, 0.0]
    assert made.x[0, :7, KNOWN].tolist() == [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    assert np.isfinite(made.x).all()


@pytest.mark.parametrize(("level", "scale"), [(-5.0, 5.0 * FLAT), (2e6, 2e6 * FLAT), (0.0, 1.0)])
def test_a_flat_history_has_a_scale_too(make_series: Make, level: float, scale: float) -> None:
    made = tokens(make_series(np.full(30, level)))
    assert made.shift[0] == level
    assert made.scale[0] == pytest.approx(scale, rel=1e-12)
    assert not made.x[..., VALUE].any()


def test_a_range_that_is_rounding_only_is_not_blown_up(make_series: Make) -> None:
    made = tokens(make_series(1e6 + 1e-6 * np.arange(30)))
    assert made.scale[0] == pytest.approx(1e6 * FLAT)
    assert np.abs(made.x[..., VALUE]).max() < 1e-6


def test_in_front_of_a_short_history_lie_zeros(make_series: Make) -> None:
    one = make_series(np.sin(np.arange(10.0)))
    wide, own = tokens(one, context=40), tokens(one, context=10)
    assert wide.x.shape[1] == 44
    assert not wide.x[:, :30].any()
    assert not wide.phases[:, :30].any()
    np.testing.assert_array_equal(wide.x[:, 30:], own.x)
    np.testing.assert_array_equal(wide.phases[:, 30:], own.phases)
    assert (wide.shift, wide.scale) == (own.shift, own.scale)


def test_only_the_last_context_values_count(make_series: Make) -> None:
    values = np.random.default_rng(0).standard_normal(100)
    values[:60] *= 1e6
    one = make_series(values)
    whole, part = tokens(one), tokens(one[-40:])
    for name in ("x", "phases", "shift", "scale"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(part, name))


def test_series_in_a_batch_do_not_touch_each_other(make_series: Make) -> None:
    rng = np.random.default_rng(1)
    made = [make_series(rng.standard_normal(n), unit) for n, unit in ((50, "h"), (7, "m"), (39, "d"))]
    both = tokens_of_series(made, 40, HORIZON, PERIODS)
    for i, one in enumerate(made):
        for name in ("x", "phases", "shift", "scale"):
            np.testing.assert_array_equal(getattr(both, name)[i : i + 1], getattr(tokens(one), name))


def test_the_value_a_season_ago_is_seen_ahead_too(make_series: Make) -> None:
    """Against a plain loop: the latest known-or-not position whole seasons back that is history."""
    values, context, horizon, season = np.random.default_rng(2).standard_normal(60), 60, 55, 24
    values[[10, 40]] = np.nan
    made = tokens(make_series(values), context, horizon)
    for at in range(context + horizon):
        back = at - season
        while back >= context:
            back -= season
        there = back >= 0 and not np.isnan(values[back])
        assert made.x[0, at, SEASON_KNOWN] == there
        assert made.x[0, at, SEASON] == (made.x[0, back, VALUE] if there else 0.0)


# --- no look-ahead, and time --------------------------------------------------------------------------


def test_nothing_of_the_values_behind_the_history_reaches_the_tokens() -> None:
    rng, shape = np.random.default_rng(3), (5, 44)
    values, times = rng.standard_normal(shape), np.arange(44) * HOUR + np.zeros(shape, np.int64)
    past = np.zeros(shape, np.bool_)
    past[:, 12:40] = True
    seasons = np.array([1, 4, 7, 24, 24])
    want = tokens_of(values, times, past, seasons, horizon=HORIZON, periods=PERIODS)
    for other in (1e9, -1.0, np.nan, np.inf):
        changed = np.where(past, values, other)
        made = tokens_of(changed, times, past, seasons, horizon=HORIZON, periods=PERIODS)
        for name in ("x", "phases", "shift", "scale"):
            np.testing.assert_array_equal(getattr(made, name), getattr(want, name))


@pytest.mark.parametrize("unit", ["min", "h", "d", "w", "m", "q", "y"])
def test_phases_are_those_of_the_stamps_past_and_future(make_series: Make, unit: str) -> None:
    one = make_series(np.arange(30.0), unit, start="1950-01-31T05:30")
    stamps = np.concatenate([one.times, one.future(HORIZON)])
    made = tokens(one, context=30)
    np.testing.assert_array_equal(made.phases[0], time_phases(stamps, PERIODS).astype(np.float32))


def test_phases_of_steps_ahead_by_hand(make_series: Make) -> None:
    made = tokens(make_series([1.0, 2.0], start="2024-02-28T22:00"), context=2, horizon=3)
    assert made.phases[0, :, 0].tolist() == pytest.approx([22 / 24, 23 / 24, 0.0, 1 / 24, 2 / 24], abs=1e-7)
    monthly = make_series([1.0, 2.0, 3.0], "m", start="2023-11-30")  # the last value: 30 January 2024
    ahead = tokens_of_series([monthly], 3, 2, (4 * 86_400,)).phases[0, 3:, 0]
    days = [np.datetime64(day).astype(int) % 4 / 4 for day in ("2024-02-29", "2024-03-30")]
    assert ahead.tolist() == days


# --- training samples ---------------------------------------------------------------------------------


@pytest.fixture
def no_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GAPPY", 0.0)


@pytest.mark.usefixtures("no_gaps")
def test_a_training_sample_is_a_piece_of_its_series() -> None:
    """Scaled back, history and target are neighbouring values, and the phases are those of their stamps."""
    rng, context, length = np.random.default_rng(4), 48, 90
    values = rng.standard_normal((2_000, length))
    times = rng.integers(0, 10**18, (2_000, 1)) + HOUR * np.arange(length)
    made, targets = samples(values, context=context, times=times)
    assert targets.shape == (2_000, HORIZON)
    back = made.shift[:, None] + made.scale[:, None] * targets
    seen, ends = set(), set()
    for i in range(2_000):
        end = int(np.argmin(np.abs(values[i] - back[i, 0])))
        np.testing.assert_allclose(values[i, end : end + HORIZON], back[i], rtol=0, atol=1e-12)
        sees = int(made.x[i, :, KNOWN].sum())
        history = values[i, end - sees : end]
        assert made.shift[i] == history[-1]
        assert made.scale[i] == pytest.approx(np.ptp(history), rel=1e-12)
        part = slice(context - sees, context)
        np.testing.assert_allclose(
            made.x[i, part, VALUE], (history - history[-1]) / np.ptp(history), atol=1e-6
        )
        assert not made.x[i, : context - sees].any()
        stamps = times[i, end - sees : end + HORIZON]
        np.testing.assert_array_equal(
            made.phases[i, context - sees :], time_phases(stamps, PERIODS).astype(np.float32)
        )
        seen.add(sees)
        ends.add(end)
    assert seen == set(range(module.SHORTEST, context + 1))
    assert min(ends) < 30
    assert max(ends) == length - HORIZON


@pytest.mark.usefixtures("no_gaps")
def test_training_tokens_are_those_of_a_forecast_from_the_same_history(make_series: Make) -> None:
    one = make_series(np.random.default_rng(5).standard_normal(60))
    made, targets = samples(one.values[None], context=40, times=one.times[None], season=one.frequency.season)
    first = made.shift[0] + made.scale[0] * targets[0, 0]
    end, sees = int(np.argmin(np.abs(one.values - first))), int(made.x[0, :, KNOWN].sum())
    want = tokens(one[end - sees : end], context=40)
    np.testing.assert_array_equal(made.x, want.x)
    np.testing.assert_array_equal(made.phases, want.phases)


@pytest.mark.usefixtures("no_gaps")
def test_what_lies_in_front_of_the_first_value_is_padding_in_training_too(
    make_series: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A series shorter than the context comes with NaN and times of 0 in front of it."""
    monkeypatch.setattr(module, "SHORTEST", 40)  # every cut sees the whole context, padding included
    one = make_series(np.random.default_rng(6).standard_normal(25))
    values, times = np.full((1, 44), np.nan), np.zeros((1, 44), np.int64)
    values[0, -25:], times[0, -25:] = one.values, one.times
    made, _ = samples(values, context=40, times=times, season=one.frequency.season)
    want = tokens(one[:-HORIZON], context=40)
    np.testing.assert_array_equal(made.x, want.x)
    np.testing.assert_array_equal(made.phases, want.phases)


def test_targets_change_with_the_future_tokens_do_not() -> None:
    values = np.random.default_rng(7).standard_normal((300, 60))
    made, targets = samples(values, context=40)
    back = made.shift[:, None] + made.scale[:, None] * targets
    ends = np.argmin(np.abs(values - back[:, :1]), axis=1)
    behind = np.arange(60) >= ends[:, None]
    again, others = samples(np.where(behind, values + 0.5, values), context=40)
    for name in ("x", "phases", "shift", "scale"):
        np.testing.assert_array_equal(getattr(made, name), getattr(again, name))
    np.testing.assert_allclose(others, targets + 0.5 / made.scale[:, None], atol=1e-12)


def test_gaps_hide_values_and_leave_targets_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHORTEST", 40)
    monkeypatch.setattr(module, "GAPPY", 1.0)
    values = np.random.default_rng(8).standard_normal((3_000, 44))  # one cut is all that fits
    made, targets = samples(values, context=40)
    back = made.shift[:, None] + made.scale[:, None] * targets
    np.testing.assert_allclose(back, values[:, 40:], atol=1e-12)
    missing = 1.0 - made.x[:, :40, KNOWN].mean(axis=1)
    assert missing.mean() == pytest.approx(MOST_GAPS / 2, abs=0.01)
    assert missing.max() < MOST_GAPS + 0.3
    monkeypatch.setattr(module, "GAPPY", 0.25)
    made, _ = samples(values, context=40)
    assert (made.x[:, :40, KNOWN].mean(axis=1) < 1.0).mean() == pytest.approx(0.25, abs=0.04)


@pytest.mark.usefixtures("no_gaps")
def test_cuts_that_teach_nothing_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHORTEST", 40)
    values = np.tile(np.sin(np.arange(44.0)), (6, 1))
    values[1, 43] = np.nan  # a target that is not known
    values[2, :40] = np.nan  # nothing in front of it
    values[3, :38] = np.nan  # two values in front: kept
    for row, share in ((4, 0.99), (5, 1.01)):  # a flat history, and a jump behind it
        values[row], values[row, 42] = 8.0, 8.0 + 8.0 * FLAT * FARTHEST * share
    made, targets = samples(values, context=40)
    assert len(targets) == len(made.x) == len(made.phases) == len(made.scale) == 3
    np.testing.assert_array_equal(made.shift, [values[0, 39], values[3, 39], 8.0])
    assert targets[2].tolist() == pytest.approx([0.0, 0.0, 0.99 * FARTHEST, 0.0])


def test_the_same_random_stream_gives_the_same_cuts() -> None:
    values = np.random.default_rng(9).standard_normal((50, 80))
    first, second, other = (samples(values, context=40, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first[0].x, second[0].x)
    np.testing.assert_array_equal(first[1], second[1])
    assert not np.array_equal(first[1], other[1])


def test_the_season_of_a_frequency_is_what_is_looked_back(make_series: Make) -> None:
    """Monthly values rise by 1 a year: a season ago is 12 steps ago."""
    one = make_series(np.arange(36) // 12, "m", start="2020-01-01")
    assert one.frequency == Frequency(1, "m")
    made = tokens(one, context=36, horizon=12)
    np.testing.assert_array_equal(made.x[0, 12:36, SEASON], made.x[0, :24, VALUE])
    np.testing.assert_array_equal(made.x[0, 36:, SEASON], made.x[0, 24:36, VALUE])
    assert made.x[0, 12:, SEASON_KNOWN].all()
    assert not made.x[0, :12, SEASON_KNOWN].any()
