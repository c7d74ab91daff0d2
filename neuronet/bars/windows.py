"""Windows as start rows into the one matrix of features; no window is ever copied."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, counted, span
from neuronet.errors import DataError

ONE_PART = 7  # by default the validation and the test part have 15 % each: at least one bar of seven


def window_starts(
    bars: Bars,
    *,
    history: int,
    horizon: int,
    warmup: int = 0,
    max_gap: int | None = None,
    trained: bool = False,
) -> NDArray[np.int32]:
    """Return each start row s whose input rows s..s+history-1 and target rows to s+history-1+horizon exist.

    history  bars that the net sees; row s+history-1 is the last known bar
    horizon  bars after it that the target needs; 0 gives the windows for prediction
    warmup   rows at the start that have no features
    max_gap  longest time in ns between neighbours anywhere in a window and its target; None allows all
    trained  the sizes are those of a trained model, so no others can be chosen
    returns  int32, ascending

    Raises DataError, with the numbers wanted, when there is none.
    """
    if history < 1 or horizon < 0:
        raise DataError(
            f"history {history} and horizon {horizon} make no window",
            where="window_starts",
            fix="choose history >= 1 and horizon >= 0",
        )
    length, usable = history + horizon, len(bars) - warmup
    starts = np.arange(warmup, max(len(bars) - length + 1, warmup), dtype=np.int32)
    if not len(starts):
        after = f" after {warmup} of warm-up" if warmup else ""
        verb = "gives" if usable == 1 else "give"
        if trained:
            lack = counted(length - max(usable, 0), "bar")
            fix = f"give at least {lack} more, for a window of the model"
        else:
            fix = f"give more bars{fitting(usable // ONE_PART, horizon)}" if horizon else "give more bars"
        raise DataError(
            f"{counted(max(usable, 0), 'bar')}{after} {verb} 0 windows of {history}+{horizon}; "
            f"need >= {length}",
            where=bars.symbol or "bars",
            fix=fix,
        )
    if max_gap is not None:
        holes = np.concatenate([[0], np.cumsum(np.diff(bars.time) > max_gap)])
        starts = starts[holes[starts + length - 1] == holes[starts]]
        if not len(starts):
            raise DataError(
                f"none of {counted(usable - length + 1, 'window')} of {history}+{horizon} bars is free of "
                f"gaps longer than {span(max_gap)}; the file has {int(holes[-1])}",
                where=bars.symbol or "bars",
                fix=f"give {counted(length, 'bar')} or more without such a gap, as the model needs"
                if trained
                else "allow longer gaps, or a shorter history or horizon",
            )
    return starts


def fitting(bars: int, horizon: int) -> str:
    """Return ', or train with --history 55 --horizon 12': what half of so many bars holds; '' for too few."""
    ahead = min(horizon, bars // 6)
    return f", or train with --history {(bars - ahead) // 2} --horizon {ahead}" if ahead else ""
