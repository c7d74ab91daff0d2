"""ChannelsContract: what a model of channels was trained on, and how to read more of it."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import span
from neuronet.bars.options import ReadOptions
from neuronet.bars.read import symbol_of
from neuronet.declared import check_fields
from neuronet.errors import DataError, FileFormatError, NoColumnError, SpecError
from neuronet.models.catch import CHANGES_FIT, CHANGES_NET, HELD, Catch
from neuronet.series.channels import Channels
from neuronet.series.read_channels import CHANGES, MISSING, read_channels
from neuronet.train.contract import compare_reading
from neuronet.train.settings import DATES, is_date

log = logging.getLogger(__name__)

SIGNALS = ("auto", "levels", "changes")
FEWEST_STEPS = 1_500  # of a training on changes
LEVELS_FIT: dict[str, Any] = {"epochs": 8, "lr": 1e-3}
OPTIONS = {  # what read_channels names as Python has it
    f"{name}={value!r}": f"--{name} {value} of 'neuronet train'"
    for name, value in (("missing", "drop"), ("changes", "no"))
}
KEY = "channels"  # of the document in a model file's bars


def _choice(default: Any, text: str) -> Any:
    return dataclasses.field(default=default, metadata={"help": text})


class NoChannelError(DataError):
    """A file lacks channels that were asked for; ``what`` names all of them."""


@dataclass(frozen=True, kw_only=True)
class ChannelSettings:
    """Which channels to learn, which rows to leave out, and how to train. SpecError names a bad one."""

    channels: tuple[str, ...] | None = _choice(
        None, "columns to take of each file, as in close,high; all of a table, close of several bar files"
    )
    changes: str = _choice("auto", "auto: log changes of bars' prices and volumes; no: all as it is")
    missing: str = _choice("error", "rows without a value: error or drop")
    signal: str = _choice(
        "auto", "levels: shapes over time; changes: noise, in which channels move together; auto: by changes"
    )
    history: int | None = _choice(None, "rows that the net sees; 96 for levels, 32 for changes")
    stride: int = _choice(2, "rows from one window of training to the next")
    test: float = _choice(0.15, "share of the rows, at the end, that training never sees")
    test_from: str | None = _choice(None, "date from which on training sees no row, instead of a share")
    epochs: int | None = _choice(None, "passes over the training part; 8 for levels, 24 or more for changes")
    batch: int = _choice(64, "windows a step")
    lr: float | None = _choice(None, "highest learning rate; 0.001 for levels, 0.003 for changes")
    seed: int = _choice(0, "of initial weights and the order of windows: the same seed gives the same model")

    def __post_init__(self) -> None:
        check_fields(self)
        if isinstance(self.channels, str):
            names = tuple(name.strip() for name in self.channels.split(","))
            object.__setattr__(self, "channels", names)
        self._require("channels", self.channels is None or all(self.channels), "write close,high")
        for name, choices in (("changes", CHANGES), ("missing", MISSING), ("signal", SIGNALS)):
            self._require(name, getattr(self, name) in choices, f"choose {' or '.join(choices)}")
        self._require("history", self.history is None or self.history >= 4, "choose 4 or more")
        for name in ("stride", "epochs", "batch"):
            value = getattr(self, name)
            self._require(name, value is None or value >= 1, "choose 1 or more")
        self._require("test", 0.0 <= self.test < 1.0, "choose a share from 0 to below 1")
        self._require("test_from", self.test_from is None or is_date(self.test_from), DATES)
        largest = float(np.finfo(np.float32).max)
        self._require("lr", self.lr is None or 0.0 < self.lr <= largest, "try 0.001")
        self._require("seed", self.seed >= 0, "choose 0 or more")

    def resolved(self, channels: Channels) -> ChannelSettings:
        """The same with signal, history, epochs and lr chosen where they were left open."""
        signal = self.signal
        if signal == "auto":
            signal = "changes" if channels.changed else "levels"
        default = dict(LEVELS_FIT, history=Catch.context)
        if signal == "changes":
            default = dict(
                CHANGES_FIT, history=CHANGES_NET["context"]
            )  # noise takes many steps, however few rows there are
            windows = (1.0 - HELD) * (len(channels) - test_rows(channels, self)) / self.stride
            default["epochs"] = max(
                default["epochs"], math.ceil(FEWEST_STEPS * self.batch / max(windows, self.batch))
            )
        open_ = {name: getattr(self, name) or value for name, value in default.items()}
        return dataclasses.replace(self, signal=signal, **open_)

    def read(self, paths: Sequence[str | Path], names: Sequence[str] | None, **options: Any) -> Channels:
        """Read files by these settings, and the channels ``names`` of each file, None for all.

        options  fields of ReadOptions. NoChannelError for names that a file lacks; raises as read_channels
        """
        rules = {"changes": self.changes, "missing": self.missing}
        try:
            return read_channels(paths, names, **rules, **options)
        except DataError as error:
            if names is not None and isinstance(error, NoColumnError):
                raise _no_channel(error, paths, names, **options) from None
            fix = error.fix
            for python, option in OPTIONS.items():
                fix = fix.replace(python, option)
            raise DataError(error.what, where=error.where, fix=fix) from None

    def model(self) -> Catch:
        """The net to train, of settings that are ``resolved``."""
        assert self.history is not None
        model = Catch.for_changes() if self.signal == "changes" else Catch()
        patch = min(model.patch, self.history // 2 + 1)  # a short window has a short spectrum
        return dataclasses.replace(model, context=self.history, patch=patch, step=max(1, patch // 2))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; ``from_dict`` gives an equal object."""
        data = dataclasses.asdict(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in data.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ChannelSettings:
        known = {f.name for f in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})

    def _require(self, name: str, sound: bool, fix: str) -> None:
        if not sound:
            option = "--" + name.replace("_", "-")
            value = getattr(self, name)
            shown = ",".join(map(str, value)) if isinstance(value, tuple) else value
            raise SpecError(f"{name} cannot be {shown!r}", where=option, fix=fix)


