"""CNeuronTAE: task-aligned encoder, features for a class and for a quantity. Inner layers, concatenate."""

from __future__ import annotations

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import Shape
from neuronet.errors import SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.chain import CNeuronChain
from neuronet.layers.channel_attention import CNeuronChannelAttention
from neuronet.layers.grouped_dense import CNeuronGroupedDense
from neuronet.layers.parts import Branch, check_map, check_positive, local_branch, rows, unit_dense
from neuronet.layers.port import CNeuronPort
from neuronet.layers.shortcut import CNeuronShortcut
from neuronet.layers.x_ci_t import CNeuronXCiTOCL
from neuronet.ops import concatenate

WIDER = 2  # the grouped feed-forward part is so many times as wide as a unit


class _Joint(CNeuronChain):
    """``layers`` grouped blocks: attention sees both branches, everything behind it one of them."""

    def __init__(self, tae: CNeuronTAE) -> None:
        self.tae = tae

    def output_shape(self, input_shape: Shape) -> Shape:
        return (input_shape[0], 2 * self.tae.window_out)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        tae, width = self.tae, self.tae.window_out
        parts: Branch = [("entry", unit_dense(input_shape[1], 2 * width))]
        for i in range(tae.layers):
            attention = CNeuronChannelAttention(tae.heads, tae.dimension, shared=True)
            branches: dict[str, Branch] = {
                "attention": [("channels", attention), ("project", CNeuronGroupedDense(width))],
                "lpi": local_branch(tae.lpi_window, causal=False),
                "feed_forward": [
                    ("ff0", CNeuronGroupedDense(WIDER * width, Activation.GELU)),
                    ("ff1", CNeuronGroupedDense(width)),
                ],
            }
            parts += [(f"{name}{i}", CNeuronShortcut(branch)) for name, branch in branches.items()]
        self.chain(parts, input_shape)


class _Regression(CNeuronChain):
    """A dense layer with GELU and ``layers`` blocks of the regression's own."""

    def __init__(self, tae: CNeuronTAE) -> None:
        self.tae = tae

    def output_shape(self, input_shape: Shape) -> Shape:
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        tae = self.tae
        parts: Branch = [("entry", unit_dense(input_shape[1], input_shape[1], Activation.GELU))]
        for i in range(tae.layers):
            block = CNeuronXCiTOCL(heads=tae.heads, dimension=tae.dimension, lpi_window=tae.lpi_window)
            parts.append((f"block{i}", block))
        self.chain(parts, input_shape)


@layer
class CNeuronTAE(CNeuronBaseOCL):
    """Task-aligned encoder of DFFT (arXiv:2206.06829), along time: two branches that share their attention.

    input   [batch, units, window]
    output  [batch, units, 2 * window_out]: first the features for classification, then those for regression

    A dense layer makes both branches. Then ``layers`` grouped blocks, each branch(norm(x)) beside a shortcut:
    channel attention over both branches, whose values are its queries; a convolution along time as in
    CNeuronXCiTOCL; a feed-forward part twice as wide. Half of the heads and of the feed-forward part belong
    to each branch. The regression goes on through a dense layer with GELU and ``layers`` CNeuronXCiTOCL.

    heads, dimension  of all attentions; an even number of heads
    layers            grouped blocks, and as many blocks of the regression; DFFT has 4 and 4

    Not causal. NeuroNet leaves it out and takes its actor and critic for the two tasks.
    """

    window_out: int
    heads: int
    dimension: int
    layers: int = 2
    lpi_window: int = 3

    def output_shape(self, input_shape: Shape) -> Shape:
        where = "CNeuronTAE"
        check_positive(where, heads=self.heads, dimension=self.dimension, layers=self.layers)
        check_positive(where, lpi_window=self.lpi_window)
        if self.heads % 2:
            raise SpecError(
                f"heads={self.heads} do not divide among two branches",
                where=where,
                fix="choose an even number of heads",
            )
        if self.window_out < 2:
            raise SpecError(
                f"window_out={self.window_out}: branches are normalised over 2 or more values",
                where=where,
                fix="choose window_out >= 2",
            )
        units, _ = check_map(where, input_shape, least=1)
        return (units, 2 * self.window_out)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        shape = (input_shape[0], self.window_out)
        self.joint = self.inner("joint", _Joint(self), input_shape)
        self.classification = self.inner("classification", CNeuronPort(output=True), shape)
        self.shared = self.inner("shared", CNeuronPort(output=True), shape)
        self.regression = self.inner("regression", _Regression(self), shape)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        first, later = self.classification, self.shared
        self.joint.feedForward(prev)
        concatenate.backward(rows(self.joint.output), rows(first.output), rows(later.output))
        self.regression.feedForward(later)
        concatenate.forward(rows(first.output), rows(self.regression.output), rows(self.output))

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        first, later = self.classification, self.shared
        concatenate.backward(rows(self.gradient), rows(first.gradient), rows(self.regression.gradient))
        self.inner_gradients(self.regression, later)
        concatenate.forward(rows(first.gradient), rows(later.gradient), rows(self.joint.gradient))
        self.inner_gradients(self.joint, prev)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.inner_weights(self.joint, prev)
        self.inner_weights(self.regression, self.shared)
