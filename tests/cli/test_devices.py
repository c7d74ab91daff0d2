from __future__ import annotations

import json
from typing import Any

from neuronet.device.find import default_device, list_devices

NO_OPENCL = {"OCL_ICD_VENDORS": "/nonexistent"}


def test_every_device_has_a_numbered_line_and_the_default_a_star(run: Any) -> None:
    result = run("devices")
    assert result.exit_code == 0
    head, *lines = result.stdout.splitlines()
    assert " ".join(head.split()) == "# platform device type units memory buffer local group driver"
    devices = list_devices()
    assert len(lines) == len(devices)
    for device, line in zip(devices, lines, strict=True):
        assert line[2:].startswith(f"{device.index}  {device.platform}")
        assert device.name in line
        assert line.startswith("*") == (device.kind == "numpy")  # NEURONET_DEVICE=numpy


def test_json_has_all_that_is_known_in_bytes(run: Any, monkeypatch: Any) -> None:
    result = run("devices", "--json")
    found = json.loads(result.stdout)
    for device, shown in zip(list_devices(), found, strict=True):
        for name in ("index", "platform", "name", "kind", "compute_units", "memory", "local_memory", "fp64"):
            assert shown[name] == getattr(device, name)
        assert shown["default"] == (device.kind == "numpy")


def test_the_default_is_what_find_device_opens(run: Any, monkeypatch: Any) -> None:
    devices = list_devices()
    for variable, expected in (("1" * len(devices), None), ("numpy", devices[-1]), ("0", devices[0])):
        monkeypatch.setenv("NEURONET_DEVICE", variable)
        assert default_device(devices) == expected


def test_without_opencl_numpy_is_listed_and_the_rest_explained(python: Any) -> None:
    done = python("-m", "neuronet", "devices", **NO_OPENCL)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].split()[:4] == ["*", "0", "NumPy", "float32"]
    refused = python("-m", "neuronet", "selfcheck", "--device", "gpu", **NO_OPENCL)
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: --device: no usable device matches 'gpu' (no OpenCL platform")
    assert "Fix: " in refused.stderr
    assert 'pip install "neuronet[cpu]"' in refused.stderr


def test_without_pyopencl_numpy_still_works(python: Any) -> None:
    code = "import sys; sys.modules['pyopencl'] = None; from neuronet.cli import main; main(['devices'])"
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].split()[:4] == ["*", "0", "NumPy", "float32"]
