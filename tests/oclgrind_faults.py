"""Bad kernels that Oclgrind must report; tests/oclgrind.sh runs them, pytest does not collect this file."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

from neuronet.device.base import Device

SOURCE = """
__kernel void outside(__global float *y) { y[get_global_id(0) + 64] = 1.0f; }
__kernel void race(__global float *y) { y[0] = (float)get_global_id(0); }
__kernel void uninitialised(__global float *y) {
    __local float tile[8];
    y[get_global_id(0)] = tile[get_local_id(0)];
}
"""


@pytest.mark.parametrize("name", ["outside", "race", "uninitialised"])
def test_fault(device: Device, name: str) -> None:
    context, queue = device.context, device.queue  # type: ignore[attr-defined]
    y = cl.Buffer(
        context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(64, np.float32)
    )
    kernel = cl.Kernel(cl.Program(context, SOURCE).build(), name)
    kernel(queue, (64,), (8,), y)
    queue.finish()
