"""Mean squared, mean absolute and Huber loss."""

from __future__ import annotations

from typing import ClassVar

from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.errors import SpecError
from neuronet.losses.base import Loss, loss
from neuronet.ops import loss as op


class Elementwise(Loss):
    """What the losses of single values share."""

    kind: ClassVar[str]

    def bind(self, device: Device) -> None:
        self._sums = device.array((op.MOST_PARTS,), name="parts of the loss")

    def apply(
        self,
        y: DeviceArray,
        target: DeviceArray,
        dy: DeviceArray,
        loss: DeviceArray,
        hyper: DeviceArray,
        step: DeviceArray,
    ) -> None:
        op.elementwise(
            y, target, dy, loss, hyper, step, self._sums, kind=self.kind, delta=getattr(self, "delta", 1.0)
        )


@loss
class Mse(Elementwise):
    """mean of (y - target)^2."""

    kind: ClassVar[str] = "mse"


@loss
class Mae(Elementwise):
    """mean of |y - target|; the gradient at 0 is 0."""

    kind: ClassVar[str] = "mae"


@loss
class Huber(Elementwise):
    """mean of e^2/2 for |e| <= delta, delta * (|e| - delta/2) beyond; e = y - target. Huber, 1964."""

    kind: ClassVar[str] = "huber"

    delta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.delta > 0:
            raise SpecError(f"delta must be positive, got {self.delta}", where="Huber", fix="try delta=1.0")
