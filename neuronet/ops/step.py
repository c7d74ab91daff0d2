"""The counters and rates of a training step. Kernel: kernels/step.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def next_step(table: DeviceArray, hyper: DeviceArray, step: DeviceArray) -> None:
    """Advance ``step`` [4] and load the front of row step[1] of ``table`` into ``hyper`` [rates + 1].

    table  [steps, columns]; an optimiser may keep more numbers behind the rates
    """
    step.device.kernel("NextStep")(table=table, hyper=hyper, step=step, rates=hyper.size - 1)


def slow_rates(table: DeviceArray, hyper: DeviceArray, step: DeviceArray, slow: DeviceArray) -> None:
    """Load the end of row step[1] of ``table`` into ``slow`` [rates + 1], rates and whether to update.

    Not to update where ``hyper`` [rates + 1] says so.
    """
    step.device.kernel("SlowRates")(table=table, hyper=hyper, step=step, slow=slow)


def next_batch(step: DeviceArray) -> None:
    """Advance the batch index step[1] alone."""
    step.device.kernel("NextBatch")(step=step)
