"""Gradients of the questions of attention, which come first. Kernels: kernels/flash_attention_q.cl.

Shapes: as in ops/flash_attention.py; dq as q.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.flash_attention import checked, form


def backward(
    q: DeviceArray,
    k: DeviceArray,
    v: DeviceArray,
    limits: DeviceArray,
    out: DeviceArray,
    lse: DeviceArray,
    dout: DeviceArray,
    delta: DeviceArray,
    dq: DeviceArray,
    *,
    heads_kv: int,
    columns: tuple[int, int, int] = (0, 0, 0),
) -> None:
    """The questions' columns of dq = dL/dQ, and delta = dout·out, which the keys' gradients need next.

    Other columns of dq stay as they are, so that q, k and v may share a packed gradient.
    """
    settings = checked(q, k, v, limits, out, heads_kv, columns)
    dq.device.kernel(f"MHFlashAttentionGradientQ{form(dq.device, out)}")(
        q=q, k=k, v=v, limits=limits, out=out, lse=lse, dout=dout, delta=delta, dq=dq, **settings
    )
