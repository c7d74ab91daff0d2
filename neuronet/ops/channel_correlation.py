"""How alike channels are, and a loss for the mask that opens them. Kernels: kernels/channel_correlation.cl.

Shapes: q, kv, dq, dkv and mask, dmask as in ops/mask_attention_complex.py, packed or not; lengths [rows,
units, heads + heads_kv], cosines and dcosines [rows, units, units], value [rows].
"""

from __future__ import annotations

from typing import Any

from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError
from neuronet.ops.forms import form_for
from neuronet.ops.mask_attention_complex import key_column, scratch_shape

EPS = 1e-8  # the least norm
__all__ = ["EPS", "backward", "forward", "scratch_shape"]


def forward(
    q: DeviceArray,
    kv: DeviceArray,
    mask: DeviceArray,
    scratch: DeviceArray,
    lengths: DeviceArray,
    cosines: DeviceArray,
    value: DeviceArray,
    *,
    heads: int,
    heads_kv: int,
    dimension: int,
    tau: float,
    regular: float,
    weight: float = 1.0,
) -> None:
    """cosines of queries with keys, a mean over the heads, and value, the loss of each row; both overwritten.

    value = weight * (the mean over channels of -log(share of exp(cosine / tau) that is open)
                      + regular * the share of open pairs),   0 for one channel
    """
    _check(tau, scratch, q, dimension)
    given = _given(q, kv, lengths, heads, heads_kv, dimension)
    kernel, loss = value.device.kernel, {"tau": tau, "regular": regular, "weight": weight}
    kernel(f"ChannelLengths{_form(value)}")(**given, eps=EPS)
    kernel(f"ChannelCosines{_form(value)}")(**given, scratch=scratch, cosines=cosines)
    kernel("ChannelCorrelation")(cosines=cosines, mask=mask, value=value, **loss)


def backward(
    q: DeviceArray,
    kv: DeviceArray,
    mask: DeviceArray,
    scratch: DeviceArray,
    lengths: DeviceArray,
    cosines: DeviceArray,
    dcosines: DeviceArray,
    dq: DeviceArray,
    dkv: DeviceArray,
    dmask: DeviceArray,
    *,
    heads: int,
    heads_kv: int,
    dimension: int,
    tau: float,
    regular: float,
    weight: float = 1.0,
) -> None:
    """ADDS dvalue/dq, dvalue/dk and dvalue/dmask to dq, dkv and dmask: run it behind attention's backward.

    lengths and cosines as ``forward`` left them; dcosines is overwritten. Nothing is added to the mask's
    diagonal, nor to values, nor to vectors shorter than EPS.
    """
    _check(tau, scratch, q, dimension)
    given = _given(q, kv, lengths, heads, heads_kv, dimension)
    kernel, rows, units = dmask.device.kernel, *q.shape[:2]
    kernel("ChannelCorrelationMaskGradients")(
        cosines=cosines,
        mask=mask,
        dcosines=dcosines,
        dmask=dmask,
        tau=tau,
        regular=regular,
        weight=weight,
    )
    kernel(f"ChannelCorrelationGradients{_form(dmask)}")(
        **given,
        dcosines=dcosines,
        scratch=scratch,
        dq=dq.view(rows, units, dq.size // (rows * units)),
        dkv=dkv.view(rows, units, dkv.size // (rows * units)),
        eps=EPS,
    )


def _given(
    q: DeviceArray, kv: DeviceArray, lengths: DeviceArray, heads: int, heads_kv: int, dimension: int
) -> dict[str, Any]:
    rows, units = q.shape[:2]
    k_column = key_column(q, kv, heads, heads_kv, dimension)
    if lengths.shape != (rows, units, heads + heads_kv):
        raise ShapeError(
            f"lengths {list(lengths.shape)}, expected {[rows, units, heads + heads_kv]}",
            where="ops/channel_correlation.py",
        )
    return {
        "q": q.view(rows, units, q.size // (rows * units)),
        "kv": kv.view(rows, units, kv.size // (rows * units)),
        "lengths": lengths,
        "heads": heads,
        "dimension": dimension,
        "k_column": k_column,
    }


def _check(tau: float, scratch: DeviceArray, q: DeviceArray, dimension: int) -> None:
    if not tau > 0:
        raise ShapeError(f"tau={tau} is not above 0", where="ops/channel_correlation.py", fix="try tau=0.07")
    needed = scratch_shape(q.shape[0], q.shape[1], dimension)[1]
    if len(scratch.shape) != 2 or scratch.shape[1] < needed:
        raise ShapeError(
            f"scratch {list(scratch.shape)} has not {needed} floats a stretch",
            where="ops/channel_correlation.py",
            fix="allocate scratch_shape(rows, units, dimension)",
        )


def _form(array: DeviceArray) -> str:
    return "CPU" if form_for(array.device) == "CPU" else ""
