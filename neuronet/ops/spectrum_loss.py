"""Mean modulus of the differences of two spectra. Kernels: kernels/spectrum_loss.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def spectrum_loss(
    y: DeviceArray,
    target: DeviceArray,
    value: DeviceArray,
    dy: DeviceArray,
    *,
    weight: float = 1.0,
    add: bool = False,
) -> None:
    """value = weight times each row's mean |y - target|, and the gradient of the mean value of the rows.

    y, target, dy  [rows, channels, bins, 2], bins as pairs re, im
    value          [rows], overwritten
    add            add the gradient to dy, whose other part is there; else overwrite dy
    """
    y.device.kernel("SpectrumLoss")(
        y=y, target=target, value=value, dy=dy, add=int(add), weight=float(weight)
    )
