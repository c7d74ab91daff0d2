"""Split windows into train, validation and test by time only, with an embargo between the parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Times, counted, stamp
from neuronet.bars.windows import fitting
from neuronet.errors import DataError

Starts = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Split:
    """Start rows (int32) of the windows of each part."""

    train: Starts
    validation: Starts
    test: Starts


def split_by_time(
    starts: Starts,
    times: Times,
    *,
    history: int,
    horizon: int,
    validation: float = 0.15,
    test: float = 0.15,
    test_from: str | np.datetime64 | None = None,
) -> Split:
    """Cut the bars into train | validation | test; keep the windows that lie in one part, targets included.

    starts      from window_starts; times [bars] int64 ns
    validation  share of the usable bars (those from the first window on), just before the test part
    test        share of the usable bars at the end; ``test_from`` (a date in the bars' clock) replaces it
    returns     neighbouring parts are history + horizon - 1 window starts apart: no bar is in two parts

    Raises DataError with the counts when a part that was asked for has no window.
    """
    length, first, end = history + horizon, int(starts[0]), len(times)
    if min(validation, test) < 0.0 or validation + test >= 1.0:
        raise DataError(
            f"validation {validation:g} and test {test:g} leave nothing to train on",
            where="split_by_time",
            fix="choose shares >= 0 with a sum below 1",
        )
    if test_from is None:
        test_row = end - round(test * (end - first))
    else:
        test_row = int(np.searchsorted(times, np.datetime64(str(test_from), "ns").astype(np.int64)))
    validation_row = test_row - round(validation * (end - first))
    rows = {
        "train": (first, validation_row),
        "validation": (validation_row, test_row),
        "test": (test_row, end),
    }
    parts = {
        name: starts[(starts >= begin) & (starts + length <= stop)] for name, (begin, stop) in rows.items()
    }
    wanted = {"train": True, "validation": validation > 0.0, "test": test > 0.0 or test_from is not None}
    if any(wanted[name] and not len(part) for name, part in parts.items()):
        counts = ", ".join(
            f"{name}: {counted(max(rows[name][1] - rows[name][0], 0), 'bar gives', 'bars give')} "
            f"{counted(len(part), 'window')}"
            for name, part in parts.items()
            if wanted[name]
        )
        shortest = min(max(stop - begin, 0) for name, (begin, stop) in rows.items() if wanted[name])
        advice = fitting(shortest, horizon) if shortest < length else ", or allow longer gaps (--max-gap)"
        share = "--test" if test_from is None else "--test-from"
        raise DataError(
            f"{counts} of {history}+{horizon}; each part needs >= {length} bars in one piece",
            where=f"bars {stamp(times[0])} to {stamp(times[-1])}",
            fix=f"give more bars{advice}, or other parts (--validation, {share})",
        )
    return Split(parts["train"], parts["validation"], parts["test"])
