"""Contract: what a model file says about bars, so that it can be used on others without asking anything."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import PRICES, Bars, span, stamp
from neuronet.bars.options import option_of
from neuronet.bars.scaling import Scaler
from neuronet.errors import FileFormatError
from neuronet.train import action
from neuronet.train.baselines import Reference
from neuronet.train.policy import positions
from neuronet.train.prepare import Prepared
from neuronet.train.settings import Settings

log = logging.getLogger(__name__)

ADDED = ("reading", "blend_moves")  # fields that older files lack
SYMBOL = re.compile(r"(?=.*[A-Z])[A-Z0-9.#&=^-]{3,}")  # else it is but the name of a file, as 'past'
CHANGES_BARS = ("adjusted", "drop_flat", "bad_bars", "nan")  # options that make other bars of one file


@dataclass(frozen=True, eq=False)
class Contract:
    """The document ``bars`` of a model file.

    features     names, in the net's order, with mean and scale
    target       scale of each step ahead; None for classes; for actions mean and scale of both excursions
    reference    the training part's numbers for baselines
    blend        share of the net in a forecast, see blend.py; blend_moves: in the excursions of actions
    parts        part -> (time of its first known bar, time of its last target) as text
    test_begins  ns; no bar from here on was used for training or validation
    step         ns between bars; time_zone is the clock of the bars' times
    fingerprint  of the bars
    scores       tables of the validation and test part; {} while training goes on
    reading      the options with which the bars were read, see bars/options.py
    """

    settings: Settings
    features: Scaler
    target: Scaler | None
    reference: Reference
    symbol: str
    step: int
    time_zone: str
    parts: dict[str, tuple[str, str]]
    test_begins: int
    fingerprint: str
    device: str
    blend: float = 1.0
    scores: dict[str, Any] = dataclasses.field(default_factory=dict)
    reading: dict[str, Any] = dataclasses.field(default_factory=dict)
    blend_moves: float = 1.0

    @classmethod
    def of(cls, prepared: Prepared, fingerprint: str, device: str) -> Contract:
        settings, bars, split = prepared.settings, prepared.bars, prepared.split
        parts = {name: getattr(split, name) for name in ("train", "validation", "test")}
        spans = {name: part_span(bars, starts, settings) for name, starts in parts.items() if len(starts)}
        end_of_train = int(split.train[-1]) + settings.history + settings.ahead
        return cls(
            settings=settings,
            features=prepared.features,
            target=prepared.target,
            reference=Reference.of(
                bars[int(split.train[0]) : end_of_train],
                prepared.classes(split.train),
                differences=settings.differences,
            ),
            symbol=bars.symbol,
            step=bars.step,
            time_zone=clock(bars),
            parts=spans,
            test_begins=_test_begins(prepared),
            fingerprint=fingerprint,
            device=device,
            reading=dict(bars.source.get("options", {})),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; ``from_dict`` gives it back."""
        data = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        for name in ("settings", "features", "target", "reference"):
            data[name] = None if data[name] is None else data[name].to_dict()
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any], where: str = "model file") -> Contract:
        """FileFormatError when the model was not trained on bars or the document is not whole."""
        known = {f.name for f in dataclasses.fields(cls)}
        if "channels" in data:
            what = "finds anomalies in channels; it says nothing about the bars ahead"
            raise FileFormatError(what, where=where, fix=f"neuronet anomalies {where} FILE.csv")
        if missing := sorted(known - set(ADDED) - data.keys()):
            raise FileFormatError(
                f"says nothing about bars ({', '.join(missing[:3])} are missing)",
                where=where,
                fix="use a model that 'neuronet train' or neuronet.train wrote",
            )
        return cls(
            **{name: value for name, value in data.items() if name in known}
            | {
                "settings": Settings.from_dict(data["settings"]),
                "features": Scaler.from_dict(data["features"]),
                "target": None if data["target"] is None else Scaler.from_dict(data["target"]),
                "reference": Reference.from_dict(data["reference"]),
            }
        )

    def returns(self, outputs: NDArray[Any]) -> NDArray[np.float64]:
        """The net's outputs [windows, horizon] as log returns, or differences, of the close."""
        assert self.target is not None
        return self.blend * self.target.inverse(outputs.astype(np.float64))

    def positions(self, outputs: NDArray[Any]) -> NDArray[np.float64]:
        """The net's outputs [windows, 1] as positions in [-1, 1]."""
        return self.blend * positions(outputs)

    def probabilities(self, outputs: NDArray[Any]) -> NDArray[np.float64]:
        """The net's outputs [windows, 3 or more], logits first, as probabilities of the task's classes."""
        p = softmax(outputs[:, : len(self.settings.classes)])
        return self.blend * p + (1.0 - self.blend) * np.array(self.reference.shares)

    def moves(self, outputs: NDArray[Any]) -> NDArray[np.float64]:
        """The net's outputs [windows, 5] of an action as log excursions up and down."""
        assert self.target is not None
        return action.excursions(outputs, self.target, self.blend_moves)

    def compare(self, bars: Bars) -> None:
        """Warn when bars differ from those of training in symbol, step or clock."""
        if bars.symbol != self.symbol and all(SYMBOL.fullmatch(name) for name in (self.symbol, bars.symbol)):
            log.warning("the model was trained on bars of %s, these are of %s", self.symbol, bars.symbol)
        if bars.step != self.step:
            log.warning(
                "the model was trained on bars %s apart, these are %s apart", span(self.step), span(bars.step)
            )
        compare_reading(self.reading, bars.source.get("options", {}))
        if clock(bars) != self.time_zone:
            log.warning(
                "the times of the training bars are %s, of these %s: check --tz and --utc-offset",
                self.time_zone,
                clock(bars),
            )


def part_span(bars: Bars, starts: NDArray[np.int32], settings: Settings) -> tuple[str, str]:
    """Times of the first bar and of the last target bar of the windows at ``starts``."""
    end = int(starts[-1]) + settings.history + settings.ahead - 1
    return stamp(bars.time[int(starts[0])]), stamp(bars.time[end])


def _test_begins(prepared: Prepared) -> int:
    split, settings = prepared.split, prepared.settings
    if len(split.test):
        return int(prepared.bars.time[split.test[0]])
    last = split.validation if len(split.validation) else split.train
    return int(prepared.bars.time[int(last[-1]) + settings.history + settings.ahead - 1]) + 1


def clock(bars: Bars) -> str:
    """What the times of the bars are: "UTC", a zone, "UTC+2 h", or "as written"."""
    return str(bars.source.get("time_zone", "as written"))


def fingerprint(bars: Bars) -> str:
    """SHA-256 of times, prices and volumes."""
    digest = hashlib.sha256()
    for name in ("time", *PRICES, "volume"):
        digest.update(np.ascontiguousarray(getattr(bars, name)).data)
    return digest.hexdigest()


def softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Over the last axis."""
    e = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    total: NDArray[np.float64] = e / e.sum(axis=-1, keepdims=True)
    return total


def compare_reading(trained: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Warn where options of reading that make other bars of one file differ from those of training."""
    for name in CHANGES_BARS:
        if now.get(name) != trained.get(name):
            log.warning(
                "the training bars were read with %s %s, these with %s",
                option_of(name),
                trained.get(name, "at its default"),
                now.get(name, "the default"),
            )
