"""Dropout with random numbers made on the device. Kernel: kernels/dropout.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def apply(
    x: DeviceArray, key: DeviceArray, step: DeviceArray, out: DeviceArray, *, probability: float
) -> None:
    """out = x / (1 - probability), or 0 with ``probability`` for each element; 0 <= probability < 1.

    The forward pass on x and, with the same key and step, the backward pass on dL/dy. ``key`` int32 [1]
    tells layers apart, step[0] training steps; ``out`` may be ``x``. Arrays of equal size and any shapes.
    """
    n = out.size
    out.device.kernel("Dropout")(
        inputs=x.view(n),
        key=key,
        step=step,
        out=out.view(n),
        threshold=min(round(probability * 2**32), 2**32 - 1),
        scale=1 / (1 - probability),
    )
