"""The counters and rates of a training step. Kernel: kernels/step.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def next_step(table: DeviceArray, hyper: DeviceArray, step: DeviceArray) -> None:
    """Advance ``step`` [4] and load row step[1] of ``table`` [steps, rates] into ``hyper``."""
    step.device.kernel("NextStep")(table=table, hyper=hyper, step=step)


def next_batch(step: DeviceArray) -> None:
    """Advance the batch index step[1] alone."""
    step.device.kernel("NextBatch")(step=step)
