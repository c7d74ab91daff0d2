"""Which form of a kernel a device runs: the plain one, the CPU's or the GPU's.

All forms of a kernel compute the same; the plain one, the definition, runs on any device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from neuronet.device.base import Device

Form = Literal["", "CPU", "GPU"]  # the suffix of the kernel's name

FORMS: tuple[Form, ...] = ("", "CPU", "GPU")
_OWN: dict[str, Form] = {"cpu": "CPU", "gpu": "GPU"}
_forced: list[Form] = []


def form_for(device: Device) -> Form:
    """The form that ``device`` runs; NumPy has only the plain one."""
    if _forced and device.kind != "numpy":
        return _forced[-1]
    return _OWN.get(device.kind, "")


def cpu_form(device: Device) -> Form:
    """The form of a kernel that has one for CPUs only, beside the plain one."""
    return "CPU" if form_for(device) == "CPU" else ""


def gpu_form(device: Device) -> Form:
    """The form of a kernel that has one for GPUs only, beside the plain one."""
    return "GPU" if form_for(device) == "GPU" else ""


@contextmanager
def forced_form(form: Form) -> Iterator[None]:
    """Run this form on every OpenCL device meanwhile: tests take each form through each device."""
    _forced.append(form)
    try:
        yield
    finally:
        _forced.pop()
