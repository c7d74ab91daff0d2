"""Loss of an action: its class, and how far the price goes with and against it."""

from __future__ import annotations

import math
from typing import Any

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import SpecError
from neuronet.losses.base import Loss, loss
from neuronet.ops import loss as op


@loss
class Action(Loss):
    """Mean of the cross entropy of three logits + weight * the mean Huber loss of two quantities.

    output [5]: logits of the classes 0, 1, 2 (sell, flat, buy), then how far the price goes up and down.
    target [3]: the class as a float, up, down. The quantities have no unit of their own: scale them so that
    they vary by about 1, for ``delta`` is where the Huber loss turns from squared to absolute.
    """

    weight: float = 1.0
    delta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= self.weight < math.inf:
            raise SpecError(f"weight cannot be {self.weight}", where="Action", fix="try weight=1.0")
        if not self.delta > 0.0:
            raise SpecError(f"delta must be positive, got {self.delta}", where="Action", fix="try delta=1.0")

    def target_shape(self, output_shape: Shape) -> Shape:
        if math.prod(output_shape) != 5:
            raise SpecError(
                f"the net's output {list(output_shape)} is not five values",
                where="Action",
                fix="give the last layer five neurons: logits of sell, flat, buy, and how far up and down",
            )
        return (3,)

    def apply(self, y: DeviceArray, target: DeviceArray, dy: DeviceArray, *arrays: Any) -> None:
        op.action(y, target, dy, *arrays, weight=self.weight, delta=self.delta)
