"""Trading loss: what positions cost and gain."""

from __future__ import annotations

import math
from typing import Any

from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import SpecError
from neuronet.losses.base import Loss, loss
from neuronet.ops import loss as op


@loss
class Policy(Loss):
    """mean of cost |p[n] - p[n-1]| - return[n] p[n] with the position p = tanh(output), output one value.

    target [3]: the return of holding 1 from the next bar's open on, the cost of changing the position by 1 in
    the same unit, and 1 where this sample follows the one before it in the batch, else 0. Samples of a batch
    are in the order of time: see ``Source.runs``. The change into a batch's first sample costs nothing.
    """

    def target_shape(self, output_shape: Shape) -> Shape:
        if math.prod(output_shape) != 1:
            raise SpecError(
                f"the net's output {list(output_shape)} is not one value",
                where="Policy",
                fix="give the last layer one neuron: the position before tanh",
            )
        return (3,)

    def apply(self, y: DeviceArray, target: DeviceArray, dy: DeviceArray, *arrays: Any) -> None:
        op.policy(y, target, dy, *arrays)
