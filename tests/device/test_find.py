"""Choosing a device: the order of preference, each way to ask, and what is said when it cannot be had."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neuronet.device import find, smoke
from neuronet.device.find import DeviceInfo, find_device, list_devices, working_devices
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DeviceError

ROOT = Path(find.__file__).parents[2]
GB = 2**30


def info(
    platform: str, name: str, kind: str, version: str = "OpenCL 3.0", units: int = 2, memory: int = GB
) -> DeviceInfo:
    return DeviceInfo(
        0, platform, name, kind, units, memory, memory // 4, 2**15, 256, False, version, f"driver-{name}"
    )


INTEL = info("Intel(R) OpenCL", "Xeon", "cpu")
POCL_3_0 = info("Portable Computing Language", "pthread-old", "cpu", "OpenCL 3.0 PoCL 3.0-rc2  Linux")
POCL_3_9 = info("Portable Computing Language", "pthread-nine", "cpu", "OpenCL 3.0 PoCL 3.9  Linux")
POCL_3_10 = info("Portable Computing Language", "pthread-ten", "cpu", "OpenCL 3.0 PoCL 3.10  Linux")
OTHER_CPU = info("Vendor X", "Ryzen", "cpu", units=64)
SIMULATOR = info("Oclgrind", "Oclgrind Simulator", "accelerator", "OpenCL 1.2 (Oclgrind 21.10)")
INTEGRATED = info("Intel(R) OpenCL Graphics", "UHD", "gpu", units=24, memory=30 * GB)
CARD = info("NVIDIA CUDA", "RTX 3060", "gpu", units=28, memory=12 * GB)
BIG_CARD = info("NVIDIA CUDA", "RTX 4090", "gpu", units=128, memory=24 * GB)


class Machine:
    """A fake machine: its devices, which of them fail the smoke test, and what was opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.devices: list[DeviceInfo] = []
        self.trouble = ""
        self.broken: set[str] = set()
        monkeypatch.setattr(find, "_survey", self.survey)
        monkeypatch.setattr(smoke, "problem", lambda it, retry: "it aborts" * (it.name in self.broken))
        opened = DeviceInfo.open
        monkeypatch.setattr(
            DeviceInfo,
            "open",
            lambda it: opened(it) if it.kind == "numpy" or it.name in self.broken else it,
        )
        monkeypatch.delenv("NEURONET_DEVICE", raising=False)

    def survey(self) -> tuple[list[DeviceInfo], str]:
        listed = [DeviceInfo(**vars(it) | {"index": i}) for i, it in enumerate(self.devices)]
        return [*listed, find._numpy_info(len(listed))], self.trouble

    def choose(self, spec: str | int | None = None) -> str:
        device: Any = find_device(spec)
        return str(device.name)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


@pytest.mark.parametrize(
    ("devices", "chosen"),
    [
        ([CARD, INTEL, BIG_CARD], "RTX 4090"),
        ([INTEGRATED, CARD], "UHD"),  # 24 x 30 GB > 28 x 12 GB
        ([POCL_3_0, INTEL, POCL_3_10], "Xeon"),
        ([POCL_3_0, POCL_3_10, POCL_3_9], "pthread-ten"),
        ([OTHER_CPU, POCL_3_0], "pthread-old"),
        ([SIMULATOR, OTHER_CPU], "Ryzen"),
        ([OTHER_CPU, CARD], "RTX 3060"),
    ],
)
def test_auto_takes_the_fastest(
    machine: Machine, caplog: pytest.LogCaptureFixture, devices: list[DeviceInfo], chosen: str
) -> None:
    machine.devices = devices
    assert machine.choose() == machine.choose("AUTO ") == chosen
    assert not caplog.records


