"""Which rows a question may see, as limits that the kernels of attention read.

limits [marks, queries, 2] int32: question q sees the rows first <= t < last of (first, last) = limits[n, q];
marks is the batch, or 1 where all samples have the same. A question with first >= last sees nothing.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neuronet.errors import DataError, ShapeError

Limits = NDArray[np.int32]
Order = Literal["oldest-first", "newest-first"]
_WHERE = "ops/visible.py"


def everything(queries: int, keys: int, lengths: ArrayLike | None = None) -> Limits:
    """Every question sees all rows, or the first ``lengths[n]`` of sample n: [1 or batch, queries, 2]."""
    last = np.atleast_1d(np.asarray(keys if lengths is None else lengths))
    _check_lengths(last, keys)
    limits = np.zeros((len(last), queries, 2), np.int32)
    limits[:, :, 1] = last[:, None]
    return limits


def causal(queries: int, keys: int, lengths: ArrayLike | None = None) -> Limits:
    """The last question sees all rows, each one before it a row less: [1 or batch, queries, 2].

    With as many questions as rows, question q sees the rows up to q. Then sample n may have only its first
    ``lengths[n]`` rows; questions behind them see nothing.
    """
    ends = np.arange(queries, dtype=np.int32) + 1 + keys - queries
    limits = everything(queries, keys, lengths)
    if lengths is None:
        limits[:, :, 1] = np.maximum(ends, 0)
        return limits
    if queries != keys:
        raise ShapeError(
            f"lengths of {keys} rows and {queries} questions",
            where=_WHERE,
            fix="give lengths only where the questions are the rows themselves",
        )
    limits[:, :, 1] = np.where(ends <= limits[:, :, 1], ends, 0)
    return limits


def by_time(
    key_time: ArrayLike,
    query_time: ArrayLike,
    *,
    order: Order,
    lengths: ArrayLike | None = None,
    strict: bool = False,
) -> Limits:
    """Question q sees the rows that are not younger than it: key_time <= query_time, or < where ``strict``.

    key_time    [keys] for all samples, or [batch, keys], int64 of any unit, sorted as ``order`` says
    query_time  [queries] or [batch, queries], of the same unit, in any order
    order       "oldest-first": the newest row is the last one; "newest-first": it is row 0, as in MQL5
    lengths     [batch], how many rows of each sample exist; the others lie behind them
    """
    keys, asked = _times(key_time, "key_time"), _times(query_time, "query_time")
    if order not in ("oldest-first", "newest-first"):
        raise DataError(f"order {order!r}", where=_WHERE, fix='"oldest-first" or "newest-first"')
    count = np.full(1, keys.shape[1]) if lengths is None else np.atleast_1d(np.asarray(lengths))
    _check_lengths(count, keys.shape[1])
    marks = max(len(keys), len(asked), len(count))
    if {len(keys), len(asked), len(count)} - {1, marks}:
        raise ShapeError(
            f"key_time is for {len(keys)} samples, query_time for {len(asked)}, lengths for {len(count)}",
            where=_WHERE,
            fix="give each for the whole batch, or once for all samples",
        )
    limits = np.zeros((marks, asked.shape[1], 2), np.int32)
    side: Literal["left", "right"] = "left" if strict else "right"
    for n in range(marks):
        size = int(count[n % len(count)])
        times, questions = keys[n % len(keys), :size], asked[n % len(asked)]
        steps = times[1:] < times[:-1] if order == "oldest-first" else times[1:] > times[:-1]
        if steps.any():
            at = int(steps.argmax())
            raise DataError(
                f"key_time[{at + 1}] of sample {n} is on the wrong side of the one in front",
                where=_WHERE,
                fix=f"sort the rows {order}, or give the other order",
            )
        if order == "oldest-first":
            limits[n, :, 1] = np.searchsorted(times, questions, side)
        else:
            limits[n, :, 0] = size - np.searchsorted(times[::-1], questions, side)
            limits[n, :, 1] = size
    return limits


def _times(values: ArrayLike, name: str) -> NDArray[np.int64]:
    given: NDArray[Any] = np.asarray(values)
    if given.dtype.kind not in "iuM":
        raise DataError(
            f"{name} is {given.dtype.name}",
            where=_WHERE,
            fix="give whole numbers: float32 seconds are 128 s apart",
        )
    if given.ndim not in (1, 2):
        raise ShapeError(f"{name} has shape {given.shape}", where=_WHERE, fix="[count] or [batch, count]")
    return np.atleast_2d(given).astype(np.int64)


def _check_lengths(lengths: NDArray[Any], keys: int) -> None:
    if lengths.dtype.kind not in "iu" or lengths.ndim != 1 or ((lengths < 0) | (lengths > keys)).any():
        raise ShapeError(
            f"lengths {lengths.tolist()} of {keys} rows",
            where=_WHERE,
            fix="one whole number for each sample, from 0 to the number of rows",
        )
