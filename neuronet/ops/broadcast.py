"""A table added to every sample. Kernel: kernels/broadcast.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def add(x: DeviceArray, table: DeviceArray, y: DeviceArray) -> None:
    """y = x + table for each sample. x and y [batch, ...], table the shape of one sample; y may be x."""
    size = table.size
    batch = y.size // size
    y.device.kernel("SumTable")(x=x.view(batch, size), table=table.view(size), y=y.view(batch, size))
