"""Which channels see each other, from logits. Kernels: kernels/channel_mask.cl.

Shapes: z and dz, y, mask and dmask [rows, units, units]; key int32 [1] tells layers apart, step int32 [4]
training steps (kernels/step.cl): the same key and step give the same draws.
"""

from __future__ import annotations

from typing import Literal

from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError

Mode = Literal["sample", "deterministic", "expected"]


def forward(
    z: DeviceArray,
    key: DeviceArray,
    step: DeviceArray,
    y: DeviceArray,
    mask: DeviceArray,
    *,
    mode: Mode,
    tau: float = 1.0,
) -> None:
    """mask from z, and y for the backward pass; the diagonal of mask is 1.

    sample         1 with probability sigmoid(2 z), else 0: training, and CATCH's own code at any time
    deterministic  1 where z >= 0
    expected       sigmoid(2 z), the mean of the draws; tau is not used

    Logits count as -15 to 15. A larger ``tau`` makes y, and the gradient, smoother, and changes no draw.
    """
    if not tau > 0:
        raise ShapeError(f"tau={tau} is not above 0", where="ops/channel_mask.py", fix="try tau=1")
    units = _units(z)
    z.device.kernel("ChannelMask")(
        z=z.view(z.size),
        key=key,
        step=step,
        y=y.view(z.size),
        mask=mask.view(z.size),
        units=units,
        rate=_rate(mode, tau),
        noisy=1.0 if mode == "sample" else 0.0,
        soft=int(mode == "expected"),
    )


def backward(y: DeviceArray, dmask: DeviceArray, dz: DeviceArray, *, mode: Mode, tau: float = 1.0) -> None:
    """dz = dL/dz from dmask = dL/dmask as if mask were y, so that draws have a gradient; mode as before."""
    y.device.kernel("ChannelMaskGradient")(
        y=y.view(y.size), dmask=dmask.view(y.size), dz=dz.view(y.size), units=_units(y), rate=_rate(mode, tau)
    )


def _rate(mode: Mode, tau: float) -> float:
    return 1.0 if mode == "expected" else 1.0 / tau


def _units(z: DeviceArray) -> int:
    if len(z.shape) < 2 or z.shape[-1] != z.shape[-2]:
        raise ShapeError(
            f"logits {list(z.shape)} are not [rows, units, units]",
            where="ops/channel_mask.py",
            fix="give each channel as many logits as there are channels",
        )
    return z.shape[-1]
