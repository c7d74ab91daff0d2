"""Every exception that neuronet raises on purpose.

    NeuronetError
    ├── ShapeError          an array's shape breaks a layer's or a kernel's contract
    ├── KernelError         a kernel cannot be parsed, built or launched
    ├── DeviceError         no device matches, or the device is too small or has failed
    ├── SpecError           a layer, net, optimiser or schedule was declared wrongly
    ├── FileFormatError     a model file is damaged, foreign, or newer than this code
    │   └── TextError       text stands where a model or experience is wanted
    ├── DataError           bars or a window of bars are not usable
    │   ├── NoColumnError   a table lacks a column that was asked for, or that is needed
    │   └── TooFewError     there are fewer rows than the work needs
    └── TrainingError       training cannot go on: a loss or weight is not finite

A message says what is wrong, where, and how to put it right, in that order. Code tells errors apart by their
class, never by these words.
"""

from __future__ import annotations


class NeuronetError(Exception):
    """Base class. ``str(error)`` is the full message: where, what, and the fix."""

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what, self.where, self.fix = what, where, fix
        message = f"{where}: {what}" if where else what
        super().__init__(f"{message}\nFix: {fix}" if fix else message)


class ShapeError(NeuronetError):
    """An array's shape breaks a layer's or a kernel's contract."""


class KernelError(NeuronetError):
    """A kernel cannot be parsed, built or launched."""


class DeviceError(NeuronetError):
    """No device matches, or the device is too small for the work, or it has failed."""


class SpecError(NeuronetError):
    """A layer, net, optimiser or schedule was declared wrongly."""


class FileFormatError(NeuronetError):
    """A model file is damaged, not ours, or newer than this code."""


class TextError(FileFormatError):
    """Text stands where a model or experience is wanted."""


class DataError(NeuronetError):
    """Bars, or a window of bars, are not usable."""


class NoColumnError(DataError):
    """A table lacks a column that was asked for, or that is needed: of times, of numbers, of a price."""


class TooFewError(DataError):
    """There are fewer rows than the work needs."""


class TrainingError(NeuronetError):
    """Training cannot go on: a loss or a weight is not finite."""
