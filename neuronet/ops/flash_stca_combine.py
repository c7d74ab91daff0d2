"""Puts together what the stretches of a history leave. Kernels: kernels/flash_stca_combine.cl.

Shapes: as in ops/flash_stca.py; parts as sums.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for


def combine(
    top: DeviceArray, total: DeviceArray, sums: DeviceArray, out: DeviceArray, lse: DeviceArray
) -> None:
    """out and lse from the stretches' largest scores, sums of exponentials and of weighted rows."""
    kernel = f"MHFlashSTCACombine{_form(out)}"
    out.device.kernel(kernel)(top=top, total=total, sums=sums, out=out, lse=lse)


def reduce(parts: DeviceArray, du: DeviceArray) -> None:
    """du = sum of the stretches' parts."""
    du.device.kernel(f"MHFlashSTCAReduce{_form(du)}")(parts=parts, du=du)


def _form(array: DeviceArray) -> str:
    return "GPU" if form_for(array.device) == "GPU" else ""
