"""CNeuronXCiTOCL: attention between channels, a look at the neighbours, a feed-forward part. Inner layers."""

from __future__ import annotations

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import Shape
from neuronet.errors import SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.chain import CNeuronChain
from neuronet.layers.channel_attention import CNeuronChannelAttention
from neuronet.layers.parts import Branch, check_map, check_positive, local_branch, unit_dense
from neuronet.layers.shortcut import CNeuronShortcut

WIDER = 4  # the feed-forward part is so many times as wide as a unit


@layer
class CNeuronXCiTOCL(CNeuronChain):
    """Cross-covariance attention: every channel attends to the channels of its head, over all units.

    input, output  [batch, units, window], the units in the order of time

        a = x + project(A v)                      A = softmax_j(tau <q_i, k_j> / (|q_i| |k_j|)) for each head
        b = a + lpi(a)                            lpi: convolution over time, GELU, layer norm, convolution
        output = b + ff1(GELU(ff0(b)))

    each branch behind a layer norm of its own; with ``post_norm`` the norm goes over the sum instead, as in
    NeuroNet. q, k and v are heads * dimension channels; products and norms run over the units, so that the
    cost is linear in them. Each channel of the convolutions has its own ``lpi_window`` taps. El-Nouby et al.,
    arXiv:2106.09681; there and in DFFT (arXiv:2206.06829) a batch norm stands between the convolutions.

    heads, dimension  heads * dimension is usually one or two times the window
    lpi_window        units that a convolution sees
    causal            no output depends on a later unit: A of a unit comes from the products and norms of the
                      units up to it, the squares of the norms from 1 on, and the convolutions end with it

    With ``causal``, ``stream`` goes on from the sums of all units since ``Clear``. Weights do not depend on
    the number of units: a net with one unit runs bar by bar with the weights of one with many.
    """

    heads: int
    dimension: int
    lpi_window: int = 3
    causal: bool = False
    post_norm: bool = False

    def output_shape(self, input_shape: Shape) -> Shape:
        check_positive(
            "CNeuronXCiTOCL", heads=self.heads, dimension=self.dimension, lpi_window=self.lpi_window
        )
        return check_map("CNeuronXCiTOCL", input_shape)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        window = input_shape[1]
        attention = CNeuronChannelAttention(self.heads, self.dimension, causal=self.causal)
        branches: dict[str, Branch] = {
            "attention": [
                ("channels", attention),
                ("project", unit_dense(self.heads * self.dimension, window)),
            ],
            "lpi": local_branch(self.lpi_window, causal=self.causal),
            "feed_forward": [
                ("ff0", unit_dense(window, WIDER * window, Activation.GELU)),
                ("ff1", unit_dense(WIDER * window, window)),
            ],
        }
        parts = [(name, CNeuronShortcut(b, post_norm=self.post_norm)) for name, b in branches.items()]
        self.chain(parts, input_shape)

    def stream(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """``feedForward`` for units that follow those of the last call, sample by sample."""
        if not self.causal:
            raise SpecError(
                "streams only with causal=True: its attention looks at units to come",
                where=self.where,
                fix="train it with causal=True, or give it whole windows",
            )
        super().stream(prev, second)
