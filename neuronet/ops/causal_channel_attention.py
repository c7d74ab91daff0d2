"""Causal attention between the channels of a head. Kernels: kernels/causal_channel_attention.cl.

Shapes: rows [batch, units, width] as in ops/channel_attention.py; y and lse [batch, units, inner]; tau
[heads]; scales [batch, units, 2, inner]; initial [batch, heads, dimension + 2, dimension], the sums in front
of the first unit; with p = parts(units), sums [batch, p, ...] and running [batch, p + 1, ...] of such sums.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError
from neuronet.ops import channel_attention, concatenate
from neuronet.ops.forms import cpu_form

STRETCH = 16  # most units of a part, as in the kernels


def parts(units: int) -> int:
    """Into how many stretches ``units`` are cut."""
    return -(-units // STRETCH)


def forward(
    rows: DeviceArray,
    tau: DeviceArray,
    initial: DeviceArray,
    sums: DeviceArray,
    running: DeviceArray,
    scales: DeviceArray,
    lse: DeviceArray,
    y: DeviceArray,
    *,
    eps: float,
) -> None:
    """y from rows; running, scales and lse are kept for the gradients, sums is scratch."""
    if sums.shape[1] != parts(rows.shape[1]):
        raise ShapeError(
            f"{rows.shape[1]} units make {parts(rows.shape[1])} parts, sums has {sums.shape[1]}",
            where="ops/causal_channel_attention.py",
        )
    device, form = y.device, cpu_form(y.device)
    channel_attention.sums_over_units(rows, rows, rows, sums, a_column=y.shape[-1], b_column=0)
    device.kernel("XCiTRunning")(initial=_cells(initial), sums=cells(sums), running=cells(running))
    device.kernel(f"XCiTScales{form}")(rows=rows, running=running, scales=scales, eps=eps)
    device.kernel(f"XCiTCausal{form}")(
        rows=rows,
        running=running,
        scales=scales,
        tau=tau,
        lse=lse,
        y=y,
        v_column=channel_attention.value_column(rows, y),
    )


def keep(running: DeviceArray, initial: DeviceArray) -> None:
    """initial = the sums behind the last unit, where another call may begin."""
    flat, size = running.view(running.shape[0], running.size // running.shape[0]), _cells(initial)
    concatenate.backward_one(flat, size, offset=flat.shape[1] - size.shape[1])


def cells(array: DeviceArray) -> DeviceArray:
    """[batch, parts, heads, lines, dimension] as [batch, parts, cells]."""
    batch, count = array.shape[:2]
    return array.view(batch, count, array.size // (batch * count))


def _cells(initial: DeviceArray) -> DeviceArray:
    return initial.view(initial.shape[0], initial.size // initial.shape[0])
