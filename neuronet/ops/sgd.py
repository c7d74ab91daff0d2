"""One step of gradient descent with momentum over flat arrays. Kernel: kernels/sgd.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def step(w: DeviceArray, g: DeviceArray, m: DeviceArray, hyper: DeviceArray) -> None:
    """Update w and m in place from gradient g, and set g to zero. ``hyper``: see common.cl."""
    w.device.kernel("SgdStep")(w=w, g=g, m=m, hyper=hyper)
