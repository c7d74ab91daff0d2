"""Gradients of ops/causal_channel_attention.py. Kernels: kernels/causal_channel_gradient.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.causal_channel_attention import cells
from neuronet.ops.channel_attention import value_column
from neuronet.ops.forms import cpu_form


def backward(
    rows: DeviceArray,
    tau: DeviceArray,
    running: DeviceArray,
    scales: DeviceArray,
    lse: DeviceArray,
    y: DeviceArray,
    dy: DeviceArray,
    sums: DeviceArray,
    later: DeviceArray,
    tau_parts: DeviceArray,
    drows: DeviceArray,
    *,
    eps: float,
) -> None:
    """drows = dL/drows from dy = dL/dy; tau_parts [batch, parts, dimension, heads] sum to dL/dtau.

    sums and later have the shapes of sums and running, and are scratch. What lies in front of the first unit
    gets no gradient.
    """
    device, column = drows.device, value_column(rows, y)
    form = cpu_form(device)
    known = {"rows": rows, "running": running, "scales": scales, "tau": tau, "lse": lse, "y": y, "dy": dy}
    scalars = {"v_column": column, "eps": eps}
    device.kernel(f"XCiTCausalSums{form}")(**known, sums=sums, tau_parts=tau_parts, **scalars)
    device.kernel("XCiTRunningBack")(sums=cells(sums), later=cells(later))
    device.kernel(f"XCiTCausalGradients{form}")(**known, later=later, drows=drows, **scalars)
