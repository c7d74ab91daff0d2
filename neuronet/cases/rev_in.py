"""Cases of ops/rev_in.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import rev_in


@dataclass(frozen=True)
class RevIn(Case):
    """What the cases of both directions share; ``_given`` has every array that an op may read."""

    batch: int
    units: int
    window: int

    def _given(self, rng: np.random.Generator, *names: str) -> Arrays:
        per_sample, columns = (self.batch, self.window), self.columns
        made = {
            "x": 3 * rng.standard_normal((self.batch, self.units, columns)) + 1,
            "y": rng.standard_normal((self.batch, self.units, columns)),
            "dy": rng.standard_normal((self.batch, self.units, columns)),
            "dx": rng.standard_normal((self.batch, self.units, columns)),
            "mean": rng.standard_normal(per_sample),
            "deviation": rng.uniform(0.5, 3, per_sample),
            "dmean": rng.standard_normal(per_sample),
            "ddeviation": rng.standard_normal(per_sample),
            "sums": self.units**0.5 * rng.standard_normal((self.batch, 2, self.window)),
            "gamma": rng.uniform(0.5, 2, self.window) * rng.choice([-1, 1], self.window),
            "beta": rng.standard_normal(self.window),
            "dgamma": rng.standard_normal(self.window),
            "dbeta": rng.standard_normal(self.window),
        }
        return {name: made[name] for name in names}

    @property
    def columns(self) -> int:
        return self.window

    @property
    def terms(self) -> int:
        return self.units


@dataclass(frozen=True)
class RevInForward(RevIn):
    op = "rev_in.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._given(rng, "x", "gamma", "beta")

    def outputs(self) -> dict[str, Shape]:
        statistics = (self.batch, self.window)
        return {"mean": statistics, "deviation": statistics, "y": (self.batch, self.units, self.window)}

    def run(self, **arrays: DeviceArray) -> None:
        rev_in.forward(**arrays, eps=1e-5)


@dataclass(frozen=True)
class RevInGradientSums(RevIn):
    op = "rev_in.gradient_sums"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._given(rng, "x", "dy", "mean", "deviation")

    def outputs(self) -> dict[str, Shape]:
        return {"sums": (self.batch, 2, self.window)}

    def run(self, **arrays: DeviceArray) -> None:
        rev_in.gradient_sums(**arrays)


@dataclass(frozen=True)
class RevInBackwardInput(RevIn):
    op = "rev_in.backward_input"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._given(rng, "x", "dy", "mean", "deviation", "gamma", "sums", "dmean", "ddeviation")

    def outputs(self) -> dict[str, Shape]:
        return {"dx": (self.batch, self.units, self.window)}

    def run(self, **arrays: DeviceArray) -> None:
        rev_in.backward_input(**arrays)


@dataclass(frozen=True)
class RevInBackwardWeights(RevIn):
    op = "rev_in.backward_weights"
    changes = ("dgamma", "dbeta")

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._given(rng, "sums", "dgamma", "dbeta")

    def run(self, **arrays: DeviceArray) -> None:
        rev_in.backward_weights(**arrays)

    @property
    def terms(self) -> int:
        return self.batch


@dataclass(frozen=True)
class RevInDenorm(RevIn):
    """What the cases of RevINDenorm share: a forecast of all features, or of ``feature`` alone."""

    feature: int | None = None

    @property
    def columns(self) -> int:
        return self.window if self.feature is None else 1

    @property
    def first(self) -> int:
        return self.feature or 0


@dataclass(frozen=True)
class RevInDenormForward(RevInDenorm):
    op = "rev_in.denorm_forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._given(rng, "y", "mean", "deviation", "gamma", "beta")

    def outputs(self) -> dict[str, Shape]:
        return {"x": (self.batch, self.units, self.columns)}

    def run(self, **arrays: DeviceArray) -> None:
        rev_in.denorm_forward(**arrays, feature=self.first)


@dataclass(frozen=True)
class RevInDenormBackwardInput(RevInDenorm):
    op = "rev_in.denorm_backward_input"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._given(rng, "dx", "deviation", "gamma")

    def outputs(self) -> dict[str, Shape]:
        return {"dy": (self.batch, self.units, self.columns)}

    def run(self, **arrays: DeviceArray) -> None:
        rev_in.denorm_backward_input(**arrays, feature=self.first)


@dataclass(frozen=True)
class RevInDenormBackwardStatistics(RevInDenorm):
    op = "rev_in.denorm_backward_statistics"
    changes = ("dmean", "ddeviation")

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._given(rng, "y", "dx", "gamma", "beta", "dmean", "ddeviation")

    def run(self, **arrays: DeviceArray) -> None:
        rev_in.denorm_backward_statistics(**arrays, feature=self.first)


@dataclass(frozen=True)
class RevInDenormBackwardWeights(RevInDenorm):
    op = "rev_in.denorm_backward_weights"
    changes = ("dgamma", "dbeta")

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._given(rng, "deviation", "gamma", "dmean", "ddeviation", "dgamma", "dbeta")

    def run(self, **arrays: DeviceArray) -> None:
        rev_in.denorm_backward_weights(**arrays, columns=self.columns, feature=self.first)

    @property
    def terms(self) -> int:
        return self.batch


_RevIN = (RevInForward, RevInGradientSums, RevInBackwardInput, RevInBackwardWeights)
_Denorm = (
    RevInDenormForward,
    RevInDenormBackwardInput,
    RevInDenormBackwardStatistics,
    RevInDenormBackwardWeights,
)
SMALL: list[Case] = [
    *[case(*size) for size in ((1, 2, 1), (3, 17, 5), (7, 9, 33)) for case in _RevIN],
    *[case(*size) for size in ((1, 1, 1), (3, 17, 5), (7, 9, 33), (5, 11, 4, 3)) for case in _Denorm],
]
LARGE: list[Case] = [
    *[case(256, 480, 12) for case in _RevIN],
    *[case(256, 96, 12) for case in _Denorm],
    RevInDenormForward(256, 96, 12, 3),
]
