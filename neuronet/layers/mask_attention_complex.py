"""CNeuronMaskAttentionComplex: attention between channels under a mask. Ops: mask_attention_complex,
mask_attention_gradients, channel_correlation."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.parts import check_positive, merged
from neuronet.layers.port import CNeuronPort
from neuronet.layers.unit_linear import unit_linear
from neuronet.ops import channel_correlation, mask_attention_complex, mask_attention_gradients
from neuronet.ops.matmul import matmul

MODES = ("hard", "reference")


@layer
class CNeuronMaskAttentionComplex(CNeuronBaseOCL):
    """Mix the channels of each patch of a spectrum, those that the mask opens (CATCH, arXiv:2410.12261).

    input, output  [batch, patches * channels, width], the channels of a patch side by side
    second input   [batch, patches, channels, channels]: 1 where channel i may look at channel j, 0 where not

    One linear layer makes heads queries and heads_kv keys and values of ``dimension`` complex numbers each;
    head h has the keys and values of h % heads_kv. A = softmax over the open j of Re <q_i, k_j> / sqrt(2
    dimension); another linear layer brings A v of all heads back to ``width``. A channel always sees itself.

    mask_mode    hard: closed channels get nothing; reference: the weight of a logit of -ln(1e10) before the
                 scaling, as in CATCH's own code, where the mask leaks
    correlation  weight of the penalty that clusters channels, 0: none. For each patch and channel
                 -ln(sum over open j of e_j / sum over all j of e_j), e_j = exp(mean cosine of q and k over
                 the heads / temperature), plus ``regular`` times the share of open pairs
    complex_layers  both linear layers are complex, over width / 2 numbers re, im; else real
    """

    takes_second: ClassVar[bool] = True

    channels: int
    heads: int
    dimension: int
    heads_kv: int | None = None
    mask_mode: str = "hard"
    correlation: float = 0.0
    temperature: float = 0.07
    regular: float = 0.5
    complex_layers: bool = False

    def output_shape(self, input_shape: Shape) -> Shape:
        where = "CNeuronMaskAttentionComplex"
        check_positive(where, channels=self.channels, heads=self.heads, dimension=self.dimension)
        if not 1 <= self.keys <= self.heads:
            what = f"heads_kv={self.keys} for {self.heads} heads"
            raise SpecError(what, where=where, fix=f"choose 1 to {self.heads}, or None for as many")
        if self.mask_mode not in MODES:
            raise SpecError(f"mask_mode={self.mask_mode!r}", where=where, fix=f"choose {' or '.join(MODES)}")
        if not (self.correlation >= 0.0 and self.regular >= 0.0 and self.temperature > 0.0):
            what = f"correlation={self.correlation}, regular={self.regular}, temperature={self.temperature}"
            raise SpecError(what, where=where, fix="choose at least 0, and a temperature above 0")
        if len(input_shape) != 2 or input_shape[0] % self.channels:
            what = f"input {list(input_shape)} is not [patches * {self.channels} channels, width]"
            raise ShapeError(what, where=where, fix="set channels to those of a patch")
        return input_shape

    @property
    def keys(self) -> int:
        """Heads of keys, and of values."""
        return self.heads if self.heads_kv is None else self.heads_kv

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, width = input_shape
        self.patches, n, kept = units // self.channels, self.channels, 2 * self.dimension
        wanted = (self.patches, n, n)
        if self.context.second_shape != wanted:
            what = f"the second input is {self.context.second_shape}, expected {wanted}"
            raise ShapeError(what, where=self.where, fix="give a mask for each patch")
        rows = self.batch * self.patches
        qkv = unit_linear(width, (self.heads + 2 * self.keys) * kept, complex_numbers=self.complex_layers)
        self.qkv = self.inner("qkv", qkv, input_shape)
        self.attention = self.inner("attention", CNeuronPort(output=True), (units, self.heads * kept))
        project = unit_linear(self.heads * kept, width, complex_numbers=self.complex_layers)
        self.project = self.inner("project", project, (units, self.heads * kept))
        self.end_with(self.project)
        self.lse = self.batch_array("lse", (self.patches, n, self.heads))
        self.space = mask_attention_complex.scratch_shape(rows, n, self.keys, self.dimension)
        if self.correlation:
            self.set_penalty()
            self.cosines = self.batch_array("cosines", wanted)
            self.dcosines = self.brief_array("dcosines", wanted)
            self.value = self.batch_array("value", (self.patches,))
            self.mean = self.device.put(np.full((1, self.patches, 1), 1.0 / self.patches), name="mean")

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        self.qkv.feedForward(prev)
        qkv, mask = self._rows(self.qkv.output), self._rows(second.output)
        out, alike = self._heads(self.attention.output), self._of_rows("cosines")
        mask_attention_complex.forward(
            qkv, qkv, mask, self.device.scratch(self.space), self._lse, out, alike, **self._how
        )
        self.project.feedForward(self.attention)
        if alike is not None and self.penalty is not None:
            value, batch = self.value.view(self.value.size), self.value.shape[0]
            channel_correlation.forward(alike, mask, value, **self._loss, weight=self.correlation)
            matmul(self.value.view(1, batch, self.patches), self.mean, self.penalty.view(1, batch, 1))

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        self.project.calcInputGradients(self.attention)
        qkv, mask = self._rows(self.qkv.output), self._rows(second.output)
        dqkv, dmask = self._rows(self.qkv.gradient), self._rows(second.gradient)
        out, dout = self._heads(self.attention.output), self._heads(self.attention.gradient)
        alike, dalike = self._of_rows("cosines"), self._of_rows("dcosines")
        if alike is not None and dalike is not None:
            weight = self.correlation / self.value.size
            channel_correlation.backward(alike, mask, dalike, dmask, **self._loss, weight=weight)
        known = qkv, qkv, mask, self._lse, out, dout
        mask_attention_gradients.backward(
            *known, self.device.scratch(self.space), dqkv, dqkv, dmask, dalike, **self._how
        )
        self.qkv.calcInputGradients(prev)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.qkv.calcWeightGradients(prev)
        self.project.calcWeightGradients(self.attention)

    @property
    def _how(self) -> dict[str, Any]:
        scale = 1.0 / math.sqrt(2 * self.dimension)
        return {"heads_kv": self.keys, "scale": scale, "mode": self.mask_mode}

    @property
    def _loss(self) -> dict[str, Any]:
        return {"tau": self.temperature, "regular": self.regular}

    @property
    def _lse(self) -> DeviceArray:
        return merged(self.lse)

    def _of_rows(self, name: str) -> DeviceArray | None:
        """An array of the correlation, where there is one."""
        return merged(getattr(self, name)) if self.correlation else None

    def _rows(self, array: DeviceArray) -> DeviceArray:
        """[batch, patches * channels, width] as [batch * patches, channels, width]."""
        rows = array.shape[0] * self.patches
        return array.view(rows, self.channels, array.size // (rows * self.channels))

    def _heads(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0] * self.patches, self.channels, self.heads, self.dimension, 2)
