"""DeviceArray: memory on one device that knows its shape, its dtype and its name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import ShapeError

if TYPE_CHECKING:
    from neuronet.device.base import Device

Shape = tuple[int, ...]


class Memory:
    """Where arrays lie: the device's own handle, an OpenCL buffer or a flat NumPy array.

    It is there from the start, or ``allocate`` makes it when it is first asked for.
    """

    __slots__ = ("_allocate", "_handle")

    def __init__(self, handle: Any = None, allocate: Callable[[], Any] | None = None) -> None:
        self._handle, self._allocate = handle, allocate

    @property
    def handle(self) -> Any:
        if self._handle is None and self._allocate is not None:
            self._handle = self._allocate()
        return self._handle

    @property
    def is_there(self) -> bool:
        return self._handle is not None

    def lend(self, handle: Any) -> None:
        """Lie in ``handle``, which may be larger; None: as at the start, nowhere until first use."""
        self._handle = handle


class DeviceArray:
    """C-ordered float or int32 memory; axis 0 of an activation is the batch: ``[batch, units, window]``.

    There are no arithmetic operators: every launch is visible as a call of an op.
    """

    __slots__ = ("device", "dtype", "memory", "name", "shape", "signature", "size")

    def __init__(self, device: Device, shape: Shape, dtype: Any, memory: Memory, name: str = "") -> None:
        self.device, self.shape, self.dtype = device, shape, np.dtype(dtype)
        self.memory, self.name = memory, name
        self.size = math.prod(shape)
        self.signature = (shape, self.dtype.char)  # what a kernel's launch plan depends on

    @property
    def storage(self) -> Any:
        """The handle of the memory; it may hold more than this array."""
        return self.memory.handle

    @property
    def nbytes(self) -> int:
        return self.size * int(self.dtype.itemsize)

    def read(self) -> NDArray[Any]:
        """A copy in host memory, after all launches so far."""
        return self.device.read(self)

    def write(self, values: Any) -> DeviceArray:
        """Overwrite with host ``values`` of the same shape; ShapeError otherwise."""
        host = np.ascontiguousarray(values, self.dtype)
        if host.shape != self.shape:
            raise ShapeError(
                f"cannot write values of shape {host.shape} into {self!r}",
                fix="reshape the values, or allocate the array with their shape",
            )
        self.device.write(self, host)
        return self

    def fill(self, value: float) -> DeviceArray:
        self.device.fill(self, value)
        return self

    def view(self, *shape: int) -> DeviceArray:
        """The same memory under another shape of the same size."""
        if math.prod(shape) != self.size:
            raise ShapeError(f"cannot view {self!r} as {shape}: sizes differ")
        return DeviceArray(self.device, shape, self.dtype, self.memory, self.name)

    def rows(self, count: int) -> DeviceArray:
        """The first ``count`` entries of axis 0, in the same memory."""
        if not 0 <= count <= self.shape[0]:
            raise ShapeError(f"cannot take {count} rows of {self!r}")
        return DeviceArray(self.device, (count, *self.shape[1:]), self.dtype, self.memory, self.name)

    def part(self, offset: int, shape: Shape, name: str = "") -> DeviceArray:
        """``shape`` elements from ``offset`` on; the offset must be a multiple of ``device.alignment``."""
        size = math.prod(shape)
        if not 0 <= offset <= self.size - size:
            raise ShapeError(f"cannot take {list(shape)} from element {offset} of {self!r}")
        # The front needs no sub-buffer. NVIDIA's driver 580 crashes when overlapping ones, such as those of
        # scratch memory that a tape holds, are released in the order of their making.
        memory = Memory(self.device.slice(self.storage, offset, size, self.dtype)) if offset else self.memory
        return DeviceArray(self.device, shape, self.dtype, memory, name or self.name)

    def __repr__(self) -> str:
        dims = ", ".join(map(str, self.shape))
        return f"<{self.name or 'array'} {self.dtype.name}[{dims}] on {self.device.name}>"
