"""From windows and their reconstructions to one anomaly score for each time and channel.

Two errors are looked at: of each value, and of the spectrum of a patch of values around it. Both are scaled
by what they are on the training part, so that a weight means the same whatever the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import counted
from neuronet.errors import DataError, ShapeError

Floats = NDArray[np.float64]
Starts = NDArray[np.int64]

PATCH = 16  # values in a patch of the frequency error
WEIGHT = 3.0  # of the frequency error against the time error
CHUNK = 2**21  # complex numbers held at once: 32 MB


def window_starts(rows: int, length: int, stride: int | None = None) -> Starts:
    """Return the first row of each window, ascending; together the windows cover every row.

    stride  rows from one window to the next; None is ``length``: side by side. When the last one would not
            end with the data, one more is slid back to the end, so no row is left out

    Raises DataError for fewer rows than a window, or a stride that leaves rows between windows.
    """
    stride = length if stride is None else stride
    if length < 1 or not 1 <= stride <= length:
        raise DataError(
            f"windows of {length} rows every {stride} rows",
            where="window_starts",
            fix="choose a length >= 1 and a stride from 1 to the length",
        )
    if rows < length:
        raise DataError(
            f"{counted(rows, 'row is', 'rows are')} fewer than a window of {length}",
            where="window_starts",
            fix="give more rows, or choose shorter windows",
        )
    starts = np.arange(0, rows - length + 1, stride, dtype=np.int64)
    return starts if starts[-1] == rows - length else np.append(starts, rows - length)


def over_time(values: Floats, starts: Starts, rows: int, *, average: bool = False) -> Floats:
    """Bring values of windows to the rows that they stand on.

    values   [windows, T, ...]; a value for a whole window is given T times, with np.broadcast_to
    starts   [windows] first row of each, ascending
    average  True: the mean of all windows over a row. False: the value of the first window over it, so
             that a last window that is slid back adds only the rows that no other has
    returns  [rows, ...], every row with exactly one value

    Raises DataError when a row has no window, ShapeError for shapes or starts that do not fit.
    """
    starts = np.asarray(starts, np.int64)
    if values.ndim < 2 or starts.shape != values.shape[:1] or not len(starts):
        raise ShapeError(
            f"values {values.shape}, starts {starts.shape}",
            where="over_time",
            fix="give values [windows, T, ...] and one start a window",
        )
    length = values.shape[1]
    if np.any(np.diff(starts) <= 0) or starts[0] < 0 or starts[-1] + length > rows:
        raise ShapeError(
            f"windows of {length} rows start at {starts[0]} ... {starts[-1]} in {rows} rows",
            where="over_time",
            fix="give starts in ascending order, each once, inside the rows",
        )
    first = np.searchsorted(starts, np.arange(rows) - length + 1)  # the first window that may reach a row
    inside = starts[np.minimum(first, len(starts) - 1)] <= np.arange(rows)
    inside &= first < len(starts)
    if not inside.all():
        missing = np.flatnonzero(~inside)
        raise DataError(
            f"{len(missing)} of {rows} rows are in no window, the first is row {missing[0]}",
            where="over_time",
            fix="use the starts of window_starts",
        )
    if not average:
        picked: Floats = values[first, np.arange(rows) - starts[first]]
        return picked
    total = np.zeros((rows, *values.shape[2:]))
    for k in range(length):  # starts differ, so no row is met twice in one step
        total[starts + k] += values[:, k]
    # How many windows cover a row: geometry, whatever the values.
    change = np.zeros(rows + 1, np.int64)
    change[starts] += 1
    np.subtract.at(change, starts + length, 1)
    count = np.cumsum(change)[:rows]
    return total / count.reshape(-1, *[1] * (total.ndim - 1))


def time_error(x: Floats, xhat: Floats) -> Floats:
    """Return (x - xhat)^2, [windows, T, channels], in squared units of ``x``. Raises as ``residual`` does."""
    return residual(x, xhat) ** 2


def frequency_error(x: Floats, xhat: Floats, *, patch: int = PATCH, stride: int = 1) -> Floats:
    """Return how far the spectra around each value differ, [windows, T, channels], in units of ``x``.

    A patch's error is the mean modulus of the difference of the two Fourier transforms (not scaled), which
    is the transform of x - xhat; that of a value is the mean over the patches of its window that cover it.

    patch   values in a patch, at most T; ``stride`` from one patch to the next. When the last would not end
            with the window, one more is slid back to its end, so that every value is in a patch (the code
            published with the paper takes a shorter patch there, whose modulus is on another scale)

    Costs O(T) a window and channel beside the transforms: each patch is added where it begins and taken away
    where it ends, then summed up.

    Source: the frequency score of Wu et al., CATCH: Channel-Aware Multivariate Time Series Anomaly Detection
    via Frequency Patching, 2025. There patches of error 0 are not counted; here all are.
    """
    error = residual(x, xhat)
    windows, length, channels = error.shape
    if not 1 <= patch <= length:
        raise DataError(
            f"patches of {patch} values in windows of {length}",
            where="frequency_error",
            fix="choose patches from 1 value to the window's length",
        )
    if not 1 <= stride <= patch:
        raise DataError(
            f"a stride of {stride} between patches of {patch} values",
            where="frequency_error",
            fix="choose a stride from 1 to the patch, so that no value is left out",
        )
    begin = window_starts(length, patch, stride)
    change = np.zeros(length + 1, np.int64)
    change[begin] += 1
    change[begin + patch] -= 1
    count = np.cumsum(change)[:length]
    # A real signal's bins k and patch - k have one modulus: half of them, the inner ones twice.
    twice = np.full(patch // 2 + 1, 2.0)
    twice[0] = 1.0
    if patch % 2 == 0:
        twice[-1] = 1.0
    found = np.empty_like(error)
    step = max(1, CHUNK // (len(begin) * channels * (patch // 2 + 1)))
    for one in range(0, windows, step):
        part = error[one : one + step]
        cut = np.lib.stride_tricks.sliding_window_view(part, patch, axis=1)[:, begin]
        size = (np.abs(np.fft.rfft(cut, axis=-1)) @ twice) / patch  # [windows, patches, channels]
        total = np.zeros((len(part), length + 1, channels))
        total[:, begin] += size
        total[:, begin + patch] -= size
        # Rounding may leave -1e-17 where all is 0; an error is never below it.
        found[one : one + step] = np.maximum(np.cumsum(total, axis=1)[:, :length], 0.0) / count[:, None]
    return found


def residual(x: Floats, xhat: Floats) -> Floats:
    """Return x - xhat; ShapeError unless both are [windows, T, channels], DataError for NaN or infinity."""
    x, xhat = np.asarray(x, np.float64), np.asarray(xhat, np.float64)
    if x.ndim != 3 or x.shape != xhat.shape or not x.size:
        raise ShapeError(
            f"x is {x.shape}, its reconstruction {xhat.shape}",
            where="anomaly score",
            fix="give both as [windows, T, channels]",
        )
    for name, values in (("x", x), ("the reconstruction", xhat)):
        if not np.isfinite(values).all():
            window, row, channel = np.argwhere(~np.isfinite(values))[0]
            raise DataError(
                f"{name} is {values[window, row, channel]} in window {window}, row {row}, channel {channel}",
                where="anomaly score",
                fix="look at the data there"
                if name == "x"
                else "look at the model: has its training diverged?",
            )
    return x - xhat


@dataclass(frozen=True)
class ScoreScale:
    """What the two errors are on the training part, and how they are put together.

    time, frequency  mean over all rows and channels of the training part, > 0. One number for all channels:
                     channels come standardised, and a scale of its own would blow up a channel that hardly
                     moved in training. The mean, not a high quantile: it needs few rows, and with
                     heavy tails the two errors' quantiles depend on few values
    weight           of the frequency error against the time error; 0 leaves it out
    """

    time: float
    frequency: float
    weight: float = WEIGHT

    def __post_init__(self) -> None:
        for name in ("time", "frequency"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise DataError(
                    f"the mean {name} error of the training part is {value}",
                    where="ScoreScale",
                    fix="give training data that are not reconstructed exactly: is every channel constant?",
                )
        if not (np.isfinite(self.weight) and self.weight >= 0.0):
            raise DataError(
                f"the weight of the frequency error is {self.weight}",
                where="ScoreScale",
                fix="choose a weight >= 0",
            )

    @classmethod
    def fit(cls, time: Floats, frequency: Floats, weight: float = WEIGHT) -> ScoreScale:
        """Find the scale of the errors of the training (or validation) part, each [..., channels]."""
        return cls(float(np.mean(time)), float(np.mean(frequency)), weight)

    def combine(self, time: Floats, frequency: Floats) -> Floats:
        """Return the root of time / its scale + weight x frequency / its scale, [rows, channels].

        The mean over the channels is the score of a row (``total``), what each adds is ``shares``. Without
        the root, one channel that is far off would outweigh many that are somewhat off together.
        """
        if time.shape != frequency.shape:
            raise ShapeError(
                f"time error {time.shape}, frequency error {frequency.shape}",
                where="ScoreScale",
                fix="give both of the same rows",
            )
        return np.asarray(np.sqrt(time / self.time + self.weight * (frequency / self.frequency)))

    def to_dict(self) -> dict[str, Any]:
        """Return numbers for JSON or a model file; ``ScoreScale(**data)`` gives the same bits back."""
        return {"time": self.time, "frequency": self.frequency, "weight": self.weight}


def total(scores: Floats) -> Floats:
    """Return the score of each row, [rows]: the mean of ``scores`` [rows, channels] over the channels."""
    return np.asarray(scores.mean(axis=1), np.float64)


def shares(scores: Floats) -> Floats:
    """Return what share of a row's score each channel has, [rows, channels]: 0..1, 1 in sum.

    A row of score 0 has no shares: all are 0.
    """
    whole = scores.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(scores, whole, out=np.zeros(scores.shape), where=whole > 0.0))
