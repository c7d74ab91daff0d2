"""Cut a batch of windows from a device-resident matrix. Kernels: kernels/gather.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError


def windows(
    rows: DeviceArray,
    starts: DeviceArray,
    step: DeviceArray,
    out: DeviceArray,
    *,
    units: int,
    batch_size: int,
    offset: int = 0,
    at: int = 0,
) -> None:
    """out [batch, values], from value ``at`` on = ``units`` rows from each start of batch number step[1] on.

    ``rows`` [bars, features] is float or, for class targets, int32. ``starts`` holds the order of an
    epoch; batch i begins at starts[i * batch_size]. ``offset`` shifts every start. Values of ``out`` before
    and behind those rows stay.
    """
    values = units * rows.shape[1]
    if not 0 <= at <= out.shape[1] - values:
        raise ShapeError(f"{values} values from {at} on do not fit into {out!r}", where="gather.windows")
    name = "GatherClasses" if rows.dtype.kind == "i" else "GatherWindows"
    cut = {"units": units, "batch_size": batch_size, "offset": offset, "at": at}
    rows.device.kernel(name)(rows=rows, starts=starts, step=step, out=out, **cut)
