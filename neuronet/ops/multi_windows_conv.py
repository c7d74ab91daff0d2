"""Convolutions of several windows over the same sequences. Kernels: kernels/multi_windows_conv.cl.

Shapes: x [sequences, inputs, dimension], w [taps, window_out], b [windows, window_out],
y and dz [sequences, units, windows, window_out], with taps = dimension * sum of windows_in.
windows_in [windows] and starts [windows] are int32: how many positions a window sees, and where its first
lies, counted from the unit's own, step * unit. Positions outside a sequence are zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for

TILE = 8  # values of a position from which on the GPU's tiles for the input gradient pay


def centred(windows: Sequence[int]) -> list[int]:
    """``starts`` of windows around each unit's position; an even window reaches further ahead."""
    return [-((window - 1) // 2) for window in windows]


def causal(windows: Sequence[int]) -> list[int]:
    """``starts`` of windows that end with each unit's position."""
    return [1 - window for window in windows]


def blocks(windows: Sequence[int]) -> list[int]:
    """``starts`` of windows side by side, each with a block of its own."""
    return [sum(windows[:q]) for q in range(len(windows))]


def output_units(inputs: int, step: int) -> int:
    """How many units there are, ``step`` positions apart, from the first of ``inputs`` positions on."""
    return -(-inputs // step)


def forward(
    x: DeviceArray,
    w: DeviceArray,
    b: DeviceArray,
    windows_in: DeviceArray,
    starts: DeviceArray,
    y: DeviceArray,
    *,
    step: int,
    activation: int,
) -> None:
    """y = act(b + sum over each window of x * w)."""
    y.device.kernel(f"FeedForwardMultWinConvWPad{form_for(y.device)}")(
        x=x, w=w, b=b, windows_in=windows_in, starts=starts, y=y, step=step, activation=activation
    )


def backward_input(
    dz: DeviceArray,
    w: DeviceArray,
    windows_in: DeviceArray,
    starts: DeviceArray,
    dx: DeviceArray,
    *,
    step: int,
) -> None:
    """dx = dL/dx from dz = dL/dz; overwritten, with 0 where no window reaches."""
    form = form_for(dx.device)
    if form == "GPU" and dx.shape[-1] < TILE:
        form = ""
    dx.device.kernel(f"CalcHiddenGradientMultWinConvWPad{form}")(
        dz=dz, w=w, windows_in=windows_in, starts=starts, dx=dx, step=step
    )
