"""A loss for the mask, which keeps channels open that are alike. Kernels: kernels/channel_correlation.cl.

cosines, dcosines, mask and dmask [rows, units, units], value [rows]; the cosines are those of
ops/mask_attention_complex.py.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError
from neuronet.ops.forms import cpu_form


def forward(
    cosines: DeviceArray,
    mask: DeviceArray,
    value: DeviceArray,
    *,
    tau: float,
    regular: float,
    weight: float = 1.0,
) -> None:
    """value = the loss of each row, overwritten.

    value = weight * (the mean over channels of -log(share of exp(cosine / tau) that is open)
                      + regular * the share of open pairs),   0 for one channel
    """
    _check(tau)
    value.device.kernel(f"ChannelCorrelation{cpu_form(value.device)}")(
        cosines=cosines, mask=mask, value=value, tau=tau, regular=regular, weight=weight
    )


def backward(
    cosines: DeviceArray,
    mask: DeviceArray,
    dcosines: DeviceArray,
    dmask: DeviceArray,
    *,
    tau: float,
    regular: float,
    weight: float = 1.0,
) -> None:
    """dcosines and dmask = the gradients of the sum of ``value``; both overwritten, 0 on dmask's diagonal.

    Run it before mask_attention_complex.backward, which takes both.
    """
    _check(tau)
    dmask.device.kernel(f"ChannelCorrelationGradients{cpu_form(dmask.device)}")(
        cosines=cosines,
        mask=mask,
        dcosines=dcosines,
        dmask=dmask,
        tau=tau,
        regular=regular,
        weight=weight,
    )


def _check(tau: float) -> None:
    if not tau > 0:
        raise ShapeError(f"tau={tau} is not above 0", where="ops/channel_correlation.py", fix="try tau=0.07")
