"""Guards: arrays between two stretches of known values, which a kernel must leave alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device

GUARD = 1024  # elements on each side
MARK = 1.2345e9


class Guard:
    """Hands out arrays inside larger ones, and says afterwards which were overrun."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._owned: list[tuple[DeviceArray, DeviceArray]] = []

    def array(self, shape: Shape, values: NDArray[Any] | None = None, *, name: str = "") -> DeviceArray:
        """An array of ``values``, or of NaN, so that an element left unwritten is seen."""
        integers = values is not None and values.dtype.kind in "iu"
        size = int(np.prod(shape))
        step = max(1, self.device.alignment // 4)
        padded = -(-size // step) * step
        dtype = np.dtype(np.int32) if integers else self.device.dtype
        host = np.full(GUARD + padded + GUARD, MARK, dtype)
        host[GUARD : GUARD + size] = np.nan if values is None else values.ravel()
        whole = self.device.array(host.shape, dtype, name=name).write(host)
        inner = whole.part(GUARD, shape, name)
        self._owned.append((whole, inner))
        return inner

    def overruns(self) -> list[str]:
        """One line for each array that something was written around."""
        lines = []
        for whole, inner in self._owned:
            host = whole.read()
            mark = host.dtype.type(MARK)
            outside = np.r_[host[:GUARD], host[GUARD + inner.size :]]
            if count := int(np.count_nonzero(outside != mark)):
                lines.append(f"{inner.name}: {count} values written outside the array")
        return lines
