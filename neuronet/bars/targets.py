"""Targets: what a net shall foretell at each bar; NaN or -1 where the future is not in the file."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, Floats, counted
from neuronet.bars.positive import require_positive
from neuronet.bars.windows import ONE_PART, fitting
from neuronet.errors import DataError

DOWN, FLAT, UP, UNKNOWN = 0, 1, 2, -1  # of actions: sell, flat, buy


def levels(prices: Floats, *, differences: bool) -> Floats:
    """What targets are differences of: logarithms of prices, or with ``differences`` the prices."""
    return prices if differences else np.log(prices)


def forecast_targets(bars: Bars, horizon: int, *, differences: bool = False) -> Floats:
    """Return [bars, horizon]: row t, column k - 1 is log(close[t + k] / close[t]); NaN past the last bar.

    differences  close[t + k] - close[t] instead, in units of price, which may be below 0

    Raises DataError for closes <= 0 (without ``differences``), for no bar with a whole target, and when the
    close never moves.
    """
    _check_horizon(bars, horizon)
    if not differences:
        require_positive(bars, "the task 'forecast'", ["close"])
    level = levels(bars.close, differences=differences)
    targets = np.full((len(bars), horizon), np.nan)
    for k in range(1, horizon + 1):
        targets[:-k, k - 1] = level[k:] - level[:-k]
    if np.ptp(bars.close) == 0.0:
        raise _nothing_to_learn(bars, f"all {len(bars)} bars close at {bars.close[0]:g}")
    return targets


def direction_targets(
    bars: Bars, horizon: int, threshold: float, *, differences: bool = False
) -> NDArray[np.int32]:
    """Return [bars] int32 by log(close[t + horizon] / close[t]): 0 down, 1 flat, 2 up, -1 unknown.

    threshold    log return beyond which it counts as a move, e.g. the costs (0.0002 = 2 basis points)
    differences  of closes instead of log returns, the threshold in units of price

    Raises DataError for closes <= 0 (without ``differences``), and when every known target is of one class.
    """
    _check_horizon(bars, horizon)
    _check_threshold(threshold, "direction_targets")
    if not differences:
        require_positive(bars, "the task 'direction'", ["close"])
    level = levels(bars.close, differences=differences)
    change = level[horizon:] - level[:-horizon]
    targets = np.full(len(bars), UNKNOWN, np.int32)
    targets[:-horizon] = _classes(bars, change, threshold, ("down", "flat", "up"))
    return targets


def action_targets(bars: Bars, horizon: int, threshold: float) -> Floats:
    """Return [bars, 3]: class, up and down of a trade that enters at the next open; NaN where unknown.

    class  by log(close[t + horizon] / open[t + 1]): 0 sell, 1 flat, 2 buy; threshold as for a direction
    up     log(max(high[t + 1 .. t + horizon]) / open[t + 1]) >= 0, how far the price goes above the entry
    down   log(open[t + 1] / min(low[t + 1 .. t + horizon])) >= 0, how far below

    A bar whose high is below its open, or its low above, counts as reaching its open.
    Raises DataError for prices <= 0, and when every known class is the same.
    """
    _check_horizon(bars, horizon)
    _check_threshold(threshold, "action_targets")
    require_positive(bars, "the task 'action'")
    entry = np.log(bars.open[1 : len(bars) - horizon + 1])
    targets = np.full((len(bars), 3), np.nan)
    change = np.log(bars.close[horizon:]) - entry
    targets[:-horizon, 0] = _classes(bars, change, threshold, ("sell", "flat", "buy"))
    highest, lowest = (sliding_window_view(v[1:], horizon) for v in (bars.high, bars.low))
    targets[:-horizon, 1] = np.maximum(0.0, np.log(highest.max(axis=1)) - entry)
    targets[:-horizon, 2] = np.maximum(0.0, entry - np.log(lowest.min(axis=1)))
    return targets


def policy_targets(bars: Bars) -> Floats:
    """Return [bars, 1]: log(open[t + 2] / open[t + 1]), what holding 1 gains when bar t decides.

    A decision at the close of bar t is carried out at the next bar's open and may change at the one after.
    NaN for the last two bars. Raises DataError for opens <= 0 and when the open never moves.
    """
    _check_horizon(bars, 2)
    require_positive(bars, "the task 'policy'", ["open"])
    log = np.log(bars.open)
    targets = np.full((len(bars), 1), np.nan)
    targets[:-2, 0] = log[2:] - log[1:-1]
    if np.ptp(bars.open) == 0.0:
        raise _nothing_to_learn(bars, f"all {len(bars)} bars open at {bars.open[0]:g}")
    return targets


def _classes(bars: Bars, change: Floats, threshold: float, names: tuple[str, ...]) -> NDArray[np.int64]:
    """The class of each known log return. DataError when there is but one."""
    found: NDArray[np.int64] = np.where(change > threshold, UP, np.where(change < -threshold, DOWN, FLAT))
    if (found == found[0]).all():
        what = f"every target is '{names[int(found[0])]}' with threshold {threshold:g}"
        raise _nothing_to_learn(bars, what)
    return found


def _check_threshold(threshold: float, where: str) -> None:
    if not threshold >= 0.0:
        raise DataError(f"threshold {threshold} is negative", where=where, fix="give 0 or more")


def _check_horizon(bars: Bars, horizon: int) -> None:
    if horizon < 1 or horizon >= len(bars):
        raise DataError(
            f"horizon {horizon} with {counted(len(bars), 'bar')} leaves no bar with a known target",
            where=bars.symbol or "bars",
            fix=f"give more bars{fitting(len(bars) // ONE_PART, horizon)}"
            if horizon > 0
            else "choose 1 or more",
        )


def _nothing_to_learn(bars: Bars, why: str) -> DataError:
    return DataError(
        f"nothing to learn: {why}",
        where=bars.symbol or "bars",
        fix="give bars that move, or a lower threshold",
    )
