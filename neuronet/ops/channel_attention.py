"""Attention between the channels of a head, over all units. Kernels: kernels/channel_attention.cl.

Shapes: rows and drows [batch, units, width], q | k | v of all heads (width = 3 * inner), or q | k where the
values are the queries (width = 2 * inner); inner = heads * dimension. y and dy [batch, units, inner], tau
[heads]. Between the launches: sums [batch, parts, heads, dimension + 2, dimension], scores [batch, heads,
dimension + 2, dimension], mix [batch, heads, dimension, dimension].
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.errors import ShapeError
from neuronet.ops.forms import cpu_form, form_for

SHORTEST = 32  # units of a part
ITEMS_CPU, ITEMS = 32, 1 << 16  # work-items that keep a device busy


def parts(device: Device, heads: int, dimension: int, units: int) -> int:
    """In how many parts sums over ``units`` are made; ``heads`` are those of all samples."""
    cpu = form_for(device) == "CPU"
    items = heads if cpu else heads * dimension**2
    return max(1, min(units // SHORTEST, -(-(ITEMS_CPU if cpu else ITEMS) // items)))


def forward(
    rows: DeviceArray,
    tau: DeviceArray,
    sums: DeviceArray,
    scores: DeviceArray,
    mix: DeviceArray,
    y: DeviceArray,
    *,
    eps: float,
) -> None:
    """y from rows; scores (cosines and norms, at least eps) and mix are kept for the gradients."""
    device, inner = y.device, y.shape[-1]
    form = cpu_form(device)
    column = value_column(rows, y)
    sums_over_units(rows, rows, rows, sums, a_column=inner, b_column=0)
    device.kernel(f"XCiTScores{form}")(sums=sums, tau=tau, scores=scores, mix=mix, eps=eps)
    device.kernel(f"XCiTFeedForward{form}")(rows=rows, mix=mix, y=y, v_column=column)


def backward(
    rows: DeviceArray,
    tau: DeviceArray,
    scores: DeviceArray,
    mix: DeviceArray,
    y: DeviceArray,
    dy: DeviceArray,
    sums: DeviceArray,
    factors: DeviceArray,
    corrections: DeviceArray,
    tau_parts: DeviceArray,
    drows: DeviceArray,
    *,
    eps: float,
) -> None:
    """drows = dL/drows from dy = dL/dy, and tau_parts [batch, dimension, heads], which sum to dL/dtau.

    sums, factors [batch, heads, 3, dimension, dimension] and corrections [batch, heads, 2, dimension] are
    scratch.
    """
    device, form, column = drows.device, cpu_form(drows.device), value_column(rows, y)
    sums_over_units(rows, dy, y, sums, a_column=column, b_column=0)
    device.kernel(f"XCiTFactors{form}")(
        sums=sums,
        scores=scores,
        mix=mix,
        tau=tau,
        factors=factors,
        corrections=corrections,
        tau_parts=tau_parts,
        eps=eps,
    )
    device.kernel(f"XCiTInsideGradients{form}")(
        rows=rows, factors=factors, corrections=corrections, dy=dy, drows=drows, v_column=column
    )


def value_column(rows: DeviceArray, y: DeviceArray) -> int:
    """Where the values lie in a row: behind q and k, or at 0 where they are the queries."""
    width, inner = rows.shape[-1], y.shape[-1]
    if width not in (2 * inner, 3 * inner):
        raise ShapeError(
            f"rows of {width} values are neither q | k | v nor q | k for outputs of {inner}",
            where="ops/channel_attention.py",
            fix=f"give rows of {3 * inner} or {2 * inner} values",
        )
    return width - inner if width == 3 * inner else 0


def sums_over_units(
    a: DeviceArray, b: DeviceArray, c: DeviceArray, sums: DeviceArray, *, a_column: int, b_column: int
) -> None:
    """sums from columns of a, b and c: see XCiTSums."""
    sums.device.kernel(f"XCiTSums{cpu_form(sums.device)}")(
        a=a, b=b, c=c, sums=sums, a_column=a_column, b_column=b_column
    )
