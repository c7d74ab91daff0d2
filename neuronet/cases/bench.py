"""Timing of cases, beside what the device can do at most: its own copy and multiply-add speed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neuronet.cases.base import Case
from neuronet.cases.elementwise import Copy
from neuronet.cases.matmul import MatMul
from neuronet.cases.probe import MultiplyAdd
from neuronet.device.base import Device
from neuronet.errors import DeviceError

RUNS = 20  # at least
SECONDS = 0.2  # at least
COPIED = 2**24  # floats, 64 MB: more than caches hold
PROBE_STEPS, ITEMS_PER_UNIT = 1024, 2048


@dataclass(frozen=True)
class Peaks:
    """The most that a device was seen to do."""

    copy: float  # bytes a second, read and written
    flops: float  # operations a second


@dataclass(frozen=True)
class Timing:
    """One case: the median of its runs, each from launch to the end of the work."""

    op: str
    sizes: str
    seconds: float = 0.0
    flops: float = 0.0  # a second; 0 where bytes are what counts
    bytes: float = 0.0  # a second; every array once, those read and written twice
    share: float = 0.0  # of the peak that limits it
    limit: str = ""  # "memory" or "arithmetic"
    problem: str = ""  # why it was not timed


def measure_peaks(device: Device) -> Peaks:
    """Run the probes. Arithmetic is the better of register chains and a matrix product of 1024."""
    copied, _ = _time(Copy(COPIED), device)
    rates = [_rate(MatMul(1, 1024, 1024, 1024), device)]
    if device.kind != "numpy":
        units = int(getattr(device, "compute_units", 1))
        rates.append(_rate(MultiplyAdd(units * ITEMS_PER_UNIT, PROBE_STEPS), device))
    return Peaks(copy=2 * 4 * COPIED / copied, flops=max(rates))


def measure(case: Case, device: Device, peaks: Peaks) -> Timing:
    """Check ``case`` against its twins, then time it."""
    try:
        if problems := case.examine(device).problems:
            return Timing(case.op, str(case), problem=problems[0])
        seconds, nbytes = _time(case, device)
    except DeviceError as error:  # too large for this device
        return Timing(case.op, str(case), problem=error.what)
    flops, nbytes_rate = case.flops / seconds, nbytes / seconds
    shares = {"arithmetic": flops / peaks.flops, "memory": nbytes_rate / peaks.copy}
    limit = max(shares, key=lambda name: shares[name])
    return Timing(case.op, str(case), seconds, flops, nbytes_rate, shares[limit], limit)


def median_seconds(run: Callable[[], Any], device: Device) -> float:
    """Median time of ``run``: at least RUNS runs and SECONDS seconds, after two that do not count."""
    times: list[float] = []
    for _ in range(2):
        run()
    device.finish()
    while len(times) < RUNS or sum(times) < SECONDS:
        start = time.perf_counter()
        run()
        device.finish()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _rate(case: Case, device: Device) -> float:
    return case.flops / _time(case, device)[0]


def _time(case: Case, device: Device) -> tuple[float, int]:
    """Median seconds, and the bytes that one run reads and writes at least."""
    arrays = {name: device.put(values, name=name) for name, values in case.rounded_inputs().items()}
    arrays |= {name: device.array(shape, np.float32, name=name) for name, shape in case.outputs().items()}
    nbytes = sum(a.nbytes for a in arrays.values()) + sum(arrays[name].nbytes for name in case.changes)
    return median_seconds(lambda: case.run(**arrays), device), nbytes
