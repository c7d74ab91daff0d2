"""Mamba-2's selective scan over time. Kernels: kernels/selective_scan.cl; shapes: see ops/scan_states.py."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for


def steps(rows: DeviceArray, a_log: DeviceArray, delta: DeviceArray, decay: DeviceArray) -> None:
    """delta = softplus of the last ``heads`` columns of rows, decay = exp(-exp(a_log) delta).

    rows  [batch, length, width], any width of at least ``heads``
    """
    delta.device.kernel("ScanSteps")(rows=rows, a_log=a_log, delta=delta, decay=decay)


def steps_backward(delta: DeviceArray, drows: DeviceArray) -> None:
    """The last ``heads`` columns of drows, dL/d(delta), become dL/d(rows), in place."""
    delta.device.kernel("ScanStepsGradient")(delta=delta, drows=drows)


def forward(
    xbc: DeviceArray,
    delta: DeviceArray,
    decay: DeviceArray,
    d: DeviceArray,
    states: DeviceArray,
    y: DeviceArray,
) -> None:
    """y[t] = C[t]' h[t] + d x[t] with h[t] = decay[t] h[t-1] + delta[t] B[t] x[t]'.

    ``states`` is what ``scan_states.forward`` wrote.
    """
    y.device.kernel(f"ScanOutputs{form_for(y.device)}")(
        xbc=xbc, delta=delta, decay=decay, d=d, states=states, y=y
    )
