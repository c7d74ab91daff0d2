"""Fixtures: ``device`` runs a test on every OpenCL device that works, ``exact`` is NumPy in float64."""

from __future__ import annotations

import os

import numpy as np
import pytest

from neuronet.device import smoke
from neuronet.device.base import Device
from neuronet.device.find import list_devices, working_devices
from neuronet.device.numpy import NumpyDevice

WANTED = os.environ.get("NEURONET_TEST_DEVICE", "").lower()
WORKING = [d for d in working_devices() if d.kind != "numpy" and WANTED in d.label.lower()]
BROKEN = [d for d in list_devices() if d not in working_devices()]  # such as a PoCL older than the CPU
_open: dict[int, Device] = {}


@pytest.fixture(
    params=WORKING or [None], ids=lambda d: f"{d.platform} {d.version}"[:28] if d else "no OpenCL device"
)
def device(request: pytest.FixtureRequest) -> Device:
    """Each OpenCL device, or those whose "platform / name" contains NEURONET_TEST_DEVICE."""
    if request.param is None:
        pytest.skip('no OpenCL device: pip install "neuronet[cpu]"')
    info = request.param
    if info.index not in _open:
        _open[info.index] = info.open()
    return _open[info.index]


@pytest.fixture
def exact() -> NumpyDevice:
    return NumpyDevice(np.float64)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for info in BROKEN:
        why = smoke.problem(info, retry=False)
        line = f"NOT TESTED: {info.label} {info.driver}, whose driver does not work here: {why}"
        terminalreporter.write_line(line, yellow=True)
