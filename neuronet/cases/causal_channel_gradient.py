"""Cases of ops/causal_channel_gradient.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.causal_channel_attention import EPS, SIZES, CausalChannelAttention
from neuronet.device.array import DeviceArray, Shape
from neuronet.device.numpy import NumpyDevice
from neuronet.ops import causal_channel_attention, causal_channel_gradient


@dataclass(frozen=True)
class CausalChannelGradient(CausalChannelAttention):
    op = "causal_channel_gradient.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        """What a forward pass leaves, since exponentials of anything else would not be probabilities."""
        device, given = NumpyDevice(np.float64), self.given(rng)
        shapes = {"running": self.running, "scales": self.scales, "lse": self.y, "y": self.y}
        made = {name: device.array(shape) for name, shape in shapes.items()}
        known = {name: device.put(values) for name, values in given.items()}
        scratch = {
            "sums": device.array(self.sums),
            "initial": device.put(np.zeros((self.batch, *self.cells))),
        }
        causal_channel_attention.forward(**known, **scratch, **made, eps=EPS)
        values = {name: array.read() for name, array in made.items()}
        return given | values | {"dy": rng.standard_normal(self.y)}

    def outputs(self) -> dict[str, Shape]:
        tau_parts = (self.batch, self.sums[1], self.dimension, self.heads)
        return {"sums": self.sums, "later": self.running, "tau_parts": tau_parts, "drows": self.rows}

    def run(self, **arrays: DeviceArray) -> None:
        causal_channel_gradient.backward(**arrays, eps=EPS)

    @property
    def terms(self) -> int:
        return self.units * self.dimension  # the last two lines of sums

    @property
    def flops(self) -> int:
        return 40 * self.batch * self.units * self.inner * self.dimension


SMALL: list[Case] = [CausalChannelGradient(*size) for size in SIZES]
LARGE: list[Case] = [CausalChannelGradient(16, 512, 8, 32, 3)]
