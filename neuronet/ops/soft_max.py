"""Softmax of rows. Kernels: kernels/soft_max.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.device.base import Device
from neuronet.ops.forms import form_for

WIDE = 32  # from so many classes on, a GPU gives a whole work-group to a row


def forward(x: DeviceArray, y: DeviceArray) -> None:
    """y = softmax of each row of x [rows, classes]. ``y`` may be ``x``."""
    y.device.kernel("SoftMax_FeedForward" + _form(y.device, y.shape[1]))(x=x, y=y)


def backward_input(y: DeviceArray, dy: DeviceArray, dx: DeviceArray) -> None:
    """dx = dL/dx from dy = dL/dy, where y = softmax(x). ``dx`` may be ``dy``."""
    dx.device.kernel("SoftMax_HiddenGradient" + _form(dx.device, dx.shape[1]))(y=y, dy=dy, dx=dx)


def _form(device: Device, classes: int) -> str:
    return "GPU" if form_for(device) == "GPU" and classes >= WIDE else ""
