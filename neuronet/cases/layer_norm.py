"""Cases of ops/layer_norm.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import layer_norm


@dataclass(frozen=True)
class LayerNorm(Case):
    """What the cases of layer normalisation share."""

    rows: int
    window: int

    def _given(self, rng: np.random.Generator) -> Arrays:
        return {
            "x": 3 * rng.standard_normal((self.rows, self.window)) + 1,
            "dy": rng.standard_normal((self.rows, self.window)),
            "mean": rng.standard_normal(self.rows),
            "scale": rng.uniform(0.1, 1, self.rows),
        }


@dataclass(frozen=True)
class LayerNormForward(LayerNorm):
    op = "layer_norm.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {
            "x": self._given(rng)["x"],
            "gamma": rng.standard_normal(self.window),
            "beta": rng.standard_normal(self.window),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"mean": (self.rows,), "scale": (self.rows,), "y": (self.rows, self.window)}

    def run(self, **arrays: DeviceArray) -> None:
        layer_norm.forward(**arrays, eps=1e-5)

    @property
    def terms(self) -> int:
        return self.window


@dataclass(frozen=True)
class LayerNormBackwardInput(LayerNorm):
    op = "layer_norm.backward_input"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._given(rng) | {"gamma": rng.standard_normal(self.window)}

    def outputs(self) -> dict[str, Shape]:
        return {"sums": (2, self.rows), "dx": (self.rows, self.window)}

    def run(self, **arrays: DeviceArray) -> None:
        layer_norm.backward_input(**arrays)

    @property
    def terms(self) -> int:
        return self.window


@dataclass(frozen=True)
class LayerNormBackwardWeights(LayerNorm):
    op = "layer_norm.backward_weights"
    changes = ("dgamma", "dbeta")
    chunks: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return self._given(rng) | {
            "dgamma": rng.standard_normal(self.window),
            "dbeta": rng.standard_normal(self.window),
        }

    def outputs(self) -> dict[str, Shape]:
        return {"parts": (self.chunks, 2, self.window)}

    def run(self, **arrays: DeviceArray) -> None:
        layer_norm.backward_weights(**arrays)

    @property
    def terms(self) -> int:
        return self.rows


SMALL: list[Case] = [
    *[
        case(rows, window)
        for rows, window in ((1, 2), (3, 257), (17, 24), (67, 9), (130, 33))
        for case in (LayerNormForward, LayerNormBackwardInput)
    ],
    *[LayerNormBackwardWeights(*size) for size in ((1, 2, 1), (67, 9, 5), (9, 33, 6), (131, 7, 16))],
]
LARGE: list[Case] = [
    case
    for rows, window, chunks in ((2**15, 64, 256), (2**17, 9, 256), (2048, 1080, 32))
    for case in (
        LayerNormForward(rows, window),
        LayerNormBackwardInput(rows, window),
        LayerNormBackwardWeights(rows, window, chunks),
    )
]
