"""CNeuronFreqPatching: patches of a spectrum. Op: freq_patching."""

from __future__ import annotations

from neuronet.device.array import Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.ops import freq_patching


@layer
class CNeuronFreqPatching(CNeuronBaseOCL):
    """Cut the spectra of all channels into patches of ``window`` bins, ``step`` apart.

    input  [batch, channels, bins, 2], bins as pairs re, im
    output [batch, patches, channels, window, 2], patches = (bins - window) // step + 1

    The frequency patching of CATCH (arXiv:2410.12261).
    Patch l of every channel holds bins l * step to l * step + window - 1. A ``step`` below ``window`` makes
    them overlap, above it leaves holes; bins behind the last whole patch are not read.
    """

    window: int
    step: int

    def output_shape(self, input_shape: Shape) -> Shape:
        for name in ("window", "step"):
            if getattr(self, name) < 1:
                raise SpecError(
                    f"{name}={getattr(self, name)} is not positive",
                    where="CNeuronFreqPatching",
                    fix=f"choose {name} >= 1",
                )
        if len(input_shape) != 3 or input_shape[-1] != 2:
            raise ShapeError(
                f"a sample has shape {list(input_shape)}, expected [channels, bins, 2]",
                where="CNeuronFreqPatching",
                fix="put it behind CNeuronFourierOCL",
            )
        channels, bins, _ = input_shape
        if bins < self.window:
            raise ShapeError(
                f"window={self.window} is longer than the spectrum, {bins} bins",
                where="CNeuronFreqPatching",
                fix=f"choose window <= {bins}",
            )
        return (freq_patching.patches(bins, self.window, self.step), channels, self.window, 2)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        freq_patching.forward(prev.output, self.output, step=self.step)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if prev.needs_gradient:
            freq_patching.backward(self.gradient, prev.gradient, step=self.step)
