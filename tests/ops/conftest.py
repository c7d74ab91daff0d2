"""Two things that the Oclgrind pass (tests/oclgrind.sh) needs: a log for each worker, and no fills."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

if os.environ.get("NEURONET_TEST_DEVICE", "").lower() == "oclgrind":
    import pyopencl as cl

    if "OCLGRIND_LOG" in os.environ:  # Oclgrind reads it when the first context is made
        os.environ["OCLGRIND_LOG"] += os.environ.get("PYTEST_XDIST_WORKER", "")

    def fill_by_writing(queue: Any, buffer: Any, pattern: Any, offset: int, size: int) -> Any:
        values = np.full(size // pattern.nbytes, pattern)
        return cl.enqueue_copy(queue, buffer, values, dst_offset=offset)

    cl.enqueue_fill_buffer = fill_by_writing  # Oclgrind 21.10 takes filled memory for uninitialised
