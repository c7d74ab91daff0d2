"""Fixtures: ``device`` runs a test on every OpenCL device found, ``exact`` is NumPy in float64."""

from __future__ import annotations

import os

import numpy as np
import pytest

from neuronet.device import smoke
from neuronet.device.base import Device
from neuronet.device.find import list_devices
from neuronet.device.numpy import NumpyDevice

WANTED = os.environ.get("NEURONET_TEST_DEVICE", "").lower()
FOUND = [d for d in list_devices() if d.kind != "numpy" and WANTED in f"{d.platform} / {d.name}".lower()]
_open: dict[int, Device] = {}


@pytest.fixture(
    params=FOUND or [None], ids=lambda d: f"{d.platform} {d.version}"[:28] if d else "no OpenCL device"
)
def device(request: pytest.FixtureRequest) -> Device:
    """Each OpenCL device, or those whose "platform / name" contains NEURONET_TEST_DEVICE."""
    if request.param is None:
        pytest.skip('no OpenCL device: pip install "neuronet[cpu]"')
    info = request.param
    if failure := smoke.problem(info, retry=False):  # such as a PoCL older than the CPU
        pytest.skip(f"{info.label} {info.driver} does not work here: {failure}")
    if info.index not in _open:
        _open[info.index] = info.open()
    return _open[info.index]


@pytest.fixture
def exact() -> NumpyDevice:
    return NumpyDevice(np.float64)
