"""CNeuronRevINDenormOCL: takes a forecast back to the scale that CNeuronRevINOCL removed. Ops: rev_in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.rev_in import CNeuronRevINOCL
from neuronet.ops import rev_in


@layer
class CNeuronRevINDenormOCL(CNeuronBaseOCL):
    """x = (y - beta) / gamma * deviation + mean, with what the CNeuronRevINOCL at index ``layers`` holds.

    input, output  [batch, units, window] with the features of that layer in the same order, or, for
                   ``feature`` = f, a forecast of feature f alone: [batch, units] or [batch, units, 1]

    It has no parameters. Its gradients reach gamma, beta, mean and deviation of its partner, and so the
    partner's input. A gamma of 0 has no inverse: the loss is then not finite, and training stops.
    """

    layers: int = 0
    feature: int | None = None

    def connect(self, index: int, layers: Sequence[CNeuronBaseOCL]) -> None:
        where = f"layer {index} (CNeuronRevINDenormOCL)"
        partner = layers[self.layers] if 0 <= self.layers < index else None
        if not isinstance(partner, CNeuronRevINOCL):
            seen = type(partner).__name__ if partner is not None else "not a layer before this one"
            raise SpecError(
                f"layers={self.layers} is {seen}, expected a CNeuronRevINOCL",
                where=where,
                fix="set layers to the index, from 0, of the CNeuronRevINOCL that it undoes",
            )
        for other in layers[:index]:
            if isinstance(other, CNeuronRevINDenormOCL) and other.layers == self.layers:
                raise SpecError(
                    f"layer {self.layers} is undone twice",
                    where=where,
                    fix="give every CNeuronRevINDenormOCL a CNeuronRevINOCL of its own",
                )
        self.partner = partner

    def output_shape(self, input_shape: Shape) -> Shape:
        if not hasattr(self, "partner"):
            raise SpecError(
                "has no CNeuronRevINOCL to undo",
                where="CNeuronRevINDenormOCL",
                fix="put both into the layers of a net; they do not work inside other layers",
            )
        window = self.partner.window
        if self.feature is not None and not 0 <= self.feature < window:
            raise SpecError(
                f"feature={self.feature} is not one of the {window} that were normalised",
                where="CNeuronRevINDenormOCL",
                fix=f"choose feature from 0 to {window - 1}",
            )
        if self.feature is None:
            fits, wanted = len(input_shape) == 2 and input_shape[1] == window, f"[units, {window}]"
        else:
            fits, wanted = len(input_shape) == 1 or input_shape[1:] == (1,), "[units] or [units, 1]"
        if not fits:
            raise ShapeError(
                f"input {list(input_shape)} does not match layer {self.layers}, expected {wanted}",
                where="CNeuronRevINDenormOCL",
                fix="let the layer before it give that shape, or set feature to forecast one column",
            )
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.columns = 1 if self.feature is not None else self.partner.window
        self.first = self.feature or 0

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        p = self.partner
        y, x = self._units(prev.output), self._units(self.output)
        rev_in.denorm_forward(y, p.mean, p.deviation, p.gamma.value, p.beta.value, x, feature=self.first)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        p, dx = self.partner, self._units(self.gradient)
        rev_in.denorm_backward_statistics(
            self._units(prev.output),
            dx,
            p.gamma.value,
            p.beta.value,
            p.dmean,
            p.ddeviation,
            feature=self.first,
        )
        if prev.needs_gradient:
            dy = self._units(prev.gradient)
            rev_in.denorm_backward_input(dx, p.deviation, p.gamma.value, dy, feature=self.first)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """Add to the partner's gradients; the partner, a layer before this one, is updated later."""
        p = self.partner
        if not p.affine:
            return
        rev_in.denorm_backward_weights(
            p.deviation,
            p.gamma.value,
            p.dmean,
            p.ddeviation,
            p.gamma.gradient,
            p.beta.gradient,
            columns=self.columns,
            feature=self.first,
        )

    def _units(self, array: DeviceArray) -> DeviceArray:
        return array.view(array.shape[0], array.size // (array.shape[0] * self.columns), self.columns)
