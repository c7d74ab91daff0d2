"""CNeuronMultiWindowsConvWPadOCL: windows of several widths over one padded sequence. Ops: as its base."""

from __future__ import annotations

from neuronet.errors import ShapeError
from neuronet.layers.base import layer
from neuronet.layers.multi_windows_conv import CNeuronMultiWindowsConvOCL, Geometry
from neuronet.ops import multi_windows_conv as conv


@layer
class CNeuronMultiWindowsConvWPadOCL(CNeuronMultiWindowsConvOCL):
    """Convolutions of all ``windows`` over the same sequence, padded with zeros, in one launch.

    input  [batch, ...], read as [batch, variables, positions, dimension]
    output [batch, units, windows * window_out] in the order [window][filter], or for more than one variable
           [batch, variables, units, windows * window_out]; units = ceil(positions / step)

    Windows and ``step`` count positions, each of ``dimension`` values: for bars [batch, units, features] set
    dimension=features, and a window of 3 covers three whole bars. With dimension=1 it is NeuroNet's layer,
    which knows no other. A window stands in the middle of its unit's position u * step, an even one reaches
    further ahead; with ``causal`` it ends there, so that no unit sees a later one.

    Weights as in CNeuronMultiWindowsConvOCL, a window of n positions having n * dimension taps.
    """

    step: int
    dimension: int = 1
    causal: bool = False

    def geometry(self, length: int) -> Geometry:
        if length % self.dimension:
            raise ShapeError(
                f"{length} values per variable do not divide into positions of dimension={self.dimension}",
                where=type(self).__name__,
                fix="set dimension to the last axis of the input, or to 1",
            )
        starts = (conv.causal if self.causal else conv.centred)(self.windows)
        return Geometry(length // self.dimension, self.dimension, self.step, starts)
