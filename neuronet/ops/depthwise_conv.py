"""Convolution over time, each channel with taps of its own. Kernels: kernels/depthwise_conv.cl.

Shapes: x, y, dx, dy [batch, length, channels]; tail [batch, taps, channels], the units in front of the first;
w [taps, channels], b [channels]. ``before`` says how many units in front of its own a unit's first tap lies,
at most taps - 1, which sees no later unit. Behind the last unit lie zeros.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError
from neuronet.ops.forms import cpu_form

STRETCH = 64  # units of one part, as in the kernels


def stretches(length: int) -> int:
    """In how many parts the weight gradients of ``length`` units are summed."""
    return -(-length // STRETCH)


def forward(
    x: DeviceArray, tail: DeviceArray, w: DeviceArray, b: DeviceArray, y: DeviceArray, *, before: int
) -> None:
    """y = b + sum over the taps of w * x."""
    _check(w.shape[0], before)
    y.device.kernel(f"DepthwiseConv{cpu_form(y.device)}")(x=x, tail=tail, w=w, b=b, y=y, before=before)


def backward_input(dy: DeviceArray, w: DeviceArray, dx: DeviceArray, *, before: int) -> None:
    """dx = dL/dx from dy = dL/dy."""
    _check(w.shape[0], before)
    dx.device.kernel(f"DepthwiseConvInput{cpu_form(dx.device)}")(dy=dy, w=w, dx=dx, before=before)


def backward_weights(
    x: DeviceArray,
    tail: DeviceArray,
    dy: DeviceArray,
    w_parts: DeviceArray,
    b_parts: DeviceArray,
    *,
    before: int,
) -> None:
    """w_parts [batch, stretches(length), taps, channels] and b_parts [batch, stretches(length), channels].

    They sum to dL/dw and dL/db.
    """
    _check(tail.shape[1], before)
    dy.device.kernel(f"DepthwiseConvWeights{cpu_form(dy.device)}")(
        x=x, tail=tail, dy=dy, w_parts=w_parts, b_parts=b_parts, before=before
    )


def keep(x: DeviceArray, tail: DeviceArray) -> None:
    """tail = what lies in front of the unit behind the last, where another call may begin."""
    tail.device.kernel("DepthwiseConvKeep")(x=x, tail=tail)


def _check(taps: int, before: int) -> None:
    if not 0 <= before < taps:
        raise ShapeError(
            f"before={before} is not in 0 … {taps - 1}, as {taps} taps need",
            where="ops/depthwise_conv.py",
        )
