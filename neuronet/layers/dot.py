"""CNeuronDOTOCL: attention of each unit to its neighbours, a feed-forward part. Ops: dot, rpb."""

from __future__ import annotations

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.layer_norm import CNeuronLayerNormOCL
from neuronet.layers.port import CNeuronPort
from neuronet.ops import dot, elementwise, rpb

WIDER = 4  # the feed-forward part is so many times as wide as a unit
SPREAD = 0.02  # standard deviation of the initial bias, as in DFFT


@layer
class CNeuronDOTOCL(CNeuronBaseOCL):
    """Local attention and a feed-forward part, each with a shortcut (DFFT, arXiv:2206.06829).

    input  [batch, units, any width]
    output [batch, units, window]

        m = x + proj(attention(qkv(norm0(x))))        output = m + ff1(GELU(ff0(norm1(m))))

    Head h of unit u looks at the units u - radius … u + radius that exist: softmax over them of
    Q[u]·K[v] / sqrt(dimension) + rpb[h, v - u + radius], times V. An input of another width than ``window``
    goes through proj_input first. The channel attention that the series puts inside is a layer of its own.

    window        width of a unit inside and behind the layer
    dimension     values of a head's query, key and value
    heads         any number; heads * dimension need not be ``window``
    radius        how many neighbours on each side, 1 or more; units - 1 is full attention
    causal        look back only: no output depends on a later unit
    per_position  a bias for each unit, as in the series; else one for all, and any number of units fits
    post_norm     the series' order: m = norm0(x + ...), output = norm1(m + ...)
    """

    window: int
    dimension: int
    heads: int
    radius: int = 1
    causal: bool = False
    per_position: bool = False
    post_norm: bool = False

    def output_shape(self, input_shape: Shape) -> Shape:
        for name, least in (("window", 2), ("dimension", 1), ("heads", 1), ("radius", 1)):
            if getattr(self, name) < least:
                raise SpecError(
                    f"{name}={getattr(self, name)} is too small",
                    where="CNeuronDOTOCL",
                    fix=f"choose {name} >= {least}",
                )
        if len(input_shape) != 2:
            raise ShapeError(
                f"input {list(input_shape)} is not [units, window]",
                where="CNeuronDOTOCL",
                fix="put it where a sample has two axes",
            )
        return (input_shape[0], self.window)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, width = input_shape
        shape, inner = (units, self.window), self.heads * self.dimension
        self.slots = dot.slots(self.radius, self.causal)

        def dense(name: str, inputs: int, outputs: int, activation: Activation) -> CNeuronConvOCL:
            made = CNeuronConvOCL(window=inputs, step=inputs, window_out=outputs, activation=activation)
            return self.inner(name, made, (units, inputs))

        self.proj_input = None
        if width != self.window:
            self.proj_input = dense("proj_input", width, self.window, Activation.NONE)
        self.norm0 = self.inner("norm0", CNeuronLayerNormOCL(), shape)
        self.qkv = dense("qkv", self.window, 3 * inner, Activation.NONE)
        bias = (units if self.per_position else 1, self.heads, self.slots)
        self.rpb = self.parameter("rpb", rng.normal(0.0, SPREAD, bias))
        self.score = self.batch_array("score", (units, *bias[1:]))
        self.dscore = self.brief_array("dscore", (units, *bias[1:]))
        self.attention = self.inner("attention", CNeuronPort(output=True), (units, inner))
        self.proj = dense("proj", inner, self.window, Activation.NONE)
        self.norm1 = self.inner("norm1", CNeuronLayerNormOCL(), shape)
        self.ff0 = dense("ff0", self.window, WIDER * self.window, Activation.GELU)
        self.ff1 = dense("ff1", WIDER * self.window, self.window, Activation.NONE)
        self.port = self.inner("port", CNeuronPort(), shape)  # the attention's branch behind post_norm
        self.sum0 = self.inner("sum0", CNeuronPort(output=True), shape)
        self.sum1 = self.inner("sum1", CNeuronPort(output=True), shape)

        self.proj.SetGradient(self.sum0.gradient)
        last = self.norm1 if self.post_norm else self.sum1
        self.end_with(last)
        self.ff1.SetGradient(self.sum1.gradient)
        self.proj.forget_output()
        self.ff1.forget_output()

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if self.proj_input is not None:
            self.proj_input.feedForward(prev)
        x = self.proj_input or prev
        if self.post_norm:
            self._attend(x)
            self.norm0.forward_sum(x.output, self.proj.output, self.sum0.output)
            self._feed_forward_part(self.norm0)
            self.norm1.forward_sum(self.norm0.output, self.ff1.output, self.sum1.output)
        else:
            self.norm0.feedForward(x)
            self._attend(self.norm0)
            self.norm1.forward_sum(x.output, self.proj.output, self.sum0.output)
            self._feed_forward_part(self.norm1)
            elementwise.add(self.sum0.output, self.ff1.output, self.sum1.output)

    def _attend(self, x: CNeuronBaseOCL) -> None:
        self.qkv.feedForward(x)
        dot.forward(
            self._split(self.qkv.output),
            self.rpb.value,
            self.score,
            self._heads(self.attention.output),
            radius=self.radius,
        )
        self.proj.feedForward(self.attention)

    def _feed_forward_part(self, x: CNeuronBaseOCL) -> None:
        self.ff0.feedForward(x)
        self.ff1.feedForward(self.ff0)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        x = self.proj_input or prev
        if self.post_norm:
            self.port.output = x.output
            self.norm1.calcInputGradients(self.sum1)
            self._feed_forward_part_gradients(self.norm0)
            elementwise.add(self.norm0.gradient, self.sum1.gradient, self.norm0.gradient)
            self.norm0.calcInputGradients(self.sum0)
            self._attention_gradients(self.port if x.needs_gradient else x)
            if x.needs_gradient:
                elementwise.add(self.port.gradient, self.sum0.gradient, x.gradient)
        else:
            self._feed_forward_part_gradients(self.norm1)
            self.norm1.gradient_of_sum(self.sum0.output, self.sum1.gradient, self.sum0.gradient)
            self._attention_gradients(self.norm0)
            if x.needs_gradient:
                self.norm0.gradient_of_sum(x.output, self.sum0.gradient, x.gradient)
        if self.proj_input is not None:
            self.inner_gradients(self.proj_input, prev)

    def _attention_gradients(self, x: CNeuronBaseOCL) -> None:
        """From the gradient of proj to that of x, the input of qkv."""
        self.inner_gradients(self.proj, self.attention)
        dot.backward(
            self._split(self.qkv.output),
            self.score,
            self._heads(self.attention.gradient),
            self.dscore,
            self._split(self.qkv.gradient),
            radius=self.radius,
        )
        self.inner_gradients(self.qkv, x)

    def _feed_forward_part_gradients(self, x: CNeuronBaseOCL) -> None:
        self.inner_gradients(self.ff1, self.ff0)
        self.inner_gradients(self.ff0, x)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        # fused updates (RPBUpdateAdam …) would not pay: the norms would need an Adam launch each besides
        x = self.proj_input or prev
        if self.proj_input is not None:
            self.inner_weights(self.proj_input, prev)
        self.norm0.calcWeightGradients(self.sum0 if self.post_norm else x)
        self.inner_weights(self.qkv, x if self.post_norm else self.norm0)
        rpb.backward(self.dscore, self.rpb.gradient)
        self.inner_weights(self.proj, self.attention)
        self.norm1.calcWeightGradients(self.sum1 if self.post_norm else self.sum0)
        self.inner_weights(self.ff0, self.norm0 if self.post_norm else self.norm1)
        self.inner_weights(self.ff1, self.ff0)

    def _split(self, array: DeviceArray) -> DeviceArray:
        """[batch, units, 3*heads*dimension] as [batch, units, 3, heads, dimension]."""
        return array.view(*array.shape[:2], 3, self.heads, self.dimension)

    def _heads(self, array: DeviceArray) -> DeviceArray:
        """[batch, units, heads*dimension] as [batch, units, heads, dimension]."""
        return array.view(*array.shape[:2], self.heads, self.dimension)
