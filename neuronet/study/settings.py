"""StudySettings: every choice of an offline study, declared once for files and options."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neuronet.declared import check_fields
from neuronet.errors import SpecError
from neuronet.train.settings import FEATURES, MODELS, Settings

# Settings of the encoder's training under the same names; what else has a name of both means another thing.
SHARED = ("model", "features", "history", "horizon", "validation", "epochs", "patience", "lr", "l2", "seed")


def _choice(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, kw_only=True)
class StudySettings:
    """What encoder, critic and actor are, and how they learn. SpecError names a bad one."""

    model: str = _choice("conv", f"encoder: {', '.join(MODELS)}")
    features: tuple[str, ...] = _choice(("returns",), FEATURES)
    history: int = _choice(120, "bars that the actor sees")
    horizon: int = _choice(12, "bars ahead: of forecasts, of hindsight, of the returns that weigh imitation")
    validation: float = _choice(0.2, "share of the bars, at the end, that picks the best actor")
    epochs: int = _choice(30, "most passes of the encoder's training")
    patience: int = _choice(5, "epochs without a better validation loss before it ends")
    steps: int = _choice(3000, "steps of actor and critic")
    every: int = _choice(250, "steps between two looks at the validation part")
    batch: int = _choice(256, "states a step")
    width: int = _choice(32, "neurons of a hidden layer of actor and critic")
    lr: float = _choice(1e-3, "learning rate of all nets")
    l2: float = _choice(0.1, "decay of the weights, times the learning rate a step")
    tau: float = _choice(0.01, "share by which the target networks follow in a step")
    discount: float = _choice(0.9, "of the next bar's value; the articles have 0.99")
    imitation: float = _choice(0.03, "weight of imitation: the better what followed, the more")
    hindsight: float = _choice(0.1, "weight of the near-ideal position that hindsight knows")
    critic: float = _choice(1.0, "weight of the gradient through the critic")
    seed: int = _choice(0, "of initial weights and draws: the same seed gives the same model")

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "features", self.encoder().features)  # which checks what both have
        for name in ("steps", "every", "width"):
            self._require(name, getattr(self, name) >= 1, "choose 1 or more")
        self._require("tau", 0.0 < self.tau <= 1.0, "choose more than 0 and at most 1")
        self._require("discount", 0.0 <= self.discount < 1.0, "choose a share from 0 to below 1")
        self._require("validation", self.validation > 0.0, "leave a share that picks the best actor")
        self._require("horizon", self.horizon >= 2, "choose 2 or more: a position is held for two opens")
        weights = ("imitation", "hindsight", "critic")
        for name in weights:
            self._require(name, 0.0 <= getattr(self, name) < np.inf, "choose 0 or more")
        self._require("critic", any(getattr(self, name) for name in weights), "give one of three a weight")

    def encoder(self, **changes: Any) -> Settings:
        """The settings of the encoder's training: the task forecast, without a test part."""
        return Settings(**{**{name: getattr(self, name) for name in SHARED}, "test": 0.0, **changes})

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; ``from_dict`` gives an equal object."""
        return {**dataclasses.asdict(self), "features": list(self.features)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StudySettings:
        """Settings from some or all fields; fields that a later version added are left out."""
        known = {f.name for f in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})

    def _require(self, name: str, sound: bool, fix: str) -> None:
        if not sound:
            raise SpecError(f"{name} cannot be {getattr(self, name)!r}", where=f"--{name}", fix=fix)
