"""CNeuronChannelAttention: attention between channels. Ops: channel_attention, causal_channel_attention."""

from __future__ import annotations

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.ops import (
    causal_channel_attention,
    causal_channel_gradient,
    channel_attention,
    row_sums,
)

EPS = 1e-6  # the least norm of a channel
FIRST = 1.0  # the squares of causal norms start from it


class CNeuronChannelAttention(CNeuronBaseOCL):
    """Channels of a head, mixed by how alike they are over the units. A part of composites.

    input   [batch, units, window]
    output  [batch, units, heads * dimension]

    ``project`` makes q, k and v of every unit, each of heads * dimension channels; with ``shared``, q is v
    too. For each head A = softmax over j of tau <q_i, k_j> / (|q_i| |k_j|), norms and products over all
    units, or with ``causal`` over the units up to each; the output is A v. tau, from 1, is learned.

    With ``causal``, sums of squares start from 1 and sums of products from 0: alone, the first unit would
    have cosines of 1 and -1 that jump with the signs of q and k. So A starts out even.
    """

    def __init__(self, heads: int, dimension: int, *, causal: bool = False, shared: bool = False) -> None:
        self.heads, self.dimension, self.causal, self.shared = heads, dimension, causal, shared

    def output_shape(self, input_shape: Shape) -> Shape:
        return (input_shape[0], self.heads * self.dimension)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, window = input_shape
        heads, e, inner = self.heads, self.dimension, self.heads * self.dimension
        wide = (2 if self.shared else 3) * inner
        project = CNeuronConvOCL(window=window, step=window, window_out=wide, activation=Activation.NONE)
        self.project = self.inner("project", project, input_shape)
        self.tau = self.parameter("tau", np.ones(heads))
        cells = (heads, e + 2, e)
        if self.causal:
            parts = causal_channel_attention.parts(units)
            self.running = self.batch_array("running", (parts + 1, *cells))
            self.later = self.brief_array("later", (parts + 1, *cells))
            self.scales = self.batch_array("scales", (units, 2, inner))
            self.lse = self.batch_array("lse", (units, inner))
            self.no_sums = self.batch_array("no_sums", cells)
            self.last_sums = self.batch_array("last_sums", cells)
            first = np.zeros((self.batch, *cells))
            first[:, :, e:] = FIRST
            self.no_sums.write(first)
            self.last_sums.write(first)
            self.tau_parts = self.brief_array("tau_parts", (parts, e, heads))
        else:
            parts = channel_attention.parts(self.device, self.batch * heads, e, units)
            self.scores = self.batch_array("scores", cells)
            self.mix = self.batch_array("mix", (heads, e, e))
            self.factors = self.brief_array("factors", (heads, 3, e, e))
            self.corrections = self.brief_array("corrections", (heads, 2, e))
            self.tau_parts = self.brief_array("tau_parts", (e, heads))
        self.sums = self.batch_array("sums", (parts, *cells))

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.project.feedForward(prev)
        if self.causal:
            self._run_causal(self.no_sums)
        else:
            channel_attention.forward(
                self.project.output,
                self.tau.value,
                self.sums,
                self.scores,
                self.mix,
                self.output,
                eps=EPS,
            )

    def stream(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """``feedForward`` for units that follow those of the last call; only with ``causal``."""
        self.project.feedForward(prev)
        self._run_causal(self.last_sums)
        causal_channel_attention.keep(self.running, self.last_sums)

    def Clear(self) -> None:
        """Forget what ``stream`` has seen."""
        if self.causal:
            self._full["last_sums"].write(self._full["no_sums"].read())

    def _run_causal(self, initial: DeviceArray) -> None:
        rows, tau = self.project.output, self.tau.value
        sums, running, scales = self.sums, self.running, self.scales
        causal_channel_attention.forward(
            rows, tau, initial, sums, running, scales, self.lse, self.output, eps=EPS
        )

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        rows, drows, tau = self.project.output, self.project.gradient, self.tau.value
        if self.causal:
            causal_channel_gradient.backward(
                rows,
                tau,
                self.running,
                self.scales,
                self.lse,
                self.output,
                self.gradient,
                self.sums,
                self.later,
                self.tau_parts,
                drows,
                eps=EPS,
            )
        else:
            channel_attention.backward(
                rows,
                tau,
                self.scores,
                self.mix,
                self.output,
                self.gradient,
                self.sums,
                self.factors,
                self.corrections,
                self.tau_parts,
                drows,
                eps=EPS,
            )
        self.project.calcInputGradients(prev)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.project.calcWeightGradients(prev)
        row_sums.add(self.tau_parts, self.tau.gradient)
