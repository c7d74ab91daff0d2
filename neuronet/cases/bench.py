"""Timing of cases, beside what the device can do at most: its own copy and multiply-add speed."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Case
from neuronet.cases.elementwise import Copy
from neuronet.cases.matmul import MatMul
from neuronet.cases.probe import MultiplyAdd
from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DeviceError
from neuronet.testing.compare import bound

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
    """Run the probes and keep the best run; arithmetic is the best of register chains and matrix products."""
    arithmetic: list[Case] = [MatMul(1, n, n, n) for n in (512, 1024)]
    if device.kind != "numpy":
        units = int(getattr(device, "compute_units", 1))
        arithmetic.append(MultiplyAdd(units * ITEMS_PER_UNIT, PROBE_STEPS))
    rates = [case.flops / min(_times(case, _arrays(case, device), device)) for case in arithmetic]
    copy = Copy(COPIED)
    return Peaks(copy=2 * 4 * COPIED / min(_times(copy, _arrays(copy, device), device)), flops=max(rates))


def measure(case: Case, device: Device, peaks: Peaks) -> Timing:
    """Check ``case`` against its twins, then time it."""
    try:
        arrays = _arrays(case, device)
        if problem := _problem(case, arrays):
            return Timing(case.op, str(case), problem=problem)
        seconds = statistics.median(_times(case, arrays, device))
    except DeviceError as error:  # too large for this device
        return Timing(case.op, str(case), problem=error.what)
    nbytes = sum(a.nbytes for a in arrays.values()) + sum(arrays[name].nbytes for name in case.changes)
    shares = {"arithmetic": case.flops / seconds / peaks.flops, "memory": nbytes / seconds / peaks.copy}
    limit = max(shares, key=lambda name: shares[name])
    return Timing(case.op, str(case), seconds, case.flops / seconds, nbytes / seconds, shares[limit], limit)


def _arrays(case: Case, device: Device) -> dict[str, DeviceArray]:
    arrays = {name: device.put(values, name=name) for name, values in case.rounded_inputs().items()}
    return arrays | {name: device.array(shape, name=name) for name, shape in case.outputs().items()}


def _problem(case: Case, arrays: dict[str, DeviceArray]) -> str:
    """Why one run differs from the twins, or "".

    A few of millions of values are many times the root mean square, and rounded as such: each error is
    compared with the larger of the two.
    """
    exact = _arrays(case, NumpyDevice(np.float64))
    case.run(**exact)
    case.run(**arrays)
    for name in (*case.outputs(), *case.changes):
        got, wanted = arrays[name].read(), exact[name].read()
        scale = np.maximum(np.abs(wanted), np.sqrt(np.mean(np.square(wanted, dtype=np.float64))))
        worst = float(np.max(np.abs(got - wanted) / np.maximum(scale, 1e-30), initial=0.0))
        if not worst <= bound(case.terms):
            return f"{name}: worst relative error {worst:.2e} > {bound(case.terms):.2e}"
    return ""


def _times(case: Case, arrays: dict[str, DeviceArray], device: Device) -> list[float]:
    """Seconds of at least RUNS runs and SECONDS seconds, after two that do not count."""
    fresh = {name: case.rounded_inputs()[name] for name in case.changes}
    times: list[float] = []
    while len(times) < RUNS + 2 or sum(times) < SECONDS:
        for name, values in fresh.items():  # else repeated updates would run away
            arrays[name].write(values)
        device.finish()
        start = time.perf_counter()
        case.run(**arrays)
        device.finish()
        times.append(time.perf_counter() - start)
    return times[2:]
