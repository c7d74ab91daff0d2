"""Max pooling along a sequence. Kernels: kernels/proof.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def forward(x: DeviceArray, y: DeviceArray, index: DeviceArray, *, window: int, step: int) -> None:
    """y [batch, units, window_in] = the largest of each window of x [batch, inputs, window_in].

    units <= (inputs - window) // step + 1. ``index``, int32 in y's shape, becomes the place of each
    largest value in its window, the first of equal ones.
    """
    y.device.kernel("FeedForwardProof")(x=x, y=y, index=index, window=window, step=step)


def backward_input(dy: DeviceArray, index: DeviceArray, dx: DeviceArray, *, window: int, step: int) -> None:
    """dx = dL/dx from dy = dL/dy, with ``index`` as ``forward`` wrote it."""
    dx.device.kernel("CalcInputGradientProof")(dy=dy, index=index, dx=dx, window=window, step=step)
