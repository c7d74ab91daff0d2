"""Finding a device: list what the machine has, choose one, and open it. Never a prompt."""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from neuronet.device import icd, smoke
from neuronet.errors import DeviceError

if TYPE_CHECKING:
    from neuronet.device.base import Device, Precision

log = logging.getLogger(__name__)

INSTALL = (
    'install a driver (for the CPU: pip install "neuronet[cpu]"; for a GPU: its vendor\'s) and check it with '
    "clinfo, or use --device numpy, which always works"
)


@dataclass(frozen=True)
class DeviceInfo:
    """What is known about a device before it is opened. Sizes in bytes; 0 where NumPy has no limit."""

    index: int
    platform: str
    name: str
    kind: str  # "gpu", "cpu", "accelerator" or "numpy"
    compute_units: int
    memory: int
    max_allocation: int
    local_memory: int
    max_group: int
    fp64: bool
    version: str
    driver: str
    cl_device: Any = field(default=None, repr=False, compare=False)

    @property
    def label(self) -> str:
        """`platform / name`."""
        return f"{self.platform} / {self.name}"

    def open(self) -> Device:
        """The device, ready for work. Raises DeviceError when its driver fails a tiny kernel."""
        if self.kind == "numpy":
            from neuronet.device.numpy import NumpyDevice

            return NumpyDevice()
        failure = smoke.problem(self, retry=True)
        if failure:
            raise DeviceError(
                f"driver {self.driver} does not work: {failure}",
                where=self.label,
                fix="update or reinstall this driver, or choose another device (neuronet devices lists them)",
            )
        from neuronet.device.opencl import OpenCLDevice

        return OpenCLDevice(self.cl_device)


def list_devices() -> list[DeviceInfo]:
    """Every OpenCL device, then the NumPy device. Runs no kernel."""
    return _survey()[0]


def working_devices() -> list[DeviceInfo]:
    """Those of list_devices() whose driver passes its test; the log names the others."""
    devices = list_devices()
    for info in devices:
        if problem := _problem(info):
            log.info("left out %s: driver %s does not work: %s", info.label, info.driver, problem)
    return [info for info in devices if not _problem(info)]


def find_device(spec: str | int | None = None, *, precision: Precision = "float32") -> Device:
    """Open the device that ``spec``, or else NEURONET_DEVICE, or else "auto" asks for.

    auto    the GPU with most compute units x memory, else the fastest CPU runtime, else NumPy with a warning
    gpu cpu the first of that kind that works, in the order of auto
    numpy   the NumPy twins, in float32; touches no OpenCL
    1       an index in list_devices()
    "rtx"   part of "platform / name / version", in any case; of several the first in the order of auto

    ``precision="tf32"`` lets large products round what they multiply to 10 bits behind the point, up to twice
    as fast with errors of 0.1 %, not 0.0001 %. It needs an NVIDIA GPU of compute capability 8.0 or later.

    Raises DeviceError when nothing matches, when the driver of what was asked for does not work, or when the
    device has not that precision.
    """
    device = _find(spec)
    if precision != "float32":
        device.use(precision)
    return device


def _find(spec: str | int | None) -> Device:
    asked = _asked(spec)
    wanted = asked.lower()
    if wanted == "numpy":
        return _numpy_info(0).open()
    devices, trouble = _survey()
    matches = candidates(devices, asked)
    if matches and wanted not in ("auto", "gpu", "cpu"):
        return matches[0].open()
    for info in matches:
        failure = smoke.problem(info, retry=False)
        if not failure:
            return info.open()
        trouble = "every driver failed its test"
        log.warning("skipped %s: driver %s does not work: %s", info.label, info.driver, failure)
    if wanted == "auto":
        trouble = trouble or "only accelerators and simulators, which are used when asked for by name"
        log.warning("computing with NumPy, which is slow: no OpenCL device (%s); %s", trouble, INSTALL)
        return devices[-1].open()
    there = ", ".join(f"{info.index} = {info.label}" for info in devices)
    raise DeviceError(
        f"no usable device matches {asked!r}{f' ({trouble})' if trouble else ''}; there is: {there}",
        where="find_device",
        fix=f"choose an index, gpu, cpu or a part of a name from these, or {INSTALL}",
    )


