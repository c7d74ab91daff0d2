"""Which form of a kernel a device runs: the plain one, the CPU's or the GPU's, which may be for tensor cores.

All forms of a kernel compute the same; the plain one, the definition, runs on any device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from neuronet.device.base import Device

Form = Literal["", "CPU", "GPU"]  # the suffix of the kernel's name
Forced = Literal["", "CPU", "GPU", "Tensor"]

FORMS: tuple[Form, ...] = ("", "CPU", "GPU")
_OWN: dict[str, Form] = {"cpu": "CPU", "gpu": "GPU"}
_forced: list[Forced] = []


def form_for(device: Device) -> Form:
    """The form that ``device`` runs; NumPy has only the plain one."""
    if _forced and device.kind != "numpy":
        return "GPU" if _forced[-1] == "Tensor" else _forced[-1]
    return _OWN.get(device.kind, "")


def cpu_form(device: Device) -> Form:
    """The form of a kernel that has one for CPUs only, beside the plain one."""
    return "CPU" if form_for(device) == "CPU" else ""


def gpu_form(device: Device) -> Form:
    """The form of a kernel that has one for GPUs only, beside the plain one."""
    return "GPU" if form_for(device) == "GPU" else ""


def tensor_cores(device: Device) -> bool:
    """Whether a GPU's form may be the one for NVIDIA's tensor cores."""
    return _forced[-1] == "Tensor" if _forced and device.kind != "numpy" else device.tensor_cores


@contextmanager
def forced_form(form: Forced) -> Iterator[None]:
    """Run this form on every OpenCL device meanwhile: tests take each form through each device.

    "Tensor" is the GPU's, for tensor cores where there is one; kernels/tensor.clh has what stands for them.
    """
    _forced.append(form)
    try:
        yield
    finally:
        _forced.pop()
