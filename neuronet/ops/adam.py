"""One Adam step over flat arrays. Kernel: kernels/adam.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def step(
    w: DeviceArray, g: DeviceArray, m: DeviceArray, v: DeviceArray, hyper: DeviceArray, *, keep: bool = False
) -> None:
    """Update w, m and v in place from gradient g, and set g to zero. ``hyper``: see common.cl.

    Where hyper[GO] is 0 nothing is updated; g is then set to zero as well, unless ``keep``.
    """
    w.device.kernel("AdamStep")(w=w, g=g, m=m, v=v, hyper=hyper, keep=int(keep))
