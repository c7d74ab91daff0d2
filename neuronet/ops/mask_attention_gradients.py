"""Gradients of ops/mask_attention_complex.py, whose shapes it has. Kernels: mask_attention_gradients.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.mask_attention_complex import EPS, MaskMode, arguments, cut, form_of


def backward(
    q: DeviceArray,
    kv: DeviceArray,
    mask: DeviceArray,
    lse: DeviceArray,
    out: DeviceArray,
    dout: DeviceArray,
    scratch: DeviceArray,
    dq: DeviceArray,
    dkv: DeviceArray,
    dmask: DeviceArray,
    dcosines: DeviceArray | None = None,
    *,
    heads_kv: int,
    scale: float,
    mode: MaskMode = "hard",
) -> None:
    """dq, dkv and dmask = dL/d of each from dout = dL/dout, with lse and out of ``forward``; all overwritten.

    dmask is 0 on the diagonal, and at closed channels in the mode hard. With dcosines = dL/dcosines, dq and
    dkv have their part of it too, and what is in dmask stays and is added to, but for the diagonal.
    """
    given = arguments(q, kv, mask, lse, out.shape[2], out.shape[3], heads_kv, scale, mode)
    given |= cut(scratch, dmask, out, heads_kv)
    rows, units = out.shape[:2]
    kernel, form, alike = out.device.kernel, form_of(out), int(dcosines is not None)
    kernel(f"MaskAttentionGradientsComplex{form}")(
        **given,
        out=out,
        dout=dout,
        dcosines=mask if dcosines is None else dcosines,  # not read without ``alike``
        dq=dq.view(rows, units, dq.size // (rows * units)),
        dkv=dkv.view(rows, units, dkv.size // (rows * units)),
        alike=alike,
        eps=EPS,
    )
    if form != "CPU":
        kernel("MaskAttentionMaskGradients")(sums=given["sums"], dmask=dmask, alike=alike)
