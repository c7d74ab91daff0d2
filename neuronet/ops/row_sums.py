"""Sums over the rows of a matrix. Kernels: kernels/row_sums.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for


def add(parts: DeviceArray, target: DeviceArray) -> None:
    """target += sum of parts over its leading axes: parts [..., *target.shape]."""
    columns = target.size
    target.device.kernel(f"AddRowSums{form_for(target.device)}")(
        matrix=parts.view(parts.size // columns, columns), target=target.view(columns)
    )
