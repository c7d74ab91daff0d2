"""From bars to what a net is trained on: features, targets, windows, split, scaling, in this order.

Training, evaluation and prediction all come here, so that a model meets the same numbers in all three.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, Floats, stamp
from neuronet.bars.features import make_features
from neuronet.bars.scaling import Scaler
from neuronet.bars.split import Split, Starts, split_by_time
from neuronet.bars.targets import action_targets, direction_targets, forecast_targets, policy_targets
from neuronet.bars.windows import window_starts
from neuronet.errors import DataError
from neuronet.fitting.source import Source
from neuronet.train import action, policy
from neuronet.train.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Bars from the first one with features on, and all that training needs of them.

    values   [bars, features] float32, scaled as fitted on the training part
    targets  [bars, horizon] log returns, NaN where unknown; or [bars] int32 classes, -1 where unknown; for
             the task policy [bars, 1] log returns from the next open to the one after; for the task action
             [bars, 3] class and log excursions up and down
    second   [bars, ...] the net's second input, or None
    features, target  the scalers; target divides by the root mean square of each step ahead, so that 0 stays
             'no change'; None for classes; that of excursions takes their mean off, too
    """

    settings: Settings
    bars: Bars
    values: NDArray[np.float32]
    targets: NDArray[Any]
    split: Split
    features: Scaler
    target: Scaler | None
    second: NDArray[Any] | None = None

    def source(self, starts: Starts) -> Source:
        """The windows at ``starts`` with their scaled targets; only the rows that they need."""
        targets = self.targets
        if self.target is not None:
            scaled = action.loss_rows if self.settings.task == "action" else _transformed
            targets = scaled(targets, self.target)
        if self.settings.task == "policy" and self.target is not None:
            cost = self.settings.cost / float(self.target.scale[0])
            after = policy.follows(starts)
            targets = policy.loss_rows(targets, cost, self.last_bars(starts), after)
        source = cut(self.values, starts, self.settings.history, targets, second=self.second)
        return replace(source, runs=self.settings.task == "policy")

    def classes(self, starts: Starts) -> NDArray[np.int32] | None:
        """Classes that came behind the windows at ``starts``; None when the task has none."""
        if not self.settings.classes:
            return None
        truth = self.targets[self.last_bars(starts)]
        return truth if truth.ndim == 1 else action.classes_of(truth)

    def last_bars(self, starts: Starts) -> NDArray[np.int64]:
        """Rows of the last known bar of each window."""
        return starts.astype(np.int64) + self.settings.history - 1


def prepare(bars: Bars, settings: Settings) -> Prepared:
    """Features, targets, split and scalers for training; nothing behind the training part moves a scaler.

    Raises DataError for too few bars, for a feature without values, and when there is nothing to learn.
    """
    bars, names, values = _feature_rows(bars, settings.features)
    targets = make_targets(bars, settings)
    starts = window_starts(
        bars, history=settings.history, horizon=settings.ahead, max_gap=settings.max_gap_ns
    )
    split = split_by_time(
        starts,
        bars.time,
        history=settings.history,
        horizon=settings.ahead,
        validation=settings.validation,
        test=settings.test,
        test_from=settings.test_from,
    )
    split = replace(split, train=_thinned(split.train, settings))
    first, end = int(split.train[0]), int(split.train[-1]) + settings.history
    if not np.ptp(values[first:end], axis=0).any():
        raise DataError(
            f"nothing to learn from: all {len(names)} features are constant in the training part",
            where=bars.symbol or "bars",
            fix="give bars that move there, or other --features",
        )
    features = Scaler.fit(values[first:end], names)
    target = _check_and_scale(targets[split.train + settings.history - 1], bars, settings)
    return Prepared(settings, bars, _scaled(values, features, bars), targets, split, features, target)


