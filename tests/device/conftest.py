"""Fixtures: ``any_device`` is each OpenCL device and NumPy; ``own_kernels`` adds .cl files for one test."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neuronet.device import kernel
from neuronet.device.base import Device
from neuronet.device.find import DeviceInfo, working_devices

AddKernels = Callable[..., None]
_WANTED = os.environ.get("NEURONET_TEST_DEVICE", "").lower()
_DEVICES = [d for d in working_devices() if d.kind == "numpy" or _WANTED in d.label.lower()]


@pytest.fixture(params=_DEVICES, ids=lambda info: f"{info.platform} {info.version}"[:28], scope="session")
def any_device(request: pytest.FixtureRequest) -> Device:
    info: DeviceInfo = request.param
    return info.open()


@pytest.fixture
def own_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AddKernels]:
    """Call it with OpenCL C and Python source: ``own_kernels(cl, twins)``."""
    monkeypatch.setattr(kernel, "_PACKAGES", dict(kernel._PACKAGES))
    monkeypatch.syspath_prepend(str(tmp_path))

    def add(source: str, twins: str = "") -> None:
        for package, file, text in (("own_cl", "own.cl", source), ("own_twins", "own.py", twins)):
            (tmp_path / package).mkdir()
            (tmp_path / package / "__init__.py").write_text("", encoding="utf-8")
            (tmp_path / package / file).write_text(text, encoding="utf-8")
        kernel.register_kernels("own_cl", "own_twins")

    yield add
    kernel.all_kernels.cache_clear()
    for name in [n for n in sys.modules if n.partition(".")[0] in ("own_cl", "own_twins")]:
        del sys.modules[name]
