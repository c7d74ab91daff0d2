from __future__ import annotations

import atexit
from collections.abc import Callable

import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.device.opencl import OpenCLDevice
from neuronet.device.profile import Profile
from neuronet.device.tape import Tape
from neuronet.ops import elementwise


@pytest.fixture
def make_device(any_device: Device) -> Callable[[], Device]:
    return lambda: (
        OpenCLDevice(any_device.cl_device) if isinstance(any_device, OpenCLDevice) else NumpyDevice()
    )


def test_each_launch_is_counted_and_timed(
    make_device: Callable[[], Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURONET_PROFILE", "1")
    monkeypatch.setattr(atexit, "register", lambda *_: None)  # no table at the end of the tests
    device = make_device()
    assert device.profile is not None
    x, y = device.array((100_000,)), device.array((100_000,))
    for _ in range(3):
        elementwise.copy(x, y)
    with Tape(device) as tape:
        elementwise.add(x, x, y)
    tape.replay()
    rows = {name.removesuffix("GPU"): tuple(row) for name, *row in device.profile.rows()}
    assert {name: launches for name, (launches, _) in rows.items()} == {"Copy": 3, "SumMatrix": 2}
    assert all(1e-7 < seconds < 5 for _, seconds in rows.values())


def test_it_is_off_unless_asked_for(
    make_device: Callable[[], Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEURONET_PROFILE", raising=False)
    assert make_device().profile is None


def test_the_table_has_most_seconds_first() -> None:
    profile = Profile()
    profile.add("Short", 0.001)
    profile.add("Long", 0.002)
    profile.add("Long", 0.001)
    head, *lines = profile.table().splitlines()
    assert head.split() == ["kernel", "launches", "ms", "µs", "each", "share"]
    assert [line.split() for line in lines] == [
        ["Long", "2", "3.00", "1500.0", "75.0%"],
        ["Short", "1", "1.00", "1000.0", "25.0%"],
    ]
    assert Profile().table().count("\n") == 0
