"""Puts together what the stretches of a history leave. Kernels: kernels/flash_stca_combine.cl.

Shapes: as in ops/flash_stca.py; parts as sums.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import gpu_form


def combine(
    top: DeviceArray, total: DeviceArray, sums: DeviceArray, out: DeviceArray, lse: DeviceArray
) -> None:
    """out and lse from the stretches' largest scores, sums of exponentials and of weighted rows."""
    kernel = f"MHFlashSTCACombine{gpu_form(out.device)}"
    out.device.kernel(kernel)(top=top, total=total, sums=sums, out=out, lse=lse)


def reduce(parts: DeviceArray, du: DeviceArray) -> None:
    """du = sum of the stretches' parts."""
    du.device.kernel(f"MHFlashSTCAReduce{gpu_form(du.device)}")(parts=parts, du=du)
