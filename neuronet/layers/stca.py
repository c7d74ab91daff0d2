"""CNeuronSTCAOCL: attention of a few questions to a long history. Ops: flash_stca, flash_attention."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.parts import check_map, check_positive, unit_dense
from neuronet.layers.port import CNeuronPort
from neuronet.ops import (
    conv,
    elementwise,
    flash_attention,
    flash_attention_kv,
    flash_attention_q,
    flash_stca,
    flash_stca_gradient,
    row_sums,
    visible,
)
from neuronet.ops.matmul import backward_a, backward_b, matmul
from neuronet.ops.transpose import rows_and_columns

AGE = (
    2.0**-10
)  # of a unit of the history next to the newest: a slope of 1 counts in thousands of units, so that
# one step of training changes the scores of a long history by little


@layer
class CNeuronSTCAOCL(CNeuronBaseOCL):
    """Every question looks at the whole history (STCA, arXiv:2511.06077, one attention).

    input         [batch, questions, width]
    second input  [batch, units, window], the history, oldest unit first
    output        [batch, questions, width]

    Head h of question q: softmax over t of r[q]·(W_K[h] x[t]) / sqrt(dimension) - slope[h] age[t], times
    W_V[h] x[t], with r = q W_Q + b_Q; the heads side by side go through one more linear layer.

    absorbed  keys and values are never made: u = r W_K meets the rows themselves, and W_V acts on what is
              found, so all heads and questions read the history once. False: keys and values are made, which
              is less work from questions * (heads - 1) >= window on. None: whichever is less
    recency   learn the slope, a 1,024 units, from 0 on: older units count less than newer ones; else it is 0

    sharpen   factor of the scores; above 1 where the history is longer than in training

    ``see`` limits what a question sees. No bias for keys, which would change nothing, nor for values.
    """

    takes_second: ClassVar[bool] = True

    heads: int
    dimension: int
    absorbed: bool | None = None
    recency: bool = False
    sharpen: float = 1.0

    def output_shape(self, input_shape: Shape) -> Shape:
        where = "CNeuronSTCAOCL"
        check_positive(where, heads=self.heads, dimension=self.dimension)
        if (self.recency or self.sharpen != 1.0) and self.absorbed is False:
            what = f"recency={self.recency} and sharpen={self.sharpen} without absorbed"
            raise SpecError(what, where=where, fix="leave absorbed out, or both of them")
        if self.context.second_shape is None or len(self.context.second_shape) != 2:
            what = f"the history is {self.context.second_shape}, expected [units, window]"
            raise ShapeError(what, where=where, fix="give a second input, the history")
        return check_map(where, input_shape, least=1)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        questions, width = input_shape
        assert self.context.second_shape is not None
        self.units, window = self.context.second_shape
        heads, dimension, inner = self.heads, self.dimension, self.heads * self.dimension
        less = questions * (heads - 1) < window or self.recency or self.sharpen != 1.0
        self.absorbs = less if self.absorbed is None else self.absorbed
        self.query = self.inner("query", unit_dense(width, inner), input_shape)
        # normed questions and rows have scores and values of variance about 1; with less, all units weigh
        # nearly the same at first, and training does not find the few that matter among thousands
        bound = math.sqrt(3.0 / window)
        shape = (heads, dimension, window)
        self.w_k = self.parameter("w_k", math.sqrt(3.0) * rng.uniform(-bound, bound, shape))
        self.w_v = self.parameter("w_v", rng.uniform(-bound, bound, shape))
        self.found = self.inner("found", CNeuronPort(output=True), (questions, inner))
        self.project = self.inner("project", unit_dense(inner, width), (questions, inner))
        self.end_with(self.project)
        self.lse = self.batch_array("lse", (questions, heads))
        self.limits = self.batch_array("limits", (questions, 2), np.int32)
        self.see(visible.everything(questions, self.units))
        self.dw = self.device.array(shape, name=f"{self.where}.dw")
        if self.absorbs:
            self._allocate_absorbed(questions, window)
        else:
            self._allocate_classic(questions, inner)

    def _allocate_absorbed(self, questions: int, window: int) -> None:
        heads, dimension = self.heads, self.dimension
        wide, narrow = (questions, heads, window), (questions, heads, dimension)
        self.u, self.du = self.batch_array("u", wide), self.brief_array("du", wide)
        self.read, self.dread = self.batch_array("read", wide), self.brief_array("dread", wide)
        # the same by heads; prefixes of them for fewer samples, hence flat
        for name, shape in {
            **dict.fromkeys(("r", "dr", "found", "dfound"), narrow),
            **dict.fromkeys(("u", "du", "read", "dread"), wide),
        }.items():
            self.batch_array(f"{name}_by_head", (math.prod(shape),))
        splits = flash_stca.splits_for(self.device, self.batch, self.units, questions * heads, window)
        self.top = self.batch_array("top", (splits, questions, heads))
        self.total = self.batch_array("total", (splits, questions, heads))
        self.sums = self.batch_array("sums", (splits, *wide))
        if self.recency:
            self.slope = self.parameter("slope", np.zeros(heads))
            ages = np.broadcast_to(AGE * np.arange(self.units)[::-1], (self.batch, self.units))
            self.ages = self.batch_array("ages", (self.units,)).write(ages)

    def _allocate_classic(self, questions: int, inner: int) -> None:
        self.no_bias = self.device.array((1, inner), name="no bias").write(np.zeros((1, inner)))
        self.unused = self.device.array((1, inner), name="gradient of no bias")
        keys = (self.units, inner)
        self.k, self.v = self.batch_array("k", keys), self.batch_array("v", keys)
        self.dk, self.dv = self.brief_array("dk", keys), self.brief_array("dv", keys)
        self.delta = self.brief_array("delta", (questions, self.heads))
        self.dsecond = self.brief_array("dsecond", self.context.second_shape or ())

    def see(self, limits: NDArray[np.int32]) -> None:
        """Limit what questions see: [1 or batch, questions, 2] of ops/visible.py, until said otherwise."""
        full = self._full["limits"]
        full.write(np.broadcast_to(limits, full.shape).astype(np.int32))

    # --- forward -----------------------------------------------------------------------

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        self.query.feedForward(prev)
        if self.absorbs:
            r, u, read, found = (self._by_head(name) for name in ("r", "u", "read", "found"))
            self._to_heads(self.query.output, r)
            matmul(r, self.w_k.value, u)
            self._to_rows(u, self.u)
            how = {"scale": self._scale, **self._recency}
            known = self.u, second.output, self.limits, self.top, self.total, self.sums
            flash_stca.forward(*known, self.read, self.lse, **how)
            self._to_heads(self.read, read)
            backward_a(read, self.w_v.value, found)
            self._to_rows(found, self.found.output)
        else:
            for w, made in ((self.w_k, self.k), (self.w_v, self.v)):
                x, y, weights = self._conv_arrays(second.output, made, w.value)
                conv.forward(
                    x, weights, self.no_bias, y, step=x.shape[2] // self.units, activation=Activation.NONE
                )
            q, out = self.query.output, self._heads(self.found.output)
            flash_attention.forward(q, self.k, self.v, self.limits, out, self.lse, heads_kv=self.heads)
        self.project.feedForward(self.found)

    @property
    def _scale(self) -> float:
        return self.sharpen / math.sqrt(self.dimension)

    @property
    def _recency(self) -> dict[str, Any]:
        return {"ages": self.ages, "slope": self.slope.value} if self.recency else {}

    # --- backward ----------------------------------------------------------------------

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        self.project.calcInputGradients(self.found)
        if self.absorbs:
            dr, du, dread, dfound = (self._by_head(name) for name in ("dr", "du", "dread", "dfound"))
            self._to_heads(self.found.gradient, dfound)
            matmul(dfound, self.w_v.value, dread)
            self._to_rows(dread, self.dread)
            how = {"scale": self._scale, **self._recency}
            known = self.u, second.output, self.limits, self.read, self.lse, self.dread, self.sums, self.top
            flash_stca_gradient.backward(*known, self.du, second.gradient, **how)
            self._to_heads(self.du, du)
            backward_a(du, self.w_k.value, dr)
            self._to_rows(dr, self.query.gradient)
        else:
            q, out, dout = self.query.output, self._heads(self.found.output), self._heads(self.found.gradient)
            rows = q, self.k, self.v, self.limits
            flash_attention_q.backward(
                *rows, out, self.lse, dout, self.delta, self.query.gradient, heads_kv=self.heads
            )
            flash_attention_kv.backward(
                *rows, self.lse, dout, self.delta, self.dk, self.dv, heads_kv=self.heads
            )
            if second.needs_gradient:
                for w, made, dx in ((self.w_k, self.dk, second.gradient), (self.w_v, self.dv, self.dsecond)):
                    x, dy, weights = self._conv_arrays(dx, made, w.value)
                    conv.backward_input(dy, weights, x, step=x.shape[2] // self.units)
                elementwise.add(second.gradient, self.dsecond, second.gradient)
        self.query.calcInputGradients(prev)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        self.query.calcWeightGradients(prev)
        self.project.calcWeightGradients(self.found)
        if self.absorbs:
            for w, a, dc in ((self.w_k, "r", "du"), (self.w_v, "dfound", "read")):
                backward_b(self._by_head(a), self._by_head(dc), self.dw)
                elementwise.add(w.gradient, self.dw, w.gradient)
            if self.recency:
                row_sums.add(self.top, self.slope.gradient)  # calcInputGradients has left the parts there
        else:
            for w, made in ((self.w_k, self.dk), (self.w_v, self.dv)):
                x, dy, gradient = self._conv_arrays(second.output, made, w.gradient)
                conv.backward_weights(x, dy, gradient, self.unused, step=x.shape[2] // self.units)

    # --- shapes ------------------------------------------------------------------------

    def _by_head(self, name: str) -> DeviceArray:
        """[heads, batch * questions, numbers] of a flat array."""
        array: DeviceArray = getattr(self, f"{name}_by_head")
        questions = self.output.shape[0] * self.output.shape[1]
        return array.view(self.heads, questions, array.size // (self.heads * questions))

    def _to_heads(self, rows: DeviceArray, by_head: DeviceArray) -> None:
        heads, count, numbers = by_head.shape
        rows_and_columns(rows.view(1, count, heads, numbers), by_head.view(1, heads, count, numbers))

    def _to_rows(self, by_head: DeviceArray, rows: DeviceArray) -> None:
        heads, count, numbers = by_head.shape
        rows_and_columns(by_head.view(1, heads, count, numbers), rows.view(1, count, heads, numbers))

    def _heads(self, array: DeviceArray) -> DeviceArray:
        return array.view(*array.shape[:2], self.heads, self.dimension)

    def _conv_arrays(
        self, x: DeviceArray, y: DeviceArray, w: DeviceArray
    ) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        """History, keys or values, and their weights in the shapes of ops/conv.py."""
        batch, units, window = x.shape
        inner = self.heads * self.dimension
        return x.view(batch, 1, units * window), y.view(batch, 1, units, inner), w.view(1, inner, window)

    # --- what it looked at -------------------------------------------------------------

    def attention(self, second: CNeuronBaseOCL) -> NDArray[np.float64]:
        """The weight of each unit of the history, [batch, questions, heads, units], of the last pass."""
        x, lse = second.output.read().astype(np.float64), self.lse.read().astype(np.float64)
        r = self._heads(self.query.output).read().astype(np.float64)
        u = np.einsum("bqhe,hed->bqhd", r, self.w_k.value.read().astype(np.float64))
        scores = np.einsum("bqhd,btd->bqht", u, x) * self._scale
        first, last = np.moveaxis(self.limits.read(), 2, 0)[:, :, :, None, None]
        at = np.arange(self.units)
        seen = (at >= first) & (at < last)
        if self.recency:
            ages = self.ages.read().astype(np.float64)[:, None, None, :]
            newest = np.where(seen, ages, np.inf).min(axis=3, keepdims=True)
            scores = scores - self.slope.value.read()[:, None] * (ages - np.where(seen, newest, 0.0))
        return np.asarray(np.where(seen, np.exp(np.where(seen, scores - lse[..., None], -np.inf)), 0.0))
