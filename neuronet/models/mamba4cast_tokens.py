"""What Mamba4Cast sees: a series as tokens, scaled by its own past, and samples for training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.layers.ts_position_encoder import time_phases
from neuronet.series.series import Series

# Values of a token: scaled value, is it known, is it ahead, steps from the present and their logarithm, the
# scaled value a season ago, is that one known.
VALUE, KNOWN, AHEAD, STEP, LOG_STEP, SEASON, SEASON_KNOWN = range(7)
CHANNELS = 7
SHORTEST = 16  # known values in front of a training target
STEPS = 64.0  # that count as 1
FARTHEST = 20.0  # ranges of the history; training leaves out cuts whose target goes beyond
FLAT = 1e-3  # a smaller range, as a share of the largest value, counts as this
GAPPY, MOST_GAPS = 0.1, 0.3  # share of training samples with missing values, and most of these in one

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tokens:
    """A batch in the form of the net's inputs, and what takes its outputs back.

    x       [samples, context + horizon, CHANNELS] float32; in front of a short history lie zeros
    phases  [samples, context + horizon, periods] float32, the second input
    shift, scale  [samples]: a forecast is shift + scale * output
    """

    x: NDArray[np.float32]
    phases: NDArray[np.float32]
    shift: Floats
    scale: Floats


def tokens_of(
    values: Floats,
    times: NDArray[np.int64],
    past: NDArray[np.bool_],
    seasons: NDArray[np.int64],
    *,
    horizon: int,
    periods: Sequence[int],
) -> Tokens:
    """Tokens of [samples, context + horizon] values at ``times``.

    past     [samples, context + horizon], which positions are history; False for padding and for the horizon.
             There, and where a value is NaN, the net sees no value.
    seasons  [samples] steps; a token also sees the value one season before it, one ahead that of as many
             seasons as lead back into the history

    Scaled as in the paper by the range of the history, but from its last known value instead of its
    smallest one, so that an output of 0 says 'no change'.
    """
    known = past & np.isfinite(values)
    seen = np.where(known, values, 0.0)
    last = values.shape[1] - 1 - np.argmax(known[:, ::-1], axis=1)
    shift = np.take_along_axis(seen, last[:, None], axis=1)
    low = np.where(known, values, np.inf).min(axis=1, keepdims=True)
    high = np.where(known, values, -np.inf).max(axis=1, keepdims=True)
    smallest = FLAT * np.abs(seen).max(axis=1, keepdims=True)
    scale = np.maximum(high - low, np.where(smallest > 0.0, smallest, 1.0))
    steps = np.arange(values.shape[1]) - (values.shape[1] - horizon) + 0.5  # from the present: -0.5, 0.5
    token = past | (steps > 0.0)
    x = np.zeros((*values.shape, CHANNELS), np.float32)
    x[..., VALUE] = np.where(known, (seen - shift) / scale, 0.0)
    x[..., KNOWN] = known
    x[..., AHEAD] = steps > 0.0
    x[..., STEP] = np.where(token, steps / STEPS, 0.0)
    x[..., LOG_STEP] = np.where(token, np.sign(steps) * np.log(1.0 + np.abs(steps)) / np.log(STEPS), 0.0)
    at, there = _season_before(steps, seasons)
    there &= token & np.take_along_axis(known, at, axis=1)
    x[..., SEASON] = np.where(there, np.take_along_axis(x[..., VALUE], at, axis=1), 0.0)
    x[..., SEASON_KNOWN] = there
    phases = np.where(token[..., None], time_phases(times, periods), 0.0).astype(np.float32)
    return Tokens(x, phases, shift[:, 0], scale[:, 0])


def _season_before(steps: Floats, seasons: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Positions [samples, positions] of the latest history whole seasons back, and whether there are such."""
    season = seasons[:, None]
    back = season * np.maximum(1, np.ceil(steps / season).astype(np.int64))
    before = np.arange(len(steps)) - back
    return np.maximum(before, 0), before >= 0


def tokens_of_series(
    histories: Sequence[Series], context: int, horizon: int, periods: Sequence[int]
) -> Tokens:
    """Tokens of the last ``context`` values of each history and the ``horizon`` stamps behind them."""
    shape = (len(histories), context + horizon)
    values, times = np.full(shape, np.nan), np.zeros(shape, np.int64)
    past, seasons = np.zeros(shape, np.bool_), np.ones(len(histories), np.int64)
    for i, one in enumerate(histories):
        seasons[i] = one.frequency.season
        n = min(len(one), context)
        part = slice(context - n, context)
        values[i, part], times[i, part], past[i, part] = one.values[-n:], one.times[-n:], True
        times[i, context:] = one.future(horizon)
    return tokens_of(values, times, past, seasons, horizon=horizon, periods=periods)


def training_samples(
    values: NDArray[Any],
    times: NDArray[np.int64],
    seasons: NDArray[np.int64],
    *,
    context: int,
    horizon: int,
    periods: Sequence[int],
    rng: np.random.Generator,
) -> tuple[Tokens, Floats]:
    """One cut of each series [n, length >= context + horizon] with its scaled targets [n, horizon].

    A cut ends anywhere, and sees from SHORTEST to ``context`` values; some see gaps. Cuts are left out whose
    target has a missing value, whose history is all missing, and those that go FARTHEST from a history that
    hardly moved: nothing in it foretells that, and a few of them would rule the loss.
    """
    count, length = values.shape
    shortest = min(SHORTEST, context)
    sees = shortest + (rng.random((count,)) * (context + 1 - shortest)).astype(np.int64)
    ends = sees + (rng.random((count,)) * (length - horizon - sees + 1)).astype(np.int64)
    at = ends[:, None] - context + np.arange(context + horizon)  # before the series: padding
    inside = np.clip(at, 0, length - 1)
    cut = np.take_along_axis(values, inside, axis=1).astype(np.float64)
    past = (at >= ends[:, None] - sees[:, None]) & (at < ends[:, None])
    past &= np.maximum.accumulate(np.isfinite(cut), axis=1)  # in front of the first value: padding
    share = np.where(rng.random((count,)) < GAPPY, rng.uniform(0.0, MOST_GAPS, count), 0.0)
    target = cut[:, context:].copy()
    cut[rng.random(cut.shape) < share[:, None]] = np.nan
    good = np.isfinite(target).all(axis=1) & (past & np.isfinite(cut)).any(axis=1)
    when = np.take_along_axis(times, inside, axis=1)
    tokens = tokens_of(cut[good], when[good], past[good], seasons[good], horizon=horizon, periods=periods)
    scaled = (target[good] - tokens.shift[:, None]) / tokens.scale[:, None]
    near = np.abs(scaled).max(axis=1) <= FARTHEST
    arrays = (tokens.x[near], tokens.phases[near], tokens.shift[near], tokens.scale[near])
    return Tokens(*arrays), scaled[near]
