"""CNeuronMHFlashAttentionOCL: multi-head attention in linear memory. Ops: flash_attention; inner conv."""

from __future__ import annotations

from typing import Any

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.parts import check_map, check_positive, unit_dense
from neuronet.layers.port import CNeuronPort
from neuronet.ops import flash_attention, flash_attention_kv, flash_attention_q, visible


@layer
class CNeuronMHFlashAttentionOCL(CNeuronBaseOCL):
    """Units look at each other, or at a second input; scores are never kept (Dao, arXiv:2307.08691).

    input         [batch, units, window]
    second input  with ``cross``: [batch, keys, any width], whose units are keys and values
    output        [batch, units, window]

    Softmax of Q·K / sqrt(dimension), times V, for each head; all heads go through one more linear layer.

    heads_kv  heads of keys and values, a divisor of heads; head h has those of h * heads_kv / heads
    causal    a unit sees itself and those before it; with ``cross`` the last unit sees all keys
    """

    heads: int
    dimension: int
    heads_kv: int | None = None
    causal: bool = False
    cross: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.takes_second = self.cross  # type: ignore[misc]  # this one's, not that of all

    def output_shape(self, input_shape: Shape) -> Shape:
        where = "CNeuronMHFlashAttentionOCL"
        check_positive(where, heads=self.heads, dimension=self.dimension)
        if self.keys < 1 or self.heads % self.keys:
            what = f"heads_kv={self.keys} does not divide {self.heads} heads"
            raise SpecError(what, where=where, fix="choose a divisor, or None for as many")
        second = self.context.second_shape
        if self.cross and (second is None or len(second) != 2):
            what = f"the second input is {second}, expected [keys, window]"
            raise ShapeError(what, where=where, fix="give a second input, or leave cross out")
        return check_map(where, input_shape, least=1)

    @property
    def keys(self) -> int:
        """Heads of keys, and of values."""
        return self.heads if self.heads_kv is None else self.heads_kv

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, window = input_shape
        inner, inner_kv = self.heads * self.dimension, self.keys * self.dimension
        second = self.context.second_shape if self.cross else input_shape
        assert second is not None
        if self.cross:
            self.query = self.inner("query", unit_dense(window, inner), input_shape)
            self.rows = self.inner("keys", unit_dense(second[1], 2 * inner_kv), second)
            self.columns = 0, 0, inner_kv
        else:
            self.query = self.rows = self.inner("qkv", unit_dense(window, inner + 2 * inner_kv), input_shape)
            self.columns = 0, inner, inner + inner_kv
        self.mixed = self.inner("mixed", CNeuronPort(output=True), (units, inner))
        self.project = self.inner("project", unit_dense(inner, window), (units, inner))
        self.end_with(self.project)
        self.lse = self.batch_array("lse", (units, self.heads))
        self.delta = self.batch_array("delta", (units, self.heads))
        of = visible.causal if self.causal else visible.everything
        self.limits = self.device.put(of(units, second[0]), name=f"{self.where}.limits")

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.query.feedForward(prev)
        if self.cross:
            assert second is not None
            self.rows.feedForward(second)
        q, kv, how = self.query.output, self.rows.output, self._how
        flash_attention.forward(q, kv, kv, self.limits, self._heads(self.mixed.output), self.lse, **how)
        self.project.feedForward(self.mixed)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.project.calcInputGradients(self.mixed)
        q, kv, how = self.query.output, self.rows.output, self._how
        out, dout = self._heads(self.mixed.output), self._heads(self.mixed.gradient)
        dq, dkv = self.query.gradient, self.rows.gradient
        flash_attention_q.backward(q, kv, kv, self.limits, out, self.lse, dout, self.delta, dq, **how)
        flash_attention_kv.backward(q, kv, kv, self.limits, self.lse, dout, self.delta, dkv, dkv, **how)
        self.query.calcInputGradients(prev)
        if self.cross:
            assert second is not None
            self.rows.calcInputGradients(second)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.query.calcWeightGradients(prev)
        if self.cross:
            assert second is not None
            self.rows.calcWeightGradients(second)
        self.project.calcWeightGradients(self.mixed)

    @property
    def _how(self) -> dict[str, Any]:
        return {"heads_kv": self.keys, "columns": self.columns}

    def _heads(self, array: DeviceArray) -> DeviceArray:
        return array.view(*array.shape[:2], self.heads, self.dimension)
