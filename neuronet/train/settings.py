"""Settings: every choice of a training but the net itself, declared once for files and options."""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neuronet.bars.features import FEATURE_SETS
from neuronet.declared import check_fields
from neuronet.errors import SpecError

TASKS = ("forecast", "direction", "policy", "action")
MODELS = ("conv", "mamba4cast", "dfft", "stca")
CLASSES = ("down", "flat", "up")
ACTIONS = ("sell", "flat", "buy")
FEATURES = f"feature sets: {', '.join(FEATURE_SETS)}"  # for help
DATES = (  # what is_date takes
    'write it 2024-01-31, 2024-01-31T15 or "2024-01-31 15:00", by the clock of the bars and without a zone, '
    "with a year from 1678 to 2261"
)
_UNITS = {"s": 10**9, "min": 60 * 10**9, "h": 3_600 * 10**9, "d": 86_400 * 10**9}


def _choice(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What to learn from the bars, how to split them, and how to train. SpecError names a bad one."""

    task: str = _choice(
        "forecast", "forecast, direction, policy: a position, or action: side, size and stops"
    )
    model: str = _choice(
        "conv",
        "conv: small and fast; mamba4cast: scans bars and times; dfft: attention; stca: thousands of bars; "
        "catch: finds anomalies",
    )
    features: tuple[str, ...] = _choice(("returns",), FEATURES)
    history: int = _choice(120, "bars that the net sees")
    horizon: int = _choice(12, "bars to look ahead")
    threshold: float = _choice(0.0002, "direction, action: log return (diff: price) from which it is a move")
    cost: float = _choice(0.0001, "policy: of changing the position by 1, as a share of the price")
    max_gap: str | None = _choice(None, "no window over a longer hole in time, as in 90min, 36h, 4d")
    validation: float = _choice(0.15, "share of the bars, before the test part, that picks the best epoch")
    test: float = _choice(0.15, "share of the bars, at the end, that only the last table uses")
    test_from: str | None = _choice(None, "date at which the test part begins, instead of a share")
    epochs: int = _choice(30, "most passes over the training part")
    patience: int = _choice(5, "epochs without a better validation loss before training ends")
    batch: int = _choice(64, "windows a step")
    every: int = _choice(1, "train on every n-th window only; neighbours of a long history differ by little")
    lr: float = _choice(1e-3, "learning rate")
    l2: float = _choice(1.0, "decay of the weights, times the learning rate a step")
    clip_norm: float | None = _choice(None, "longest gradient; try 1.0 when the loss explodes")
    seed: int = _choice(0, "of initial weights and the order of windows: the same seed gives the same model")

    def __post_init__(self) -> None:
        check_fields(self)
        if isinstance(self.features, str):
            object.__setattr__(self, "features", tuple(re.split(r"[,\s]+", self.features.strip())))
        unknown = [name for name in self.features if name not in FEATURE_SETS]
        self._require("task", self.task in TASKS, f"choose from {', '.join(TASKS)}")
        models = f"choose from {', '.join(MODELS)}; catch only as an option of train"
        self._require("model", self.model in MODELS, models)
        self._require(
            "features", bool(self.features) and not unknown, f"choose from {', '.join(FEATURE_SETS)}"
        )
        for name in ("history", "horizon", "epochs", "patience", "batch", "every"):
            self._require(name, getattr(self, name) >= 1, "choose 1 or more")
        self._require("threshold", self.threshold >= 0.0, "choose 0 or more")
        self._require("cost", 0.0 <= self.cost < np.inf, "choose 0 or more")
        self._require("lr", 0.0 < self.lr <= float(np.finfo(np.float32).max), "try 0.001")
        self._require("l2", 0.0 <= self.l2 < np.inf, "choose 0 or more")
        self._require("seed", self.seed >= 0, "choose 0 or more")
        self._require("clip_norm", self.clip_norm is None or _is_positive(self.clip_norm), "try 1.0")
        for name in ("validation", "test"):
            self._require(name, 0.0 <= getattr(self, name) < 1.0, "choose a share from 0 to below 1")
        self._require("validation", self.validation + self.test < 1.0, "leave a share for training")
        self._require("test_from", self.test_from is None or is_date(self.test_from), DATES)
        self._require("max_gap", self.max_gap is None or _span(self.max_gap) > 0, "write it 90min, 36h or 4d")

    @property
    def max_gap_ns(self) -> int | None:
        """``max_gap`` in ns."""
        return None if self.max_gap is None else _span(self.max_gap)

    @property
    def differences(self) -> bool:
        """Whether targets are differences of prices instead of log returns: with the feature set 'diff'."""
        return "diff" in self.features

    @property
    def outputs(self) -> int:
        """Values that the net gives for a window."""
        return {"forecast": self.horizon, "direction": len(CLASSES), "policy": 1, "action": 5}[self.task]

    @property
    def ahead(self) -> int:
        """Bars behind a window that its target needs: a position is held from the next open to one more."""
        return 2 if self.task == "policy" else self.horizon

    @property
    def loss(self) -> str:
        """Huber for forecasts: returns have heavy tails, and single moves would rule a squared error."""
        return {"forecast": "huber", "direction": "cross_entropy"}.get(self.task, self.task)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the task's classes; none for forecasts and positions."""
        return {"direction": CLASSES, "action": ACTIONS}.get(self.task, ())

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; ``from_dict`` gives an equal object."""
        return {**dataclasses.asdict(self), "features": list(self.features)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        """Settings from some or all fields. SpecError names an unknown one."""
        known = [f.name for f in dataclasses.fields(cls)]
        if unknown := [name for name in data if name not in known]:
            raise SpecError(
                f"unknown setting {unknown[0]!r}", where="settings", fix=f"use {', '.join(known)}"
            )
        return cls(**data)

    def _require(self, name: str, sound: bool, fix: str) -> None:
        if not sound:
            option = "--" + name.replace("_", "-")
            value = getattr(self, name)
            shown = ",".join(map(str, value)) if isinstance(value, tuple) else value
            raise SpecError(f"{name} cannot be {shown!r}", where=option, fix=fix)


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and 0.0 < value < np.inf


def _span(text: Any) -> int:
    """A span such as 36h in ns; 0 when it is none."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|min|h|d)\s*", str(text))
    return round(float(match[1]) * _UNITS[match[2]]) if match else 0


def is_date(text: Any) -> bool:
    """Whether NumPy reads ``text`` as a date of the years 1678 to 2261, which int64 ns can hold.

    "now" and "today" are none, as a file would keep the word. One with a zone is none: bars have the clock of
    their file, so it would be another time than is meant.
    """
    if not str(text)[:1].isdigit():
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy warns of a zone
            date = np.datetime64(str(text), "s")
    except (ValueError, Warning):
        return False
    return not np.isnat(date) and 1678 <= date.astype("datetime64[Y]").astype(int) + 1970 <= 2261
