"""Pinball loss of several quantile levels at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device
from neuronet.errors import SpecError
from neuronet.losses.base import Loss, loss
from neuronet.ops import loss as op


@loss
class Quantile(Loss):
    """Output [..., quantiles] with the levels fastest, target [...]; Koenker & Bassett, 1978.

    A flat output of n * quantiles values is read as [n, quantiles].
    """

    levels: tuple[float, ...] = (0.1, 0.5, 0.9)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.levels or not all(0 < q < 1 for q in self.levels):
            raise SpecError(
                f"levels {self.levels} are not all between 0 and 1", where="Quantile", fix="try (0.1, 0.9)"
            )

    def bind(self, device: Device) -> None:
        self._levels = device.put(np.array(self.levels), name="quantile levels")

    def target_shape(self, output_shape: Shape) -> Shape:
        count = len(self.levels)
        if output_shape[-1] == count:
            return output_shape[:-1]
        if output_shape[-1] % count == 0:
            return (*output_shape[:-1], output_shape[-1] // count)
        raise SpecError(
            f"the net's output {list(output_shape)} does not hold {count} levels",
            where="Quantile",
            fix=f"make the last layer give a multiple of {count} values",
        )

    def apply(self, y: DeviceArray, target: DeviceArray, dy: DeviceArray, *arrays: Any) -> None:
        op.quantile(y, target, self._levels, dy, *arrays)
