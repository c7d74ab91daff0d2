"""CNeuronDropoutOCL: random zeros while training. Ops: dropout, elementwise."""

from __future__ import annotations

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import dropout, elementwise


@layer
class CNeuronDropoutOCL(CNeuronBaseOCL):
    """Training: each value becomes 0 with ``probability``, else is divided by 1 - probability.

    In evaluation the output is the input. The mask of an element depends on the layer's key (drawn
    at ``build``, saved), the training step, the sample's row and the element: on nothing else.
    Srivastava et al., JMLR 15 (2014), in the inverted form.
    """

    probability: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.probability < 1:
            raise SpecError(
                f"probability={self.probability} is not in [0, 1)",
                where="CNeuronDropoutOCL",
                fix="try probability=0.1",
            )

    def output_shape(self, input_shape: Shape) -> Shape:
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        self.key = self.state("key", rng.integers(2**31, size=1, dtype=np.int32))

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self._apply(prev.output, self.output)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if prev.needs_gradient:
            self._apply(self.gradient, prev.gradient)

    def _apply(self, source: DeviceArray, target: DeviceArray) -> None:
        if self.training:
            dropout.apply(source, self.key, self.context.step, target, probability=self.probability)
        else:
            elementwise.copy(source, target)
