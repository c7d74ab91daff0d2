"""Gradients of the keys and values of attention. Kernels: kernels/flash_attention_kv.cl.

Shapes: as in ops/flash_attention.py; dk as k, dv as v.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.flash_attention import checked, form


def backward(
    q: DeviceArray,
    k: DeviceArray,
    v: DeviceArray,
    limits: DeviceArray,
    lse: DeviceArray,
    dout: DeviceArray,
    delta: DeviceArray,
    dk: DeviceArray,
    dv: DeviceArray,
    *,
    heads_kv: int,
    columns: tuple[int, int, int] = (0, 0, 0),
) -> None:
    """The keys' columns of dk = dL/dK and the values' of dv = dL/dV; delta from flash_attention_q."""
    settings = checked(q, k, v, limits, dout, heads_kv, columns)
    dk.device.kernel(f"MHFlashAttentionGradientKV{form(dk.device, dout)}")(
        q=q, k=k, v=v, limits=limits, lse=lse, dout=dout, delta=delta, dk=dk, dv=dv, **settings
    )
