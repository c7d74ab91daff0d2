"""Mean squared, mean absolute and Huber loss."""

from __future__ import annotations

from typing import Any

from neuronet.device.array import DeviceArray
from neuronet.errors import SpecError
from neuronet.losses.base import Loss, loss
from neuronet.ops import loss as op


@loss
class Mse(Loss):
    """mean of (y - target)^2."""

    def apply(self, y: DeviceArray, target: DeviceArray, dy: DeviceArray, *arrays: Any) -> None:
        op.elementwise(y, target, dy, *arrays, kind="mse")


@loss
class Mae(Loss):
    """mean of |y - target|; the gradient at 0 is 0."""

    def apply(self, y: DeviceArray, target: DeviceArray, dy: DeviceArray, *arrays: Any) -> None:
        op.elementwise(y, target, dy, *arrays, kind="mae")


@loss
class Huber(Loss):
    """mean of e^2/2 for |e| <= delta, delta * (|e| - delta/2) beyond; e = y - target. Huber, 1964."""

    delta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.delta > 0:
            raise SpecError(f"delta must be positive, got {self.delta}", where="Huber", fix="try delta=1.0")

    def apply(self, y: DeviceArray, target: DeviceArray, dy: DeviceArray, *arrays: Any) -> None:
        op.elementwise(y, target, dy, *arrays, kind="huber", delta=self.delta)
