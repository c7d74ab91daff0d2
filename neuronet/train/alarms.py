"""find: what the model in a file says of rows: scores, the threshold, and alarms; what the command calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.anomaly.alarms import Alarm, find_alarms
from neuronet.anomaly.metrics import Evaluation
from neuronet.anomaly.scores import total
from neuronet.anomaly.threshold import RATE, Threshold, fewest, least_rate
from neuronet.bars.bars import counted, stamp
from neuronet.device.base import Device
from neuronet.errors import DataError, NoColumnError
from neuronet.models.catch import Catch
from neuronet.series.channels import Channels, missing_rows
from neuronet.series.read_channels import read_channels
from neuronet.storage.hdf5 import read_model
from neuronet.train.channels_contract import ChannelsContract

Floats = NDArray[np.float64]
LINES_AT_ONCE = 10_000


@dataclass(frozen=True, eq=False)
class Found:
    """What was found in the rows that were looked at.

    channels       these rows
    contributions  [rows, channels]: their mean is the score of a row
    threshold      None if there is none, and no alarm then; ``why`` says why
    left_out       rows before them, which training has seen
    """

    channels: Channels
    contributions: Floats
    threshold: Threshold | None
    alarms: list[Alarm]
    left_out: int
    contract: ChannelsContract
    why: str = ""

    @property
    def scores(self) -> Floats:
        """[rows]"""
        return total(self.contributions)

    @property
    def above(self) -> int:
        """Rows above the threshold; 0 without one."""
        return 0 if self.threshold is None else int(self.threshold.above(self.scores).sum())

    def when(self, row: int) -> str:
        """The time of a row, or its number."""
        return stamp(self.channels.times[row]) if self.channels.timed else str(self.channels.times[row])

    def evaluate(self, labels: NDArray[np.bool_]) -> Evaluation:
        """All metrics against labels [rows], at the threshold that was found without them.

        Without a threshold those that need one are None.
        """
        threshold = None if self.threshold is None else self.threshold.value
        return Evaluation.of(self.scores, labels, threshold)


def find(
    model: str | Path,
    paths: Sequence[str | Path],
    *,
    rate: float = RATE,
    method: str = "pot",
    join: int = 0,
    every_row: bool = False,
    needs_threshold: bool = True,
    device: Device | None = None,
    **options: Any,
) -> Found:
    """Score the rows of files that the training of ``model`` cannot have seen, and find alarms in them.

    rate, method  of the threshold, as Catch.threshold; join as in find_alarms
    every_row     also the rows that the model was fitted to, whose scores are lower
    needs_threshold  False: where none can be had of the model's scores, there is none, and no alarm
    options       of reading: fields of ReadOptions

    DataError when the channels are others, no row is left, or there are fewer than a window; what Catch and
    read_channels raise.
    """
    file = read_model(model)
    contract = ChannelsContract.from_dict(file.bars, str(model))
    channels = contract.read(paths, **options)
    catch = Catch.from_file(file, device, where=str(model))
    names = ", ".join(Path(path).name for path in paths)
    _check_rows(channels, catch.context, names)
    threshold, why = None, ""
    try:
        threshold = threshold_of(catch, rate, method, where=str(model))
    except NoThresholdError as error:
        if needs_threshold:
            raise
        why = f"{error.what} ({error.fix})"
    first = 0 if every_row else contract.unseen_from(channels)
    if first == len(channels):
        end = channels.when(first - 1)
        raise DataError(
            f"training may have seen all {first:,} rows: they end at {end}",
            where=names,
            fix="give later rows, or --all to score all the same",
        )
    begin = max(0, min(first, len(channels) - catch.context))  # a window at least
    far = catch.too_far(channels.values[begin:])
    if lack := _far_rows(channels[begin:], far):
        raise DataError(lack, where=names, fix="correct these rows, or leave them out")
    made = catch.contributions(channels.values[begin:])[first - begin :]
    looked = channels[first:]
    alarms = []
    if threshold is not None:
        alarms = find_alarms(made, threshold.value, looked.times, looked.names, join=join)
    return Found(looked, made, threshold, alarms, first, contract, why)


class NoThresholdError(DataError):
    """The scores that a model keeps give no threshold for a rate."""


def threshold_of(catch: Catch, rate: float, method: str, *, where: str) -> Threshold:
    """``Catch.threshold`` of the model in the file ``where``; NoThresholdError names options."""
    if not 0.0 < rate < 1.0:
        fix = "choose a share between 0 and 1, as in 0.001 for one row in 1,000"
        raise DataError(f"the rate is {rate:g}", where="--rate", fix=fix)
    try:
        return catch.threshold(rate, method)
    except DataError as error:
        held, needed = len(catch.normal), fewest(rate, method)
        fix = f"--rate {least_rate(held):g} or more"
        fix = f"give {fix if method == 'quantile' else f'--method quantile with {fix}'}"
        if held < needed:
            fix += f", or train on more rows ({held:,} are held back for the threshold, it needs {needed:,})"
        what = f"no threshold for a rate of {rate:g}: {error.what}"
        raise NoThresholdError(what, where=where, fix=fix) from None


def _check_rows(channels: Channels, context: int, where: str) -> None:
    if (rows := len(channels)) < context:
        less, of = int(channels.changed), " of changes" if channels.changed else ""
        what = f"{counted(rows, f'row{of} is', f'rows{of} are')} fewer than the {context} of a window"
        raise DataError(what, where=where, fix=f"give at least {context + less} rows")


def _far_rows(channels: Channels, far: NDArray[np.bool_]) -> str:
    """How many rows have a value that is ``far`` [rows, channels], the first few and where; '' for none."""
    values = np.where(far, np.nan, channels.values)
    what = "a value too far from those of training to be scored"
    return missing_rows(channels.times, values, channels.names, timed=channels.timed, what=what)


def read_labels(
    text: str, paths: Sequence[str | Path], channels: Channels, **options: Any
) -> NDArray[np.bool_]:
    """Labels [rows] of ``channels``, 1 for an anomaly: a file with one column of them, or a column of the
    only file. ``options``: date_format and decimal. DataError for others, or a row without a label.
    """
    path, column = (Path(text), None) if Path(text).is_file() else (Path(paths[0]), [text])
    where = f"--labels {text}"
    if column and len(paths) > 1:
        fix = "give a file with a column of times and one of 0 and 1"
        raise DataError("is no file, and with several files no column", where=where, fix=fix)
    try:
        found = read_channels(path, column, changes="no", **options)
    except NoColumnError:
        if column is None:
            raise
        fix = "give the name of a column, or of a file with a column of times and one of 0 and 1"
        raise DataError(f"is no file, and no column of {path.name}", where=where, fix=fix) from None
    if len(found.names) > 1:
        what = f"{path.name} has {len(found.names)} columns: {', '.join(found.names)}"
        raise DataError(what, where=where, fix="give a file with a column of times and one of 0 and 1")
    at = np.minimum(np.searchsorted(found.times, channels.times), len(found) - 1)
    lacking = found.times[at] != channels.times
    if lacking.any():
        what = f"{counted(int(lacking.sum()), 'row has', 'rows have')} no label, the first at "
        what += channels.when(int(np.argmax(lacking)))
        raise DataError(what, where=where, fix="label each row 0 or 1")
    values = found.values[at, 0]
    if odd := sorted(set(values.tolist()) - {0.0, 1.0}):
        raise DataError(f"there is a {odd[0]:g}", where=where, fix="write 0 for normal rows, 1 for others")
    return np.asarray(values == 1.0)


def scores_csv(found: Found) -> Iterator[str]:
    """time,score,alarm and what each channel adds, in blocks of lines; numbers have 8 digits.

    alarm is 1 in the rows of an alarm, with those between two that were joined.
    """
    inside = np.zeros(len(found.channels), np.int64)
    for one in found.alarms:
        inside[one.first : one.last + 1] = 1
    names = [_cell(name) for name in found.channels.names]
    yield ",".join(["time", "score", "alarm", *names]) + "\n"
    scores = found.scores
    for begin in range(0, len(inside), LINES_AT_ONCE):
        lines = []
        for row in range(begin, min(begin + LINES_AT_ONCE, len(inside))):
            numbers = [f"{value:.8g}" for value in found.contributions[row]]
            lines.append(",".join([found.when(row), f"{scores[row]:.8g}", str(inside[row]), *numbers]))
        yield "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text