def _thinned(starts: Starts, settings: Settings) -> Starts:
    """Every n-th window up to the last; for a policy, whose loss compares neighbours, every n-th batch."""
    if settings.task != "policy":
        return starts[::-1][:: settings.every][::-1]
    run = (len(starts) - 1 - np.arange(len(starts))) // settings.batch
    kept: Starts = starts[run % settings.every == 0]
    return kept


def known_rows(bars: Bars, settings: Settings, features: Scaler) -> tuple[Bars, NDArray[np.float32]]:
    """Bars without the warm-up, and their features in the order and scale of a model's scaler.

    Raises DataError naming the features that the model needs and this neuronet does not make.
    """
    bars, names, values = _feature_rows(bars, settings.features)
    missing = [name for name in features.names if name not in names]
    if missing:
        raise DataError(
            f"the model needs the features {', '.join(missing)}, the bars give {', '.join(names)}",
            where="model file",
            fix="use the neuronet version that wrote the model, or train again",
        )
    order = [names.index(name) for name in features.names]
    return bars, _scaled(values[:, order], features, bars)


def make_targets(bars: Bars, settings: Settings) -> NDArray[Any]:
    """Targets of the settings' task for every bar."""
    if settings.task == "forecast":
        return forecast_targets(bars, settings.horizon, differences=settings.differences)
    if settings.task == "policy":
        return policy_targets(bars)
    if settings.task == "action":
        return action_targets(bars, settings.horizon, settings.threshold)
    return direction_targets(bars, settings.horizon, settings.threshold, differences=settings.differences)


def cut(
    values: NDArray[Any],
    starts: Starts,
    history: int,
    targets: NDArray[Any] | None = None,
    *,
    second: NDArray[Any] | None = None,
) -> Source:
    """A source of the rows that the windows at ``starts`` (ascending) need, without those around them."""
    part = slice(int(starts[0]), int(starts[-1]) + history)
    rest = [None if array is None else array[part] for array in (targets, second)]
    return Source.windows(values[part], rest[0], starts - part.start, history, second=rest[1])


def _feature_rows(bars: Bars, sets: tuple[str, ...]) -> tuple[Bars, tuple[str, ...], Floats]:
    made = make_features(bars, sets)
    if made.warmup:
        log.info("warm-up of the features: the first %d of %d bars", made.warmup, len(bars))
    return bars[made.warmup :], made.names, made.values[made.warmup :]


def _scaled(values: Floats, scaler: Scaler, bars: Bars) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        scaled: NDArray[np.float32] = scaler.transform(values).astype(np.float32)
    broken = ~np.isfinite(scaled)
    if broken.any():
        row, column = (int(i[0]) for i in np.nonzero(broken))
        raise DataError(
            f"{scaler.names[column]} is {values[row, column]:g} at {stamp(bars.time[row])}: cannot scale it",
            where=bars.symbol or "bars",
            fix="look at the bars there: a bad print?",
        )
    return scaled


def _transformed(targets: Floats, scaler: Scaler) -> Floats:
    return scaler.transform(targets)


def _check_and_scale(targets: NDArray[Any], bars: Bars, settings: Settings) -> Scaler | None:
    """The scaler of the training part's targets [windows, ...], None for classes; DataError for dead ones."""
    learned = targets[:, 0] if settings.task == "action" else targets
    if np.ptp(learned) == 0:
        first = learned.flat[0]
        what = f"'{settings.classes[int(first)]}'" if settings.classes else f"{first:g}"
        raise DataError(
            f"nothing to learn: every target of the training part is {what}",
            where=bars.symbol or "bars",
            fix="give bars that move there, or a smaller threshold",
        )
    if settings.task == "direction":
        return None
    if settings.task == "action":
        return Scaler.fit(targets[:, 1:], ("up", "down"))
    scale = np.sqrt(np.mean(targets**2, axis=0))
    names = tuple(f"close+{k}" for k in range(1, targets.shape[1] + 1))
    return Scaler(names, np.zeros_like(scale), np.where(scale > 0.0, scale, 1.0))
