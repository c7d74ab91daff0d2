"""Transpose each sample's matrix. Kernels: kernels/transpose.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import gpu_form


def forward(matrix_in: DeviceArray, matrix_out: DeviceArray) -> None:
    """matrix_out [batch, cols, rows] = matrix_in [batch, rows, cols] with both axes swapped."""
    device = matrix_out.device
    device.kernel(f"Transpose{gpu_form(device)}")(matrix_in=matrix_in, matrix_out=matrix_out)


def rows_and_columns(matrix_in: DeviceArray, matrix_out: DeviceArray) -> None:
    """matrix_out [batch, cols, rows, depth] = matrix_in [batch, rows, cols, depth]: depth stays together."""
    matrix_out.device.kernel("TransposeRCD")(matrix_in=matrix_in, matrix_out=matrix_out)
