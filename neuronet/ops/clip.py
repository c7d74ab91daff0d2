"""Clip a gradient by its global norm. Kernels: kernels/clip.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def by_norm(g: DeviceArray, sums: DeviceArray, *, limit: float) -> None:
    """g *= min(1, limit / ||g||). ``sums`` [parts] is scratch; its length sets the order of summation."""
    device = g.device
    device.kernel("SquareSums")(g=g, sums=sums)
    device.kernel("ClipGradient")(g=g, sums=sums, limit=float(limit))
