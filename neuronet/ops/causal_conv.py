"""Causal convolution over time, four taps for each channel, with SiLU. Kernels: kernels/causal_conv.cl.

Shapes: rows and drows [batch, length, width], of which ``channels`` columns from ``offset`` on are meant;
tail [batch, 3, channels], the steps in front of the first; w [4, channels], the last tap for the present
step; b [channels]; y and dy [batch, length, channels].
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError
from neuronet.ops.forms import cpu_form

TAPS = 4
STRETCH = 64  # steps of one part, as in the kernels


def stretches(length: int) -> int:
    """In how many parts the weight gradients of ``length`` steps are summed."""
    return -(-length // STRETCH)


def forward(
    rows: DeviceArray, tail: DeviceArray, w: DeviceArray, b: DeviceArray, y: DeviceArray, *, offset: int
) -> None:
    """y = silu(b + sum over the taps of w * x)."""
    _check(rows, w, offset)
    form = cpu_form(y.device)
    y.device.kernel(f"CausalConv{form}")(rows=rows, tail=tail, w=w, b=b, y=y, offset=offset)


def backward(
    rows: DeviceArray,
    tail: DeviceArray,
    w: DeviceArray,
    b: DeviceArray,
    dy: DeviceArray,
    drows: DeviceArray,
    w_parts: DeviceArray,
    b_parts: DeviceArray,
    *,
    offset: int,
) -> None:
    """The channels' columns of drows = dL/drows from dy = dL/dy, and the parts of dL/dw and dL/db.

    w_parts [batch, stretches(length), 4, channels] and b_parts [batch, stretches(length), channels] sum to
    the gradients.
    """
    _check(rows, w, offset)
    form = cpu_form(dy.device)
    dy.device.kernel(f"CausalConvGradient{form}")(
        rows=rows, tail=tail, w=w, b=b, dy=dy, drows=drows, w_parts=w_parts, b_parts=b_parts, offset=offset
    )


def keep(rows: DeviceArray, tail: DeviceArray, *, offset: int) -> None:
    """tail = what is in front of the step behind the last, where another call may begin."""
    _check(rows, tail, offset)
    tail.device.kernel("CausalConvKeep")(rows=rows, tail=tail, offset=offset)


def _check(rows: DeviceArray, channels: DeviceArray, offset: int) -> None:
    if not 0 <= offset <= rows.shape[-1] - channels.shape[-1]:
        raise ShapeError(
            f"{channels.shape[-1]} channels from column {offset} on are not in rows of {rows.shape[-1]}",
            where="ops/causal_conv.py",
        )
