"""The smoke test of a device: one tiny kernel in a process of its own, once per machine and driver.

Old drivers abort or hang the process that builds a kernel, and some cannot compile for a new CPU. So the
first use of a device runs `run` in a child; the answer is kept in a small JSON file in the cache folder.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import os
import platform
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neuronet.device import icd

if TYPE_CHECKING:
    from neuronet.device.find import DeviceInfo

log = logging.getLogger(__name__)

TIMEOUT = 60.0  # seconds
LONGEST = 400  # characters of a driver's message
CHILD = "from neuronet.device.smoke import run; run({index}, {label!r})"
_SOURCE = """
__kernel void smoke(__global const float *x, __global float *y) {
    const int i = get_global_id(0);
    y[i] = exp(x[i]) + x[i] * 2.0f;
}
"""


def memory_file() -> Path:
    """The file that remembers the outcome of earlier tests."""
    return icd.cache_folder() / "smoke.json"


def problem(info: DeviceInfo, *, retry: bool) -> str:
    """Why the device does not work, or "" when it does. ``retry`` tests a remembered failure once more."""
    key = _key(info)
    remembered = _read().get(key)
    if remembered == "" or (remembered and not retry):
        return remembered
    outcome = _test(info)
    try:
        icd.replace_text(memory_file(), json.dumps(_read() | {key: outcome}, indent=1))
    except OSError as error:
        log.debug("smoke test of %s not remembered: %s", info.label, error)
    return outcome


def run(index: int, label: str) -> None:
    """The child's work: build and run one kernel on device ``index``; SystemExit when it fails."""
    import pyopencl as cl

    from neuronet.device.find import list_devices

    info = list_devices()[index]
    if info.label != label:
        sys.exit(f"device {index} is {info.label}, not {label}")
    x = np.linspace(-1, 1, 257, dtype=np.float32)
    y = np.full_like(x, np.nan)
    try:
        context = cl.Context([info.cl_device])
        queue = cl.CommandQueue(context)
        x_buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
        y_buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, y.nbytes)
        program = cl.Program(context, _SOURCE).build(options=["-cl-std=CL1.2"])
        program.smoke(queue, x.shape, None, x_buffer, y_buffer)
        cl.enqueue_copy(queue, y, y_buffer)
    except cl.Error as error:
        sys.exit(str(error))
    if not np.allclose(y, np.exp(x) + x * 2, rtol=1e-5, atol=1e-6):
        sys.exit("a test kernel gave wrong numbers")


def _test(info: DeviceInfo) -> str:
    log.info("testing %s once", info.label)
    code = CHILD.format(index=info.index, label=info.label)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONWARNINGS": "ignore",
        "PYOPENCL_NO_CACHE": "1",  # else an old binary would hide a compiler that fails
    }
    # Not a pipe: a compiler that outlives the child could hold it open.
    with tempfile.TemporaryFile() as errors:
        try:
            child = subprocess.run(
                [sys.executable, "-c", code],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"a test kernel did not end within {TIMEOUT:.0f} s"
        except OSError as error:
            return f"the test process did not start: {error}"
        errors.seek(0)
        text = " ".join(errors.read().decode("utf-8", "replace").split())
        if len(text) > LONGEST:
            text = "… " + text[-LONGEST:].partition(" ")[2]
    if child.returncode < 0:
        cause = signal.strsignal(-child.returncode)
        return f"a test kernel ended the process: {cause} (signal {-child.returncode}). {text}".strip()
    if child.returncode:
        return text or f"the test process ended with exit code {child.returncode}"
    return ""


def _read() -> dict[str, str]:
    try:
        outcomes = json.loads(memory_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return outcomes if isinstance(outcomes, dict) else {}


def _key(info: DeviceInfo) -> str:
    libraries = repr(sorted((entry.library, entry.changed) for entry in icd.drivers()))
    digest = hashlib.sha256(libraries.encode()).hexdigest()[:16]
    return " | ".join([info.label, info.version, info.driver, _cpu_model(), digest])


@functools.cache
def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
