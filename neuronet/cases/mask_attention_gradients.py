"""Cases of ops/mask_attention_gradients.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.cases.mask_attention_complex import SIZES, MaskAttention, forward_of
from neuronet.device.array import DeviceArray, Shape
from neuronet.ops import mask_attention_gradients as op


@dataclass(frozen=True)
class MaskAttentionBackward(MaskAttention):
    op = "mask_attention_gradients.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        given = super().inputs(rng)
        lse, out = forward_of(self, given)
        given |= {"lse": lse, "out": out, "dout": rng.standard_normal(self.out)} | self.scratch()
        if self.alike:
            given |= {name: rng.standard_normal(self.mask) for name in ("dcosines", "dmask")}
        return given

    @property
    def changes(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("dmask",) if self.alike else ()

    def outputs(self) -> dict[str, Shape]:
        shapes = {"dq": self.q} | ({} if self.alike else {"dmask": self.mask})
        return shapes if self.packed else shapes | {"dkv": self.kv}

    def run(self, **arrays: DeviceArray) -> None:
        given = {"kv": arrays["q"], "dkv": arrays["dq"]} | arrays
        op.backward(**given, **self.settings, mode=self.mode)  # type: ignore[arg-type]

    @property
    def flops(self) -> int:
        return 20 * self.rows * self.heads * self.units**2 * self.dimension


SMALL: list[Case] = [MaskAttentionBackward(*size) for size in SIZES]  # type: ignore[arg-type]
SMALL += [
    MaskAttentionBackward(*size, alike=True, zeros=size[1] == 6)  # type: ignore[arg-type]
    for size in [(1, 1, 2, 1, 3, "hard", False), *SIZES[1:]]  # in 2 numbers, directions may be all alike
]
LARGE: list[Case] = [
    MaskAttentionBackward(*size, packed=True, alike=True)
    for size in [(64 * 11, 19, 16, 16, 16), (64 * 11, 19, 4, 4, 8), (64 * 11, 55, 4, 2, 16)]
]