def candidates(devices: list[DeviceInfo], spec: str | int | None = None) -> list[DeviceInfo]:
    """Those of ``devices`` that find_device(spec) would try, in its order."""
    wanted = _asked(spec).lower()
    return sorted((info for info in devices if _matches(info, wanted)), key=_preference, reverse=True)


def default_device(devices: list[DeviceInfo]) -> DeviceInfo | None:
    """The one of ``devices`` that find_device() opens; tests it when that was not done before."""
    for info in candidates(devices):
        if not _problem(info):
            return info
    return devices[-1] if _asked(None).lower() == "auto" else None


def _problem(info: DeviceInfo) -> str:
    return "" if info.kind == "numpy" else smoke.problem(info, retry=False)


def _asked(spec: str | int | None) -> str:
    return str(os.environ.get("NEURONET_DEVICE", "") if spec is None else spec).strip() or "auto"


def _matches(info: DeviceInfo, wanted: str) -> bool:
    if wanted == "auto":
        return info.kind in ("gpu", "cpu") and info.platform != "Oclgrind"
    if wanted in ("gpu", "cpu"):
        return info.kind == wanted
    if re.fullmatch(r"-?\d+", wanted):
        return info.index == int(wanted)
    return wanted in f"{info.label} / {info.version}".lower()


def _preference(info: DeviceInfo) -> tuple[int, int]:
    """Sorts by expected speed: greater is better."""
    pocl = re.search(r"PoCL (\d+)\.(\d+)", info.version)
    if info.kind == "gpu":
        return 4, info.compute_units * info.memory
    if info.kind != "cpu":
        return (-1, 0) if info.kind == "numpy" else (0, 0)
    if info.platform.startswith("Intel"):
        return 3, 0
    return (2, int(pocl[1]) * 1000 + int(pocl[2])) if pocl else (1, 0)


def _survey() -> tuple[list[DeviceInfo], str]:
    """All devices, and why there is no OpenCL device among them, or ""."""
    try:
        icd.prepare()
        import pyopencl as cl
    except (ImportError, OSError) as error:
        return [_numpy_info(0)], f"pyopencl cannot be imported: {error}"
    cl_devices: list[Any] = []
    trouble = "no OpenCL driver has a device"
    try:
        platforms = cl.get_platforms()
    except cl.Error:  # PLATFORM_NOT_FOUND_KHR
        platforms = []
        folder = os.environ.get("OCL_ICD_VENDORS")
        trouble = "no OpenCL platform" + (f" in OCL_ICD_VENDORS={folder}" if folder else "")
    for platform in platforms:
        try:
            cl_devices += platform.get_devices()
        except cl.Error as error:
            log.warning("skipped platform %s: its devices cannot be listed: %s", platform.name, error)
    devices = [_describe(index, cl_device) for index, cl_device in enumerate(cl_devices)]
    return [*devices, _numpy_info(len(devices))], "" if devices else trouble


def _describe(index: int, cl_device: Any) -> DeviceInfo:
    from pyopencl import device_type

    kinds = {device_type.GPU: "gpu", device_type.CPU: "cpu"}
    return DeviceInfo(
        index=index,
        platform=cl_device.platform.name.strip(),
        name=cl_device.name.strip(),
        kind=kinds.get(cl_device.type & ~device_type.DEFAULT, "accelerator"),  # a simulator is all at once
        compute_units=cl_device.max_compute_units,
        memory=cl_device.global_mem_size,
        max_allocation=cl_device.max_mem_alloc_size,
        local_memory=cl_device.local_mem_size,
        max_group=cl_device.max_work_group_size,
        fp64="cl_khr_fp64" in cl_device.extensions.split(),
        version=cl_device.platform.version.strip(),
        driver=cl_device.driver_version.strip(),
        cl_device=cl_device,
    )


def _numpy_info(index: int) -> DeviceInfo:
    return DeviceInfo(
        index=index,
        platform="NumPy",
        name="float32",
        kind="numpy",
        compute_units=os.cpu_count() or 1,
        memory=0,
        max_allocation=0,
        local_memory=0,
        max_group=0,
        fp64=True,
        version=np.__version__,
        driver="",
    )
