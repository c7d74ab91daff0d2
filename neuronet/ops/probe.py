"""A device's speed of multiplying and adding. Kernel: kernels/probe.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray

FLOPS = 128  # per element and step


def multiply_add(x: DeviceArray, y: DeviceArray, *, steps: int) -> None:
    """y = what 64 chains of ``steps`` multiplications and additions make of x; both [n]."""
    y.device.kernel("MultiplyAddProbe")(x=x, y=y, steps=steps)
