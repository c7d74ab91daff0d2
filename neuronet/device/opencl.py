"""OpenCLDevice: one OpenCL device with its queue and its built programs."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from neuronet.device import icd
from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device
from neuronet.device.kernel import Launch, read_source
from neuronet.device.signature import KernelSpec
from neuronet.errors import DeviceError, KernelError

log = logging.getLogger(__name__)

BUILD_OPTIONS = ["-cl-std=CL1.2"]
_KINDS = {cl.device_type.GPU: "gpu", cl.device_type.CPU: "cpu"}
_LOST = {cl.status_code.INVALID_COMMAND_QUEUE, cl.status_code.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST}
_MEMORY = {
    cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE,
    cl.status_code.OUT_OF_RESOURCES,
    cl.status_code.OUT_OF_HOST_MEMORY,
}


class OpenCLDevice(Device):
    """float32 arrays in OpenCL buffers; one in-order queue; programs built per .cl file."""

    dtype = np.dtype(np.float32)

    def __init__(self, cl_device: cl.Device) -> None:
        super().__init__()
        self.cl_device = cl_device
        self.name = cl_device.name.strip()
        self.kind = _KINDS.get(cl_device.type & ~cl.device_type.DEFAULT, "accelerator")
        self.driver = f"{cl_device.platform.name.strip()} {cl_device.driver_version.strip()}"
        self.alignment = max(cl_device.mem_base_addr_align // 8, 128)
        self.max_group = int(cl_device.max_work_group_size)
        self.local_memory = int(cl_device.local_mem_size)
        self.compute_units = int(cl_device.max_compute_units)
        self.tensor_cores = _compute_capability(cl_device) >= 8
        self.context = cl.Context([cl_device])
        properties = cl.command_queue_properties.PROFILING_ENABLE if self.profile is not None else 0
        self.queue = cl.CommandQueue(self.context, properties=properties)
        self._programs: dict[tuple[str, str], cl.Program] = {}
        self._built: dict[str, cl.Kernel] = {}

    # --- arrays ----------------------------------------------------------------------

    def check_size(self, shape: Shape, dtype: np.dtype[Any], name: str) -> None:
        nbytes = _nbytes(shape, dtype)
        limit = int(self.cl_device.max_mem_alloc_size)
        if nbytes > limit:
            raise DeviceError(
                f"{name or 'an array'} {list(shape)} needs {_mb(nbytes)}, one buffer may have {_mb(limit)} "
                f"of the device's {_mb(self.cl_device.global_mem_size)}",
                where=self.name,
                fix="use a smaller batch or a shorter history, or another device (--device numpy)",
            )

    def allocate(self, shape: Shape, dtype: np.dtype[Any], name: str) -> Any:
        nbytes = _nbytes(shape, dtype)
        try:
            buffer = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, nbytes)
            cl.enqueue_fill_buffer(self.queue, buffer, np.uint8(0), 0, nbytes)
        except cl.Error as error:
            raise self._translate(error, f"allocating {_mb(nbytes)} for {name or 'an array'}") from error
        return buffer

    def read(self, array: DeviceArray) -> NDArray[Any]:
        self.refuse_transfer(array, "read")
        host = np.empty(array.shape, array.dtype)
        if array.size:
            try:
                cl.enqueue_copy(self.queue, host, array.storage)
            except cl.Error as error:
                raise self._translate(error, f"reading {array.name or 'an array'}") from error
        return host

    def write(self, array: DeviceArray, host: NDArray[Any]) -> None:
        self.refuse_transfer(array, "write")
        if array.size:
            try:
                cl.enqueue_copy(self.queue, array.storage, host)
            except cl.Error as error:
                raise self._translate(error, f"writing {array.name or 'an array'}") from error

    def prepare_fill(self, array: DeviceArray, value: float) -> Callable[[], Any]:
        pattern = array.dtype.type(value)
        return partial(cl.enqueue_fill_buffer, self.queue, array.storage, pattern, 0, array.nbytes)

    def slice(self, storage: Any, offset: int, size: int, dtype: np.dtype[Any]) -> Any:
        try:
            return storage.get_sub_region(offset * dtype.itemsize, size * dtype.itemsize)
        except cl.Error as error:
            raise self._translate(error, f"cutting {size} elements at {offset} out of an array") from error

    def finish(self) -> None:
        try:
            self.queue.finish()
        except cl.Error as error:
            raise self._translate(error, "waiting for the device") from error

    # --- kernels ---------------------------------------------------------------------

    def prepare(self, launch: Launch, *, keep: bool) -> Callable[[], Any]:
        spec = launch.spec
        kernel = self._cl_kernel(spec, fresh=keep)
        given = [v.storage if isinstance(v, DeviceArray) else v for v in launch.values]
        try:
            kernel.set_args(*given)
        except cl.Error as error:
            raise self._translate(error, f"setting arguments of {spec.name}") from error
        run = self._enqueue if self.profile is None else self._enqueue_profiled
        # A kernel does not keep its buffers.
        return partial(run, given, kernel, launch)

    def _enqueue(self, given: list[Any], kernel: cl.Kernel, launch: Launch) -> cl.Event:
        try:
            return cl.enqueue_nd_range_kernel(self.queue, kernel, launch.grid, launch.spec.group)
        except cl.Error as error:
            raise self._translate(error, f"launching {launch.spec.name} over {launch.grid}") from error

    def _enqueue_profiled(self, given: list[Any], kernel: cl.Kernel, launch: Launch) -> None:
        assert self.profile is not None
        self.profile.add_event(launch.spec.name, self._enqueue(given, kernel, launch))

    def _cl_kernel(self, spec: KernelSpec, *, fresh: bool) -> cl.Kernel:
        """The kernel object. Arguments stick to it, so a tape takes a ``fresh`` one for each launch."""
        if not fresh and spec.name in self._built:
            return self._built[spec.name]
        kernel = cl.Kernel(self._program(spec), spec.name)
        kernel.set_arg_types([None if a.dims is not None else a.dtype for a in spec.args])
        if spec.name not in self._built:
            self._check_limits(spec, kernel)
            self._built[spec.name] = kernel
            if fresh:
                return self._cl_kernel(spec, fresh=True)
        return kernel

    def _check_limits(self, spec: KernelSpec, kernel: cl.Kernel) -> None:
        info = cl.kernel_work_group_info
        local = int(kernel.get_work_group_info(info.LOCAL_MEM_SIZE, self.cl_device))
        if local > self.local_memory:
            raise DeviceError(
                f"{spec.name} needs {local:,} bytes of local memory, the device has {self.local_memory:,}",
                where=self.name,
                fix="choose another device (neuronet devices)",
            )
        group = math.prod(spec.group or (1,))
        limit = min(self.max_group, int(kernel.get_work_group_info(info.WORK_GROUP_SIZE, self.cl_device)))
        if group > limit:
            raise DeviceError(
                f"{spec.name} needs work-groups of {group}, the device allows {limit}",
                where=self.name,
                fix="choose another device (neuronet devices)",
            )

    def _program(self, spec: KernelSpec) -> cl.Program:
        key = (spec.package, spec.file)
        if key not in self._programs:
            self._programs[key] = self._build(spec)
        return self._programs[key]

    def _build(self, spec: KernelSpec) -> cl.Program:
        common, source = read_source("neuronet.kernels", "common.cl"), read_source(spec.package, spec.file)
        start, curious = perf_counter(), log.isEnabledFor(logging.DEBUG)
        options = [*BUILD_OPTIONS, *([] if curious else ["-w"])]  # harmless notes frighten users
        options += ["-DTENSOR_CORES"] if self.tensor_cores else []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cl.CompilerWarning)
            warnings.filterwarnings("ignore", "PyOpenCL compiler caching failed")  # it then compiles without
            try:
                program = cl.Program(self.context, f"{common}\n#line 1\n{source}")
                program = program.build(options, cache_dir=icd.program_cache())
            except cl.Error as error:
                _, _, notes = str(error).partition("\n\n")  # pyopencl puts the log behind an empty line
                raise KernelError(
                    f"does not build on {self.name} ({self.driver}):\n{notes or error}",
                    where=spec.where,
                    fix="choose another device with --device, and report the log above",
                ) from error
        if curious:
            notes = program.get_build_info(self.cl_device, cl.program_build_info.LOG)
            log.debug("built %s in %.2f s\n%s", spec.file, perf_counter() - start, notes)
        return program

    def _translate(self, error: cl.Error, doing: str) -> DeviceError:
        """The driver's error as a sentence with a remedy."""
        if error.code in _MEMORY:
            fix = "the device is out of memory: use a smaller batch or a shorter history, or another device"
        elif error.code in _LOST:
            fix = (
                "the driver probably reset the device (a display watchdog ends launches of about 2 s): "
                "use a smaller batch, or --device cpu"
            )
        else:
            fix = "run 'neuronet selfcheck', or choose another device with --device"
        return DeviceError(f"{doing} failed: {error}", where=f"{self.name} ({self.driver})", fix=fix)


def _compute_capability(cl_device: cl.Device) -> int:
    """Of an NVIDIA GPU, its first number; 0 of others."""
    if "cl_nv_device_attribute_query" not in cl_device.extensions.split():
        return 0
    return int(cl_device.compute_capability_major_nv)


def _nbytes(shape: Shape, dtype: np.dtype[Any]) -> int:
    """Bytes of a buffer; OpenCL has none of no bytes."""
    return max(math.prod(shape) * dtype.itemsize, 4)


def _mb(nbytes: int) -> str:
    return f"{nbytes / 2**20:,.1f} MB"
