"""Element-wise activations. Kernels: kernels/activation.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import gpu_form


def forward(z: DeviceArray, y: DeviceArray, *, activation: int) -> None:
    """y = act(z). Arrays of equal size and any shapes."""
    n = y.size
    kernel = y.device.kernel(f"Activate{gpu_form(y.device)}")
    kernel(z=z.view(n), y=y.view(n), activation=activation)


def backward(s: DeviceArray, dy: DeviceArray, dz: DeviceArray, *, activation: int) -> None:
    """dz = dL/dz from dy = dL/dy, where y = act(z).

    ``s`` is y, or z for activations with ``needs_input`` (GELU, SILU). ``dz`` may be ``dy``.
    """
    n = dz.size
    kernel = dz.device.kernel(f"DeActivation{gpu_form(dz.device)}")
    kernel(s=s.view(n), dy=dy.view(n), dz=dz.view(n), activation=activation)
