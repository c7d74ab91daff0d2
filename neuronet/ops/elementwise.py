"""Sums and copies. Kernels: kernels/elementwise.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import gpu_form


def add(a: DeviceArray, b: DeviceArray, out: DeviceArray, *, multiplyer: float = 1.0) -> None:
    """out = (a + b) * multiplyer. Arrays of equal size and any shapes; ``out`` may be ``a`` or ``b``."""
    n = out.size
    out.device.kernel(f"SumMatrix{gpu_form(out.device)}")(
        matrix1=a.view(n), matrix2=b.view(n), matrix_out=out.view(n), multiplyer=float(multiplyer)
    )


def copy(source: DeviceArray, target: DeviceArray) -> None:
    """target = source. Arrays of equal size and any shapes."""
    n = target.size
    target.device.kernel(f"Copy{gpu_form(target.device)}")(source=source.view(n), target=target.view(n))
