"""Gradients of a selective scan's B and C. Kernels: kernels/scan_bc.cl; shapes: see ops/scan_states.py."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.ops.forms import form_for


def groups(device: Device, heads: int) -> int:
    """In how many groups to sum the heads: a GPU is only busy when each has its own."""
    return heads if device.kind == "gpu" else 1


def backward(
    xbc: DeviceArray,
    delta: DeviceArray,
    decay: DeviceArray,
    states: DeviceArray,
    dstates: DeviceArray,
    dy: DeviceArray,
    parts: DeviceArray,
    dxbc: DeviceArray,
) -> None:
    """B and C in dxbc. ``parts`` [batch, length, groups, 2 state] is scratch; groups divide the heads."""
    kernel = dxbc.device.kernel
    kernel(f"ScanBCGradients{form_for(dxbc.device)}")(
        xbc=xbc, delta=delta, decay=decay, states=states, dstates=dstates, dy=dy, parts=parts
    )
    kernel("ScanSumGroups")(parts=parts, dxbc=dxbc)
