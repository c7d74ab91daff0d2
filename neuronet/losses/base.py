"""Loss: what a net minimises, and the registry of losses."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from neuronet.declared import check_fields, from_spec
from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device
from neuronet.errors import SpecError

LOSSES: dict[str, type] = {}
T = TypeVar("T", bound="Loss")


class Loss:
    """Base class. ``loss``, ``hyper`` and ``step`` are the net's arrays: see kernels/loss.cl."""

    def __post_init__(self) -> None:
        check_fields(self)

    def bind(self, device: Device) -> None:
        """Put constants on the device; most losses have none."""

    def target_shape(self, output_shape: Shape) -> Shape:
        """Shape of one sample's target for one sample's output. SpecError when the output cannot be."""
        return output_shape

    def target_dtype(self, device: Device) -> np.dtype[Any]:
        return device.dtype

    def apply(
        self,
        y: DeviceArray,
        target: DeviceArray,
        dy: DeviceArray,
        loss: DeviceArray,
        hyper: DeviceArray,
        step: DeviceArray,
    ) -> None:
        """Add rows * mean to loss[0], write the mean to loss[1] and its gradient to ``dy``."""
        raise NotImplementedError


@dataclass_transform(kw_only_default=True)
def loss(cls: type[T]) -> type[T]:
    """Make ``cls`` a declared loss under its own name."""
    made = dataclasses.dataclass(kw_only=True, eq=False)(cls)
    LOSSES[made.__name__] = made
    return made


def make_loss(what: str | dict[str, Any] | Loss) -> Loss:
    """A loss from its short name ("mse"), its spec, or itself."""
    if isinstance(what, Loss):
        return what
    if isinstance(what, dict):
        made: Loss = from_spec(LOSSES, what, "loss")
        return made
    short = {_snake(name): cls for name, cls in LOSSES.items()}
    if what not in short:
        raise SpecError(f"unknown loss {what!r}", fix=f"choose one of {', '.join(sorted(short))}")
    return short[what]()  # type: ignore[no-any-return]


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
