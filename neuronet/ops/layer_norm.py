"""Normalisation of each unit over its window. Kernels: kernels/layer_norm.cl.

x, y, dy, dx are [..., window], read as [rows, window]; mean and scale = 1 / sqrt(variance + eps) have
``rows`` values, sums 2 rows, gamma and beta and their gradients [window].
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for, gpu_form

# In one launch, with a row to 32 work-items on a GPU and rows to a work-item on a CPU; other devices take two
_ROWS = {"GPU": "NormalizeRows", "CPU": "NormalizeRowsCPU"}
_GRADIENT = {"GPU": "NormalizeRowsGradient", "CPU": "NormalizeRowsGradientCPU"}


def forward(
    x: DeviceArray,
    gamma: DeviceArray,
    beta: DeviceArray,
    mean: DeviceArray,
    scale: DeviceArray,
    y: DeviceArray,
    *,
    eps: float,
) -> None:
    """y = gamma * (x - mean) * scale + beta; mean and scale are written for the gradients below."""
    x, y, mean, scale = _rows(x), _rows(y), _flat(mean), _flat(scale)
    kernel, rows = y.device.kernel, {"x": x, "mean": mean, "scale": scale}
    if form := form_for(y.device):
        kernel(_ROWS[form])(**rows, gamma=gamma, beta=beta, y=y, eps=eps)
    else:
        kernel("NormalizeStatistics")(**rows, eps=eps)
        kernel("Normalize")(**rows, gamma=gamma, beta=beta, y=y)


def backward_input(
    x: DeviceArray,
    dy: DeviceArray,
    mean: DeviceArray,
    scale: DeviceArray,
    gamma: DeviceArray,
    sums: DeviceArray,
    dx: DeviceArray,
) -> None:
    """dx = dL/dx from dy = dL/dy. ``sums`` is scratch."""
    x, dy, dx, mean, scale = _rows(x), _rows(dy), _rows(dx), _flat(mean), _flat(scale)
    given = {"x": x, "dy": dy, "mean": mean, "scale": scale, "gamma": gamma, "sums": sums.view(2, x.shape[0])}
    if form := form_for(dx.device):
        dx.device.kernel(_GRADIENT[form])(**given, dx=dx)
    else:
        dx.device.kernel("NormalizeGradientSums")(**given)
        dx.device.kernel("NormalizeGradient")(**given, dx=dx)


def backward_weights(
    x: DeviceArray,
    dy: DeviceArray,
    mean: DeviceArray,
    scale: DeviceArray,
    parts: DeviceArray,
    dgamma: DeviceArray,
    dbeta: DeviceArray,
) -> None:
    """Add the gradients of gamma and beta. ``parts`` [chunks, 2, window] is scratch: partial sums."""
    kernel, device = dgamma.device.kernel, dgamma.device
    kernel(f"NormalizeWeightParts{form_for(device)}")(
        x=_rows(x), dy=_rows(dy), mean=_flat(mean), scale=_flat(scale), parts=parts
    )
    kernel(f"NormalizeWeightGradient{gpu_form(device)}")(parts=parts, dgamma=dgamma, dbeta=dbeta)


def _rows(array: DeviceArray) -> DeviceArray:
    window = array.shape[-1]
    return array.view(array.size // window, window)


def _flat(array: DeviceArray) -> DeviceArray:
    return array.view(array.size)
