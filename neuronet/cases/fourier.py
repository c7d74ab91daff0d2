"""Cases of ops/fourier.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuronet.cases.base import Arrays, Case
from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device
from neuronet.ops import fourier


@dataclass(frozen=True)
class Fourier(Case):
    """What the cases of a transform share."""

    transform: str
    rows: int
    length: int
    complex_input: bool = True
    matrix: bool | None = None

    def plan(self, device: Device) -> fourier.Plan:
        return fourier.Plan(
            device,
            self.transform,
            self.length,
            self.rows + 1,
            complex_input=self.complex_input,
            matrix=self.matrix,
        )

    def _shape(self, row: bool, real: bool) -> Shape:
        entries = fourier.bins(self.length) if row else self.length
        return (self.rows, entries) if real else (self.rows, entries, 2)

    @property
    def x(self) -> Shape:
        real = self.transform == "rfft" or (self.transform == "fft" and not self.complex_input)
        return self._shape(self.transform == "irfft", real)

    @property
    def y(self) -> Shape:
        return self._shape(self.transform == "rfft", self.transform == "irfft")

    @property
    def _is_matrix(self) -> bool:
        return self.length <= fourier.MATRIX if self.matrix is None else self.matrix

    @property
    def terms(self) -> int:
        # a fast transform's error grows with the number of its stages; the chirp takes three such passes
        return 2 * self.length if self._is_matrix else 3 * self.length.bit_length()

    @property
    def flops(self) -> int:
        values = int(np.prod(self.x)) * int(np.prod(self.y)) // self.rows
        stages = 5 * self.rows * self.length * self.length.bit_length()  # as the literature counts them
        return 2 * values if self._is_matrix else stages


@dataclass(frozen=True)
class FourierForward(Fourier):
    op = "fourier.forward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"x": rng.standard_normal(self.x)}

    def outputs(self) -> dict[str, Shape]:
        return {"y": self.y}

    def run(self, **arrays: DeviceArray) -> None:
        fourier.forward(_plan(self, arrays["y"].device), **arrays)


@dataclass(frozen=True)
class FourierBackward(Fourier):
    op = "fourier.backward"

    def inputs(self, rng: np.random.Generator) -> Arrays:
        return {"dy": rng.standard_normal(self.y)}

    def outputs(self) -> dict[str, Shape]:
        return {"dx": self.x}

    def run(self, **arrays: DeviceArray) -> None:
        fourier.backward(_plan(self, arrays["dx"].device), **arrays)


_last: list[tuple[Fourier, Device, fourier.Plan]] = []


def _plan(case: Fourier, device: Device) -> fourier.Plan:
    """The case's plan, made once: bench times the transform, not the tables."""
    if not _last or _last[0][0] is not case or _last[0][1] is not device:
        _last[:] = [(case, device, case.plan(device))]
    return _last[0][2]


@dataclass(frozen=True)
class FourierStages(Case):
    """The stages alone, between guards; a holds the result for an even number of them, else b."""

    op = "fourier.stages"
    changes = ("a", "b")
    rows: int
    length: int

    def inputs(self, rng: np.random.Generator) -> Arrays:
        z = fourier.roots(self.length)
        a, b = rng.standard_normal((2, self.rows, self.length, 2))
        return {"roots": np.stack([z.real, z.imag], -1), "a": a, "b": b}

    def run(self, **arrays: DeviceArray) -> None:
        fourier.stages(**arrays)

    @property
    def terms(self) -> int:
        return self.length.bit_length()


_KINDS = (FourierForward, FourierBackward)
_TRANSFORMS = [("fft", True), ("fft", False), ("ifft", True), ("rfft", True), ("irfft", True)]
_SIZES = [(1, 1), (3, 2), (2, 3), (5, 4), (3, 5), (1, 17), (49, 8), (7, 33), (2, 96), (3, 97), (2, 37)]
SMALL: list[Case] = [
    kind(transform, *size, is_complex, matrix)
    for kind in _KINDS
    for transform, is_complex in _TRANSFORMS
    for size in _SIZES
    for matrix in (True, False)
]
SMALL += [
    kind(name, 2, length, c) for kind in _KINDS for name, c in _TRANSFORMS for length in (300, 509, 512)
]
SMALL += [
    FourierStages(*size)
    for size in ((1, 1), (3, 2), (2, 4), (3, 8), (1, 16), (2, 128), (1, 1024), (3, 30), (2, 77))
]
LARGE: list[Case] = [
    kind(transform, 64 * 19, length, is_complex)
    for length in (96, 192, 1024)
    for transform, is_complex in (("rfft", True), ("fft", True), ("irfft", True))
    for kind in _KINDS
]
LARGE += [FourierForward("rfft", 64 * 19, 1000), FourierForward("fft", 64, 4096)]
