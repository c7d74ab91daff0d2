"""Attention of a few questions to a long history. Kernels: kernels/flash_stca.cl, flash_stca_tensor.cl.

Shapes: u and out [batch, queries, heads, dimension], u = (q W_Q) W_K' of each head; x [batch, length,
dimension], keys and values at once; lse [batch, queries, heads]; limits [1 or batch, queries, 2], see
ops/visible.py; ages [batch, length] and slope [heads] for the recency bias; scratch top and total [batch,
splits, queries, heads], sums [batch, splits, queries, heads, dimension], with as many splits as you like:
``splits_for`` knows a good number.

Ages count from any moment, such as the first bar in hours, smaller for newer rows: a row's age never changes,
and the question's own time drops out of the softmax. Whole numbers are exact up to 16.7 million.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.errors import ShapeError
from neuronet.ops import flash_stca_combine
from neuronet.ops.forms import form_for, tensor_cores

STRETCH = 64  # rows of a stretch at least
WIDEST, WIDEST_TENSOR = 512, 64  # numbers of a row for the GPU's form, and for the one on tensor cores


def splits_for(device: Device, batch: int, length: int, rows: int, width: int) -> int:
    """Into how many stretches to cut the history of each sample, for ``rows`` = queries * heads of u.

    Enough to fill the device, but the stretches' sums stay below a tenth of the history where that leaves
    each compute unit one. On tensor cores a unit works on two at a time, and a single round of them is
    fastest for few samples.
    """
    units = getattr(device, "compute_units", 1)
    most = max(1, length // STRETCH)
    if device.kind != "gpu":
        return max(1, min(most, -(-4 * units // batch)))
    each = 2 if form(device, width) == "Tensor" and 4 * batch <= units else 8
    return max(1, min(most, max(min(each * units, length * batch // (20 * rows)), units) // batch))


def forward(
    u: DeviceArray,
    x: DeviceArray,
    limits: DeviceArray,
    top: DeviceArray,
    total: DeviceArray,
    sums: DeviceArray,
    out: DeviceArray,
    lse: DeviceArray,
    *,
    scale: float,
    ages: DeviceArray | None = None,
    slope: DeviceArray | None = None,
) -> None:
    """out = softmax(scale u·x - slope (age - age of the newest row seen)) x.

    lse, the log-sum-exp of these scores, is kept for the gradients. Without ages and slope there is no bias.
    A question that sees nothing gets out = 0 and lse = inf.
    """
    device = out.device
    device.kernel(f"MHFlashSTCA{form(device, x.shape[-1])}")(
        u=u,
        x=x,
        limits=limits,
        top=top,
        total=total,
        sums=sums,
        scale=scale,
        **bias(u, x, limits, ages, slope),
    )
    flash_stca_combine.combine(top, total, sums, out, lse)


def form(device: Device, width: int) -> str:
    """As for other ops; tensor cores take short rows of multiples of four, the plain form very long ones."""
    found = form_for(device)
    if found != "GPU":
        return found
    if tensor_cores(device) and width <= WIDEST_TENSOR and width % 4 == 0:
        return "Tensor"
    return "GPU" if width <= WIDEST else ""


def bias(
    u: DeviceArray, x: DeviceArray, limits: DeviceArray, ages: DeviceArray | None, slope: DeviceArray | None
) -> dict[str, DeviceArray | int]:
    """The kernels' arguments of the recency bias; without it other arrays stand in, which are not read."""
    batch, _, heads, _ = u.shape
    if limits.shape[0] not in (1, batch):
        raise ShapeError(
            f"limits {list(limits.shape)} are neither for all samples nor for each of {batch}",
            where="ops/flash_stca.py",
        )
    if ages is None and slope is None:
        return {"ages": x.view(1, x.size), "slope": x.view(x.size), "recency": 0}
    if ages is None or slope is None or ages.shape != (batch, x.shape[1]) or slope.shape != (heads,):
        got = [None if a is None else list(a.shape) for a in (ages, slope)]
        raise ShapeError(
            f"ages {got[0]} and slope {got[1]} for {batch} samples of {x.shape[1]} rows and {heads} heads",
            where="ops/flash_stca.py",
            fix="give both, ages [batch, length] and slope [heads], or neither",
        )
    return {"ages": ages, "slope": slope, "recency": 1}
