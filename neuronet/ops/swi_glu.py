"""The gate of a SwiGLU feed-forward part. Kernels: kernels/swi_glu.cl.

Shapes: uv and duv [..., 2 * hidden], u in front of v; z and dz [..., hidden].
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def forward(uv: DeviceArray, z: DeviceArray) -> None:
    """z = u * v * sigmoid(v)."""
    z.device.kernel("SwiGLU")(uv=_rows(uv), z=_rows(z))


def backward(uv: DeviceArray, dz: DeviceArray, duv: DeviceArray) -> None:
    """duv = dL/duv from dz = dL/dz."""
    duv.device.kernel("SwiGLUGradient")(uv=_rows(uv), dz=_rows(dz), duv=_rows(duv))


def _rows(array: DeviceArray) -> DeviceArray:
    return array.view(array.size // array.shape[-1], array.shape[-1])
