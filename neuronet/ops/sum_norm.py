"""A branch and its shortcut, added and normalised in one launch. Kernels: kernels/sum_norm.cl.

a, b, sum, y and their gradients are [..., window], read as [rows, window]; mean and scale = 1 / sqrt(variance
+ eps) have ``rows`` values, gamma and beta [window]. For the gradients of those: ops/layer_norm.py.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for


def forward(
    a: DeviceArray,
    b: DeviceArray,
    gamma: DeviceArray,
    beta: DeviceArray,
    sum: DeviceArray,
    mean: DeviceArray,
    scale: DeviceArray,
    y: DeviceArray,
    *,
    eps: float,
) -> None:
    """sum = a + b, y = gamma * (sum - mean) * scale + beta; mean and scale are written for ``backward``."""
    y.device.kernel(f"SumNormalize{form_for(y.device)}")(
        a=_rows(a),
        b=_rows(b),
        gamma=gamma,
        beta=beta,
        sum=_rows(sum),
        mean=mean.view(mean.size),
        scale=scale.view(scale.size),
        y=_rows(y),
        eps=eps,
    )


def backward(
    sum: DeviceArray,
    dy: DeviceArray,
    mean: DeviceArray,
    scale: DeviceArray,
    gamma: DeviceArray,
    dshortcut: DeviceArray,
    dsum: DeviceArray,
) -> None:
    """dsum = dL/dsum from dy = dL/dy and from dshortcut, what reaches sum past the norm; may be dshortcut."""
    dsum.device.kernel(f"SumNormalizeGradient{form_for(dsum.device)}")(
        sum=_rows(sum),
        dy=_rows(dy),
        mean=mean.view(mean.size),
        scale=scale.view(scale.size),
        gamma=gamma,
        dshortcut=_rows(dshortcut),
        dsum=_rows(dsum),
    )


def _rows(array: DeviceArray) -> DeviceArray:
    window = array.shape[-1]
    return array.view(array.size // window, window)
