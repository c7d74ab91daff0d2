"""Max pooling along a sequence. Kernels: kernels/proof.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def forward(x: DeviceArray, y: DeviceArray, *, window: int, step: int) -> None:
    """y [batch, units, window_in] = the largest of each window of x [batch, inputs, window_in].

    units <= (inputs - window) // step + 1.
    """
    y.device.kernel("FeedForwardProof")(x=x, y=y, window=window, step=step)


def backward_input(
    x: DeviceArray, y: DeviceArray, dy: DeviceArray, dx: DeviceArray, *, window: int, step: int
) -> None:
    """dx = dL/dx from dy = dL/dy; the first of equal maxima takes all of its window's gradient."""
    dx.device.kernel("CalcInputGradientProof")(x=x, y=y, dy=dy, dx=dx, window=window, step=step)
