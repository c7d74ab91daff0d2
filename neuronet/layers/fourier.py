"""CNeuronFourierOCL: Fourier transforms along time. Op: fourier."""

from __future__ import annotations

import numpy as np

from neuronet.device.array import Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.parts import merged
from neuronet.ops import fourier

READS = {
    "fft": "[variables, length] or [variables, length, 2]",
    "ifft": "[variables, length, 2]",
    "rfft": "[variables, length]",
    "irfft": "[variables, bins, 2]",
}


@layer
class CNeuronFourierOCL(CNeuronBaseOCL):
    """Transform each variable of a sample along the time axis, of any length N; K = N // 2 + 1 bins.

    transform  input                                      output
    fft        [batch, variables, N], or pairs [..., N, 2]   [batch, variables, N, 2]
    ifft       [batch, variables, N, 2]                      [batch, variables, N, 2]
    rfft       [batch, variables, N]                         [batch, variables, K, 2]
    irfft      [batch, variables, K, 2]                      [batch, variables, N]

    A complex number is a pair re, im on the last axis. The inverse transforms have the factor 1/N.

    length  N of irfft, which K does not tell: 2 (K - 1), the default, or 2 K - 1
    """

    transform: str = "fft"
    length: int | None = None

    def output_shape(self, input_shape: Shape) -> Shape:
        if self.length is not None and not isinstance(self.length, int):
            raise SpecError(
                f"length={self.length!r} is no whole number", where="CNeuronFourierOCL", fix="pass an int"
            )
        if self.transform not in fourier.TRANSFORMS:
            raise SpecError(
                f"transform={self.transform!r} is unknown",
                where="CNeuronFourierOCL",
                fix=f"choose one of {', '.join(fourier.TRANSFORMS)}",
            )
        if self.length is not None and self.transform != "irfft":
            raise SpecError(
                f"length={self.length} is for irfft only; {self.transform} takes that of its input",
                where="CNeuronFourierOCL",
                fix="leave length out",
            )
        if len(input_shape) == 3 and input_shape[-1] == 2:
            fits = self.transform != "rfft"
        else:
            fits = len(input_shape) == 2 and self.transform in ("fft", "rfft")
        if not fits:
            raise ShapeError(
                f"a sample has shape {list(input_shape)}; {self.transform} reads {READS[self.transform]}",
                where="CNeuronFourierOCL",
                fix="put it behind a layer with such an output",
            )
        variables, entries = input_shape[:2]
        if self.transform == "rfft":
            return (variables, fourier.bins(entries), 2)
        return (variables, self._length(entries)) if self.transform == "irfft" else (variables, entries, 2)

    def _length(self, entries: int) -> int:
        """N, from the entries of the input's time axis."""
        if self.transform != "irfft":
            return entries
        length = max(1, 2 * (entries - 1)) if self.length is None else self.length
        if length < 1 or fourier.bins(length) != entries:
            even = max(1, 2 * (entries - 1))
            raise ShapeError(
                f"a signal of length {length} has not the {entries} bins of the input",
                where="CNeuronFourierOCL",
                fix=f"choose length={even} or length={2 * entries - 1}" if entries > 1 else "choose length=1",
            )
        return length

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        variables, entries = input_shape[:2]
        rows, is_complex = self.batch * variables, len(input_shape) == 3
        length = self._length(entries)
        self.plan = fourier.Plan(self.device, self.transform, length, rows, complex_input=is_complex)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        fourier.forward(self.plan, merged(prev.output), merged(self.output))

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if prev.needs_gradient:
            fourier.backward(self.plan, merged(self.gradient), merged(prev.gradient))
