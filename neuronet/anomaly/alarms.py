"""Alarms: runs of rows above a threshold as records with their peak and the channels that raised them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.anomaly.labels import runs
from neuronet.bars.bars import stamp
from neuronet.errors import DataError, ShapeError

Floats = NDArray[np.float64]
Times = NDArray[np.int64]

TOP = 3
HEADER = "start,end,rows,peak,peak_score,threshold,channels"


@dataclass(frozen=True)
class Alarm:
    """One run of rows.

    first, last       row numbers, both included; ``rows`` in all
    start, end, peak  times of the first row, the last one and that with the highest score (the first of
                      equals): ns since 1970, or positions where the data have no times
    score             of the peak; ``threshold`` is what the rows are above
    channels          (name, share) of the channels with the largest shares of the run's scores, falling;
                      shares are of 1 and count all channels, so those shown may sum to less
    """

    first: int
    last: int
    start: int
    end: int
    peak: int
    score: float
    threshold: float
    channels: tuple[tuple[str, float], ...]

    @property
    def rows(self) -> int:
        """How many rows the run has."""
        return self.last - self.first + 1


def find_alarms(
    scores: Floats,
    threshold: float,
    times: Times,
    names: Sequence[str],
    *,
    join: int = 0,
    top: int = TOP,
) -> list[Alarm]:
    """Return the runs of rows whose score is above ``threshold``, in order of time.

    scores  [rows, channels] as of ScoreScale.combine: a row's score is the mean over the channels
    times   [rows] int64, ascending; ``names`` one a channel
    join    runs with at most so many rows in between become one, which includes those rows
    top     how many channels are named

    Neighbours are rows, not times: a run goes on over a weekend.
    Raises ShapeError when the arrays do not fit, DataError for a score or threshold that is not finite,
    join < 0 or top < 0.
    """
    scores, times = np.asarray(scores, np.float64), np.asarray(times, np.int64)
    if scores.ndim != 2 or times.shape != scores.shape[:1] or len(names) != scores.shape[1]:
        raise ShapeError(
            f"scores {scores.shape}, times {times.shape}, {len(names)} names",
            where="find_alarms",
            fix="give scores [rows, channels], a time for each row and a name for each channel",
        )
    if not (np.isfinite(scores).all() and np.isfinite(threshold)):
        raise DataError(
            "a score or the threshold is not finite", where="find_alarms", fix="look at the model's output"
        )
    if join < 0 or top < 0:
        raise DataError(f"join {join}, top {top}", where="find_alarms", fix="choose 0 or more")
    score = scores.mean(axis=1)
    spans = runs(score > threshold)
    if len(spans):
        apart = spans[1:, 0] - spans[:-1, 1] > join
        spans = np.stack([spans[np.append(True, apart), 0], spans[np.append(apart, True), 1]], axis=1)
    found = []
    for first, end in spans.tolist():
        peak = first + int(np.argmax(score[first:end]))
        part = scores[first:end].sum(axis=0)
        part = part / part.sum() if part.sum() > 0.0 else part
        order = np.argsort(-part, kind="stable")[:top]
        found.append(
            Alarm(
                first=first,
                last=end - 1,
                start=int(times[first]),
                end=int(times[end - 1]),
                peak=int(times[peak]),
                score=float(score[peak]),
                threshold=float(threshold),
                channels=tuple((names[i], float(part[i])) for i in order.tolist()),
            )
        )
    return found


def alarms_csv(alarms: Sequence[Alarm], *, timed: bool = True) -> Iterator[str]:
    """A header and a line an alarm; channels as 'EURUSD 71%; GBPUSD 29%', scores with 6 digits.

    timed  times are ns since 1970 and written as such; False: they are positions
    """
    yield HEADER + "\n"
    for one in alarms:
        when = [stamp(t) if timed else str(t) for t in (one.start, one.end, one.peak)]
        shown = "; ".join(f"{name} {share:.0%}" for name, share in one.channels)
        numbers = [f"{one.score:.6g}", f"{one.threshold:.6g}"]
        yield ",".join([*when[:2], str(one.rows), when[2], *numbers, _quoted(shown)]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text
