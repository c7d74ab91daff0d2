"""Root mean square normalisation of gated units. Kernels: kernels/gated_norm.cl.

x, y, dx, dy are [..., window], read as [count, window]; rows and drows [..., width], of which the first
``window`` columns are the gate before SiLU; scale has ``count`` values; w [window].
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for


def forward(
    x: DeviceArray, rows: DeviceArray, w: DeviceArray, scale: DeviceArray, y: DeviceArray, *, eps: float
) -> None:
    """y = w u scale with u = x silu(gate) and scale = 1 / sqrt(mean of u^2 + eps), kept for the gradients."""
    y.device.kernel(f"GatedNorm{form_for(y.device)}")(
        x=_rows(x), rows=_rows(rows), w=w, scale=scale.view(scale.size), y=_rows(y), eps=eps
    )


def backward(
    x: DeviceArray,
    rows: DeviceArray,
    w: DeviceArray,
    scale: DeviceArray,
    dy: DeviceArray,
    dx: DeviceArray,
    drows: DeviceArray,
    parts: DeviceArray,
) -> None:
    """dx and the gate's columns of drows from dy = dL/dy; ``parts`` [chunks, window] sums to dL/dw."""
    dx.device.kernel(f"GatedNormGradient{form_for(dx.device)}")(
        x=_rows(x),
        rows=_rows(rows),
        w=w,
        scale=scale.view(scale.size),
        dy=_rows(dy),
        dx=_rows(dx),
        drows=_rows(drows),
        parts=parts,
    )


def _rows(array: DeviceArray) -> DeviceArray:
    return array.view(array.size // array.shape[-1], array.shape[-1])
