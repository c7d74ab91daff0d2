"""Under Oclgrind (tests/oclgrind.sh) a fill is a write: 21.10 takes filled memory for uninitialised."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

if os.environ.get("NEURONET_TEST_DEVICE", "").lower() == "oclgrind":
    import pyopencl as cl

    def fill_by_writing(queue: Any, buffer: Any, pattern: Any, offset: int, size: int) -> Any:
        values = np.full(size // pattern.nbytes, pattern)
        return cl.enqueue_copy(queue, buffer, values, dst_offset=offset)

    cl.enqueue_fill_buffer = fill_by_writing
