"""Clip a gradient by its global norm. Kernels: kernels/clip.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import gpu_form


def by_norm(g: DeviceArray, sums: DeviceArray, *, limit: float) -> None:
    """g *= min(1, limit / ||g||). ``sums`` [parts] is scratch; its length sets the order of summation."""
    g.device.kernel(f"SquareSums{gpu_form(g.device)}")(g=g, sums=sums)
    g.device.kernel("ClipGradient")(g=g, sums=sums, limit=float(limit))
