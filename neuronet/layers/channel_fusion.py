"""CNeuronChannelFusion: a mask of channels and a transformer that keeps to it. Inner layers, elementwise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import Shape
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.channel_mask import CNeuronChannelMask
from neuronet.layers.dropout import CNeuronDropoutOCL
from neuronet.layers.mask_attention_complex import CNeuronMaskAttentionComplex
from neuronet.layers.parts import Branch, second_input
from neuronet.layers.port import CNeuronPort
from neuronet.layers.shortcut import CNeuronShortcut
from neuronet.layers.unit_linear import unit_linear
from neuronet.ops import elementwise


class CNeuronChannelFusion(CNeuronBaseOCL):
    """[batch, patches * channels, 2 * patch] -> [batch, patches * channels, outputs]. A part of CATCH.

    The mask of a patch is seen from the patch itself and shared by all blocks. Every block is
    x + attention(norm(x)) and then x + ff1(GELU(ff0(norm(x)))), ``width`` and ``hidden`` numbers a unit.

    attentions   one for each block, not built; the penalty is the sum of theirs
    probability  of dropout behind each linear layer inside
    hidden_share of the numbers of a patch that training hides from the transformer, not from the mask
    evaluation   how the mask is made when nothing is trained: see CNeuronChannelMask
    """

    def __init__(
        self,
        attentions: list[CNeuronMaskAttentionComplex],
        *,
        width: int,
        hidden: int,
        outputs: int,
        probability: float,
        hidden_share: float,
        evaluation: str,
    ) -> None:
        self.attentions, self.width, self.hidden, self.outputs = attentions, width, hidden, outputs
        self.probability, self.hidden_share, self.evaluation = probability, hidden_share, evaluation

    def output_shape(self, input_shape: Shape) -> Shape:
        return (input_shape[0], self.outputs)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        first = self.attentions[0]
        self.mask = self.inner("mask", CNeuronChannelMask(first.channels, self.evaluation), input_shape)
        self.links: list[CNeuronBaseOCL] = []
        shape, mask_shape = input_shape, self.mask.output.shape[1:]
        with second_input(self, mask_shape):
            for name, made in self._stack(input_shape[1], complex_numbers=first.complex_layers):
                self.links.append(self.inner(name, made, shape))
                shape = made.output.shape[1:]
        # each attention leaves its part of the mask's gradient in a port of its own
        self.ports = [self.inner(f"mask{i}", CNeuronPort(), mask_shape) for i in range(len(self.attentions))]
        self.port = self.inner("port", CNeuronPort(), input_shape)
        self.end_with(self.links[-1])
        if first.correlation:
            self.set_penalty()

    def _stack(self, inputs: int, *, complex_numbers: bool) -> Branch:
        """(name, layer) of all that follow each other, in order."""

        def linear(name: str, inputs: int, outputs: int, activation: Activation = Activation.NONE) -> Branch:
            return [(name, unit_linear(inputs, outputs, activation, complex_numbers=complex_numbers))]

        def dropout(name: str) -> Branch:
            return [(name, CNeuronDropoutOCL(probability=self.probability))] if self.probability else []

        width, hidden = self.width, self.hidden
        hide: Branch = []
        if self.hidden_share:
            hide = [("hide", CNeuronDropoutOCL(probability=self.hidden_share))]
        stack = hide + linear("embed", inputs, width) + dropout("drop")
        for i, attention in enumerate(self.attentions):
            mix: Branch = [("attention", attention), *dropout("drop")]
            ff = linear("ff0", width, hidden, Activation.GELU) + dropout("drop0")
            ff += linear("ff1", hidden, width) + dropout("drop1")
            stack += [(f"mix{i}", CNeuronShortcut(mix)), (f"ff{i}", CNeuronShortcut(ff))]
        return stack + linear("head", width, self.outputs)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.mask.feedForward(prev)
        for before, made, port in self._steps(prev):
            made.feedForward(before, port)
        if self.penalty is not None:
            total, *rest = [a.penalty for a in self.attentions if a.penalty is not None]
            elementwise.copy(total, self.penalty)
            for part in rest:
                elementwise.add(self.penalty, part, self.penalty)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.port.output = prev.output
        first = self.port if prev.needs_gradient else prev
        for before, made, port in reversed(self._steps(first)):
            self.inner_gradients(made, before, port)
        total, *rest = [port.gradient for port in self.ports]
        elementwise.copy(total, self.mask.gradient)
        for part in rest:
            elementwise.add(self.mask.gradient, part, self.mask.gradient)
        self.inner_gradients(self.mask, prev)
        if prev.needs_gradient:
            elementwise.add(prev.gradient, self.port.gradient, prev.gradient)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.inner_weights(self.mask, prev)
        for before, made, port in self._steps(prev):
            self.inner_weights(made, before, port)

    def _steps(self, prev: CNeuronBaseOCL) -> list[tuple[CNeuronBaseOCL, CNeuronBaseOCL, CNeuronPort | None]]:
        """(previous layer, layer, where it finds the mask and leaves its gradient)."""
        mixing = iter(self.ports)
        steps = []
        for before, made in pairwise([prev, *self.links]):
            port = None
            if isinstance(made, CNeuronShortcut) and made.layers[0] in self.attentions:
                port = next(mixing)
                port.output = self.mask.output
            steps.append((before, made, port))
        return steps