def test_auto_without_opencl_is_numpy_with_one_warning(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    machine.trouble = "no OpenCL platform"
    assert machine.choose() == "numpy float32"
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    for part in ("NumPy", "no OpenCL platform", 'pip install "neuronet[cpu]"', "clinfo"):
        assert part in record.getMessage()


def test_simulator_is_never_automatic(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    machine.devices = [SIMULATOR]
    assert machine.choose() == "numpy float32"
    assert "simulators" in caplog.text
    assert machine.choose("oclgrind") == "Oclgrind Simulator"
    with pytest.raises(DeviceError):
        machine.choose("cpu")


@pytest.mark.parametrize(
    ("spec", "chosen"),
    [
        ("gpu", "RTX 4090"),
        ("CPU", "pthread-ten"),
        ("numpy", "numpy float32"),
        (0, "pthread-old"),
        ("1", "RTX 3060"),
        (4, "numpy float32"),
        ("x 3060", "RTX 3060"),
        ("rtx", "RTX 4090"),
        ("nvidia cuda / rtx 3", "RTX 3060"),
        ("pocl", "pthread-ten"),
        ("PoCL 3.0", "pthread-old"),
    ],
)
def test_each_way_to_ask(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, spec: str | int, chosen: str
) -> None:
    machine.devices = [POCL_3_0, CARD, POCL_3_10, BIG_CARD]
    assert machine.choose(spec) == chosen
    monkeypatch.setenv("NEURONET_DEVICE", str(spec))
    assert machine.choose() == chosen
    assert machine.choose("pthread-old") == "pthread-old", "the argument wins"


def test_empty_variable_is_auto(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.devices = [INTEL]
    monkeypatch.setenv("NEURONET_DEVICE", " ")
    assert machine.choose() == "Xeon"


@pytest.mark.parametrize("spec", ["gpu", "5", -1, "3060", "Radeon"])
def test_no_match_lists_what_exists(machine: Machine, spec: str | int) -> None:
    machine.devices = [INTEL, POCL_3_0]
    with pytest.raises(DeviceError) as caught:
        machine.choose(spec)
    message = str(caught.value)
    assert f"no usable device matches '{spec}'; there is: 0 = Intel(R) OpenCL / Xeon, 1 = Portable" in message
    for part in ("2 = NumPy / float32", 'pip install "neuronet[cpu]"', "--device numpy", "clinfo"):
        assert part in message


def test_broken_driver_is_skipped(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    machine.devices = [POCL_3_0, INTEL, CARD]
    machine.broken = {"RTX 3060", "Xeon"}
    assert machine.choose() == "pthread-old"
    assert [record.getMessage() for record in caplog.records] == [
        "skipped NVIDIA CUDA / RTX 3060: driver driver-RTX 3060 does not work: it aborts",
        "skipped Intel(R) OpenCL / Xeon: driver driver-Xeon does not work: it aborts",
    ]
    assert machine.choose("cpu") == "pthread-old"
    with pytest.raises(DeviceError, match=r"no usable device matches 'gpu' \(every driver failed"):
        machine.choose("gpu")


@pytest.mark.parametrize("spec", ["rtx", 0, "0"])
def test_broken_driver_asked_for_is_an_error(machine: Machine, spec: str | int) -> None:
    machine.devices, machine.broken = [CARD, INTEL], {"RTX 3060"}
    with pytest.raises(DeviceError, match="RTX 3060: driver driver-RTX 3060 does not work: it aborts"):
        machine.choose(spec)


def test_all_broken_is_numpy(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    machine.devices, machine.broken = [CARD, INTEL], {"RTX 3060", "Xeon"}
    assert machine.choose() == "numpy float32"
    assert len(caplog.records) == 3
    assert "every driver failed its test" in caplog.records[-1].getMessage()


def test_devices_of_this_machine() -> None:
    devices = list_devices()
    assert [it.index for it in devices] == list(range(len(devices)))
    assert [it.kind for it in devices].count("numpy") == 1
    assert isinstance(devices[-1].open(), NumpyDevice)
    labels = [(it.label, it.version, it.driver) for it in devices if it.kind == "cpu"]
    assert len(set(labels)) == len(labels), "a CPU runtime is listed twice"
    for it in devices[:-1]:
        assert min(it.compute_units, it.memory, it.max_allocation, it.local_memory, it.max_group) > 0
        assert it.kind in ("gpu", "cpu", "accelerator")


def test_open_devices_agree_with_the_list() -> None:
    devices = [it for it in working_devices() if it.kind in ("gpu", "cpu")]
    if not devices:
        pytest.skip("no OpenCL GPU or CPU on this machine")
    for it in devices:
        device = find_device(it.index)
        assert (device.name, device.kind) == (it.name, it.kind)
        assert device.put([1.0, 2.5]).read().tolist() == [1.0, 2.5]


# --- whole processes ---------------------------------------------------------------------

REPORT = """
import logging, sys
logging.basicConfig(format="LOG %(message)s")
from neuronet.device.find import find_device, list_devices
from neuronet.errors import DeviceError
print([info.kind for info in list_devices()])
for spec in ("auto", "numpy", "cpu"):
    try:
        print(spec, find_device(spec).kind)
    except DeviceError as error:
        print(spec, error)
"""


def python(code: str, **environment: str) -> str:
    """Output of a fresh interpreter that has only the given variables beside the usual ones."""
    kept = {
        name: value for name, value in os.environ.items() if not re.match("OCL|POCL|NEURONET|PYOPENCL", name)
    }
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=kept | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="OCL_ICD_VENDORS hides drivers on Linux only"
)
def test_no_platform() -> None:
    output = python(REPORT, OCL_ICD_VENDORS="/nonexistent")
    assert "['numpy']\nauto numpy\nnumpy numpy\n" in output
    assert "matches 'cpu' (no OpenCL platform in OCL_ICD_VENDORS=/nonexistent); there is: 0 = NumPy" in output
    assert output.count("LOG ") == 1


def test_no_pyopencl() -> None:
    output = python("import sys; sys.modules['pyopencl'] = None\n" + REPORT)
    assert "['numpy']\nauto numpy\nnumpy numpy\n" in output
    assert "matches 'cpu' (pyopencl cannot be imported: " in output
    assert "Fix: choose an index, gpu, cpu or a part of a name from these, or install a driver" in output
    assert output.count("LOG ") == 1


def test_import_and_numpy_touch_no_opencl_and_write_nothing(tmp_path: Path) -> None:
    code = """
import sys
import neuronet, neuronet.device.icd, neuronet.device.smoke
from neuronet.device.find import find_device
find_device("numpy")
print(sorted({"pyopencl", "platformdirs"} & set(sys.modules)))
"""
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    assert python(code, **home).strip() == "[]"
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cache folders are named by XDG variables")
def test_unwritable_cache(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    nowhere = str(tmp_path / "file" / "x")
    code = REPORT.replace('("auto", "numpy", "cpu")', '("auto",)')
    expected = python(code)
    assert python(code, HOME=nowhere, XDG_CACHE_HOME=nowhere) == expected, "every device is still there"


def test_pyopencl_ctx_and_a_closed_terminal_change_nothing() -> None:
    code = REPORT.replace('("auto", "numpy", "cpu")', '("auto",)')
    assert python(code, PYOPENCL_CTX="0:0:1") == python(code)
