"""The last rows of a stream. Kernels: kernels/ring.cl.

count int32 [1]: rows that have come so far; memory [batch, capacity, window].
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def append(row: DeviceArray, count: DeviceArray, memory: DeviceArray) -> None:
    """Put ``row`` [batch, ..., window] in place of the oldest row of memory."""
    batch, _, window = memory.shape
    memory.device.kernel("RingAppend")(row=row.view(batch, window), count=count, memory=memory)


def seen(count: DeviceArray, limits: DeviceArray, ages: DeviceArray, *, step: float = 1.0) -> None:
    """Row n, which comes, is seen: limits [batch, queries, 2]; of age -step n: ages [batch, capacity]."""
    ages.device.kernel("RingSeen")(count=count, limits=limits, ages=ages, step=step)


def advance(count: DeviceArray) -> None:
    """One more row has come: after the ``append`` and ``seen`` of every memory that counts with ``count``."""
    count.device.kernel("RingAdvance")(count=count)
