"""Gradients of a selective scan's inputs and steps. Kernels: kernels/scan_gradient.cl.

Shapes: see ops/scan_states.py; dxbc is like xbc.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for


def backward(
    xbc: DeviceArray,
    delta: DeviceArray,
    decay: DeviceArray,
    a_log: DeviceArray,
    d: DeviceArray,
    states: DeviceArray,
    dstates: DeviceArray,
    y: DeviceArray,
    dy: DeviceArray,
    dxbc: DeviceArray,
    drows: DeviceArray,
    a_parts: DeviceArray,
    d_parts: DeviceArray,
) -> None:
    """From dy = dL/dy: x in dxbc, dL/d(delta) in drows, and the parts of dL/da_log and dL/dd.

    ``states`` and ``y`` are the forward pass's, ``dstates`` is from ``scan_states.backward``. drows
    [batch, length, width] gets dL/d(delta) in its last ``heads`` columns, where
    ``selective_scan.steps_backward`` expects it. a_parts and d_parts [batch, chunks, heads] sum to the
    gradients of a_log and d.
    """
    kernel, form = dy.device.kernel, form_for(dy.device)
    kernel(f"ScanInputGradients{form}")(xbc=xbc, decay=decay, dstates=dstates, dy=dy, dxbc=dxbc)
    kernel(f"ScanStepGradients{form}")(
        xbc=xbc,
        delta=delta,
        a_log=a_log,
        d=d,
        states=states,
        dstates=dstates,
        y=y,
        dy=dy,
        dxbc=dxbc,
        drows=drows,
        a_parts=a_parts,
        d_parts=d_parts,
    )
