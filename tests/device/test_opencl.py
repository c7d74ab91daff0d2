"""What an OpenCL device refuses, and how it says so: too little memory, notes of compilers, hidden logs."""

from __future__ import annotations

import logging
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from neuronet.device.opencl import OpenCLDevice, _compute_capability
from neuronet.errors import DeviceError, KernelError
from neuronet.ops import elementwise

TILED = """
// group: 64
// grid: n
__kernel void Tiled(
    __global float *y)   // [n]
{
    __local float tile[2048];
    const int l = get_local_id(0);
    tile[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_global_id(0) < 64) y[get_global_id(0)] = tile[63 - l];
}
"""
BROKEN = """
// grid: n
__kernel void Broken(
    __global float *y)   // [n]
{
    y[get_global_id(0)] = no_such_name;
}
"""


@pytest.fixture
def fresh(device: OpenCLDevice) -> OpenCLDevice:
    """The same OpenCL device with nothing built yet."""
    return OpenCLDevice(device.cl_device)


def test_local_memory_is_checked_before_the_launch(fresh: OpenCLDevice, own_kernels: Any) -> None:
    own_kernels(TILED)
    y, allowed = fresh.array((64,)), fresh.local_memory
    fresh.local_memory = 4096
    with pytest.raises(
        DeviceError, match=r"Tiled needs 8,\d\d\d bytes of local memory, the device has 4,096\nFix: "
    ):
        fresh.kernel("Tiled")(y=y)
    np.testing.assert_array_equal(y.read(), np.zeros(64))  # nothing ran
    fresh.local_memory = allowed
    fresh.kernel("Tiled")(y=y)
    np.testing.assert_array_equal(y.read(), np.arange(64)[::-1])


def test_the_work_group_is_checked_before_the_launch(fresh: OpenCLDevice, own_kernels: Any) -> None:
    own_kernels(TILED)
    fresh.max_group = 32
    with pytest.raises(DeviceError, match="Tiled needs work-groups of 64, the device allows 32\nFix: "):
        fresh.kernel("Tiled")(y=fresh.array((64,)))


def test_a_build_failure_names_device_driver_and_file_and_shows_the_log_once(
    fresh: OpenCLDevice, own_kernels: Any
) -> None:
    own_kernels(BROKEN)
    with pytest.raises(KernelError) as caught:
        fresh.kernel("Broken")(y=fresh.array((3,)))
    text = str(caught.value)
    assert text.startswith(f"own_cl/own.cl: Broken: does not build on {fresh.name} ({fresh.driver}):")
    assert text.count("undeclared identifier") == 1
    assert "no_such_name" in text
    assert "choose another device with --device" in text.splitlines()[-1]


def test_compiler_notes_are_no_warnings_not_even_as_errors(
    fresh: OpenCLDevice, own_kernels: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PYOPENCL_NO_CACHE", "1")
    own_kernels(TILED.replace("const int l", "const int unused = 1 / 0; const int l"))  # clang warns
    for level in (logging.WARNING, logging.DEBUG):
        fresh._built.clear()
        fresh._programs.clear()
        with warnings.catch_warnings(), caplog.at_level(level, "neuronet"):
            warnings.simplefilter("error")
            fresh.kernel("Tiled")(y=fresh.array((64,)))
    assert "built own.cl in" in caplog.text


def test_one_buffer_over_the_limit_is_refused_with_both_numbers(device: OpenCLDevice) -> None:
    limit = device.cl_device.max_mem_alloc_size
    allowed = f"one buffer may have {limit / 2**20:,.1f} MB of the device's"
    message = rf"weights \[{limit}\] needs [\d,.]+ MB, {allowed} [\d,.]+ MB\nFix: use a smaller batch"
    with pytest.raises(DeviceError, match=message):
        device.array((limit,), name="weights")  # four bytes each


class Failure(cl.Error):
    """What pyopencl raises for ``status``."""

    def __init__(self, status: int) -> None:
        Exception.__init__(self, "the call failed")
        self.status = status

    @property
    def code(self) -> int:
        return self.status


@pytest.mark.parametrize(
    ("status", "fix"),
    [
        (cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE, "out of memory: use a smaller batch"),
        (cl.status_code.OUT_OF_RESOURCES, "out of memory"),
        (cl.status_code.INVALID_COMMAND_QUEUE, "driver probably reset the device"),  # -36
        (cl.status_code.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "driver probably reset"),  # -14
        (cl.status_code.INVALID_VALUE, "neuronet selfcheck"),
    ],
)
def test_a_drivers_error_becomes_a_sentence_with_a_remedy(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch, status: int, fix: str
) -> None:
    def fail(*_: Any) -> None:
        raise Failure(status)

    y = device.array((3,))
    doings = {
        "Buffer": (lambda: device.array((2**18,), name="rows"), "allocating 1.0 MB for rows"),
        "enqueue_copy": (y.read, "reading an array"),
        "enqueue_nd_range_kernel": (lambda: elementwise.copy(y, y), r"launching Copy\w* over \(\d+,\)"),
    }
    for name, (doing, words) in doings.items():
        with monkeypatch.context() as patch:
            patch.setattr(cl, name, fail)
            with pytest.raises(DeviceError, match=f"{words} failed: the call failed\nFix: .*{fix}") as caught:
                doing()
            assert caught.value.where == f"{device.name} ({device.driver})"


def test_only_a_card_of_nvidia_tells_its_compute_capability() -> None:
    """Its tensor cores take TF32 numbers from 8 on; older ones would not compile the PTX."""
    card = SimpleNamespace(
        extensions="cl_khr_icd cl_nv_device_attribute_query", compute_capability_major_nv=7
    )
    assert _compute_capability(card) == 7
    assert _compute_capability(SimpleNamespace(extensions="cl_khr_icd")) == 0
