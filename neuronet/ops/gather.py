"""Cut a batch of windows from a device-resident matrix. Kernels: kernels/gather.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def windows(
    rows: DeviceArray,
    starts: DeviceArray,
    step: DeviceArray,
    out: DeviceArray,
    *,
    batch_size: int,
    offset: int = 0,
) -> None:
    """out [batch, units, features] = ``units`` rows from each start of batch number step[1] on.

    ``rows`` [bars, features] is float or, for class targets, int32. ``starts`` holds the order of an
    epoch; batch i begins at starts[i * batch_size]. ``offset`` shifts every start.
    """
    name = "GatherClasses" if rows.dtype.kind == "i" else "GatherWindows"
    rows.device.kernel(name)(
        rows=rows, starts=starts, step=step, out=out, batch_size=batch_size, offset=offset
    )
