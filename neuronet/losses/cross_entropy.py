"""Cross entropy of class numbers against logits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device
from neuronet.errors import SpecError
from neuronet.losses.base import Loss, loss
from neuronet.ops import loss as op


@loss
class CrossEntropy(Loss):
    """-log softmax(y)[target]: output [classes] logits (no softmax layer), target one int32 class number."""

    def target_shape(self, output_shape: Shape) -> Shape:
        if math.prod(output_shape) < 2:
            raise SpecError(
                f"the net's output {list(output_shape)} has fewer than two classes",
                where="CrossEntropy",
                fix="give the last layer one neuron a class",
            )
        return ()

    def target_dtype(self, device: Device) -> np.dtype[Any]:
        return np.dtype(np.int32)

    def apply(self, y: DeviceArray, target: DeviceArray, dy: DeviceArray, *arrays: Any) -> None:
        op.cross_entropy(y, target, dy, *arrays)