@dataclass(frozen=True, eq=False)
class ChannelsContract:
    """The document ``channels`` in ``bars`` of a model file.

    names        of the channels, in the net's order
    rows         in the training part, its held-back end included; no row behind it was seen in training
    first, last  time of its first and last row: ns, or positions
    step         median ns (or positions) between rows
    fingerprint  of the training part
    reading      the options with which its bars were read
    """

    settings: ChannelSettings
    names: tuple[str, ...]
    timed: bool
    rows: int
    first: int
    last: int
    step: int
    fingerprint: str
    device: str
    reading: dict[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(
        cls, train: Channels, settings: ChannelSettings, device: str, reading: Mapping[str, Any]
    ) -> ChannelsContract:
        """The contract of a training part."""
        step = int(np.median(np.diff(train.times))) if len(train) > 1 else 1
        ends = int(train.times[0]), int(train.times[-1])
        kept, found = ReadOptions(**reading).chosen(), fingerprint(train)
        return cls(settings, train.names, train.timed, len(train), *ends, step, found, device, kept)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; ``from_dict`` gives it back."""
        data = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {KEY: data | {"settings": self.settings.to_dict(), "names": list(self.names)}}

    @classmethod
    def from_dict(cls, bars: Mapping[str, Any], where: str) -> ChannelsContract:
        """FileFormatError when the model was not trained on channels or the document is not whole."""
        data, known = bars.get(KEY), {f.name for f in dataclasses.fields(cls)}
        if not isinstance(data, dict) or known - data.keys():
            raise FileFormatError(
                "says nothing about the channels that it was trained on",
                where=where,
                fix="use a model that 'neuronet train --model catch' wrote, or score with nn.models.Catch",
            )
        own = {name: value for name, value in data.items() if name in known}
        settings = ChannelSettings.from_dict(data["settings"])
        return cls(**own | {"settings": settings, "names": tuple(data["names"])})

    def read(self, paths: Sequence[str | Path], **options: Any) -> Channels:
        """Read files as those of training were read, and take the model's channels in its order.

        Columns that are no channels are left out, with a note. DataError when a channel is missing.
        """
        wanted = self.names if len(paths) == 1 else self.settings.channels
        files = ", ".join(Path(path).name for path in paths)
        try:
            found = self.settings.read(paths, wanted, **options)
        except NoChannelError as error:
            raise self._lack(error.what, error.where, paths, options) from None
        if lacking := [name for name in self.names if name not in found.names]:
            what = f"no channel {_listed(lacking)}, only {', '.join(found.names)}"
            raise self._lack(what, files, paths, options)
        if extra := [name for name in found.names if name not in self.names]:
            log.warning("not channels of the model, left out: %s", ", ".join(extra))
        found = found.select(self.names)
        self._compare(found, options)
        return found

    def _lack(
        self, what: str, where: str, paths: Sequence[str | Path], options: Mapping[str, Any]
    ) -> DataError:
        """The error for files that lack channels. It says which file is missing where that can be told."""
        titles = {title for path in paths for title in (symbol_of(path), Path(path).stem)}
        titles |= {str(options["symbol"])} if options.get("symbol") else set()
        own = [n for n in self.names if any(n == title or n.startswith(f"{title} ") for title in titles)]
        lacking = [name for name in self.names if name not in own]
        if own and lacking:
            what = f"the file of {_listed(lacking)} is missing: training had several files side by side"
            fix = f"give it beside that of {_listed(own)}, named as in training"
            return DataError(what, where=", ".join(Path(path).name for path in paths), fix=fix)
        names = ", ".join(self.names)
        fix = f"give files with the model's channels: {names}; one with these columns, or several so named"
        return DataError(what, where=where, fix=fix)

    def unseen_from(self, channels: Channels) -> int:
        """The first row that training cannot have seen, ``len(channels)`` if there is none.

        By time; without times by the rows themselves: another file has none of them.
        """
        if channels.timed != self.timed:
            return 0
        if self.timed:
            return int(np.searchsorted(channels.times, self.last, side="right"))
        if len(channels) < self.rows or fingerprint(channels[: self.rows]) != self.fingerprint:
            return 0
        return self.rows

    def _compare(self, channels: Channels, options: Mapping[str, Any]) -> None:
        """Warn when channels differ from those of training in step, or in how they were read."""
        step = int(np.median(np.diff(channels.times))) if len(channels) > 1 else self.step
        if channels.timed != self.timed:
            log.warning("times of the training rows: %s; of these: %s", *_some(self.timed, channels.timed))
        elif self.timed and step != self.step:
            log.warning(
                "the model was trained on rows %s apart, these are %s apart", span(self.step), span(step)
            )
        compare_reading(self.reading, ReadOptions(**options).chosen())


def fingerprint(channels: Channels) -> str:
    """SHA-256 of names, times and values."""
    digest = hashlib.sha256("\n".join(channels.names).encode())
    for array in (channels.times, channels.values):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def test_rows(channels: Channels, settings: ChannelSettings) -> int:
    """How many rows at the end are left out of training. SpecError for a date without times or rows."""
    if settings.test_from is None:
        return int(settings.test * len(channels))
    where, date = "--test-from", np.datetime64(settings.test_from, "ns").astype(np.int64)
    if not channels.timed:
        raise SpecError("the rows have no times", where=where, fix="give --test, a share of the rows")
    found: NDArray[np.int64] = channels.times
    count = len(found) - int(np.searchsorted(found, date))
    if count == len(found):
        fix = f"choose a date after {channels.when(0)}"
        raise SpecError(f"no row is before {settings.test_from}", where=where, fix=fix)
    return count


def _no_channel(
    error: DataError, paths: Sequence[str | Path], names: Sequence[str], **options: Any
) -> DataError:
    """The error that names each channel that the file at fault lacks, and those that there are."""

    def there(path: str | Path, wanted: Sequence[str] | None) -> tuple[str, ...]:
        try:
            return read_channels([path], wanted, changes="no", missing="drop", **options).names
        except DataError:
            return ()

    path = next((path for path in paths if Path(path).name == error.where), paths[0])
    lacking = [name for name in names if not there(path, [name])]
    if not lacking:  # of bars, some named by what they mean, others as in the file's header
        return DataError(error.what, where=error.where, fix="name all channels as the header does")
    found = there(path, None)
    fix = f"choose from {', '.join(found)}" if found else error.fix
    return NoChannelError(f"no column {_listed(lacking)}", where=error.where, fix=fix)


def _listed(names: Sequence[str]) -> str:
    *most, last = map(repr, names)
    return f"{', '.join(most)} and {last}" if most else last


def _some(*there: bool) -> tuple[str, ...]:
    return tuple("some" if one else "none" for one in there)
