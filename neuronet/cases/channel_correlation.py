"""Cases of ops/channel_correlation.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.device.numpy import NumpyDevice
from neuronet.ops import channel_correlation as op


@dataclass(frozen=True)
class ChannelCorrelationForward(Case):
    """``packed`` has q, k and v in one array; ``zeros`` says whether some vectors have length 0."""

    op = "channel_correlation.forward"
    rows: int
    units: int
    heads: int
    heads_kv: int
    dimension: int
    packed: bool = False
    zeros: bool = False
    tau: float = 0.5

    @property
    def q(self) -> Shape:
        return (self.rows, self.units, self.heads + 2 * self.heads_kv * self.packed, self.dimension, 2)

    @property
    def kv(self) -> Shape:
        return (self.rows, self.units, 2 * self.heads_kv, self.dimension, 2)

    @property
    def mask(self) -> Shape:
        return (self.rows, self.units, self.units)

    @property
    def lengths(self) -> Shape:
        return (self.rows, self.units, self.heads + self.heads_kv)

    @property
    def settings(self) -> dict[str, float]:
        sizes = {"heads": self.heads, "heads_kv": self.heads_kv, "dimension": self.dimension}
        return sizes | {"tau": self.tau, "regular": 0.3, "weight": 1.7}

    def inputs(self, rng: np.random.Generator) -> Arrays:
        given = {"q": rng.standard_normal(self.q), "mask": (rng.random(self.mask) < 0.5) * 1.0}
        if not self.packed:
            given["kv"] = rng.standard_normal(self.kv)
        if self.zeros:
            for vectors in (given["q"], given.get("kv", given["q"])):
                vectors[0, ::2] = 0
        return given | {"scratch": np.full(op.scratch_shape(self.rows, self.units, self.dimension), np.nan)}

    def outputs(self) -> dict[str, Shape]:
        return {"lengths": self.lengths, "cosines": self.mask, "value": (self.rows,)}

    def run(self, **arrays: DeviceArray) -> None:
        op.forward(**{"kv": arrays["q"]} | arrays, **self.settings)  # type: ignore[arg-type]

    @property
    def terms(self) -> int:
        return 2 * self.heads * self.dimension + self.units

    @property
    def flops(self) -> int:
        return 4 * self.rows * self.heads_kv * self.units**2 * self.dimension


@dataclass(frozen=True)
class ChannelCorrelationBackward(ChannelCorrelationForward):
    op = "channel_correlation.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        given = super().inputs(rng)
        exact = NumpyDevice(np.float64)
        put = {name: exact.put(values.astype(np.float32)) for name, values in given.items()}
        made = {name: exact.array(shape) for name, shape in super().outputs().items()}
        op.forward(**{"kv": put["q"]} | put, **made, **self.settings)  # type: ignore[arg-type]
        before = {"dq": rng.standard_normal(self.q), "dmask": rng.standard_normal(self.mask)}
        if not self.packed:
            before["dkv"] = rng.standard_normal(self.kv)
        return given | before | {name: made[name].read() for name in ("lengths", "cosines")}

    def outputs(self) -> dict[str, Shape]:
        return {"dcosines": self.mask}

    @property
    def changes(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("dq", "dmask") if self.packed else ("dq", "dkv", "dmask")

    def run(self, **arrays: DeviceArray) -> None:
        given = {"kv": arrays["q"], "dkv": arrays["dq"]} | arrays
        op.backward(**given, **self.settings)  # type: ignore[arg-type]

    @property
    def flops(self) -> int:
        return 2 * super().flops


#  rows units heads heads_kv dimension packed zeros
_SIZES = [
    (1, 1, 1, 1, 1, False),
    (3, 2, 2, 1, 3, False),
    (2, 6, 4, 2, 5, True),
    (3, 6, 3, 2, 4, True, True),
    (5, 19, 4, 4, 8, False),
    (2, 19, 16, 16, 16, True),
    (2, 19, 16, 4, 7, False, True),
    (1, 55, 2, 2, 33, False),
    (2, 72, 3, 1, 9, True),
    (1, 300, 2, 1, 11, False),
    (131, 5, 1, 1, 2, False),
]
_KINDS = (ChannelCorrelationForward, ChannelCorrelationBackward)
SMALL: list[Case] = [kind(*size) for size in _SIZES for kind in _KINDS]  # type: ignore[arg-type]
LARGE: list[Case] = [kind(64 * 11, 19, heads, heads, 16, packed=True) for heads in (16, 4) for kind in _KINDS]
