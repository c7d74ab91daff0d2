"""CNeuronDownsampleOCL: two neighbouring units become one. Inner layers."""

from __future__ import annotations

import numpy as np

from neuronet.device.array import Shape
from neuronet.layers.base import layer
from neuronet.layers.chain import CNeuronChain
from neuronet.layers.halves import CNeuronPairs, half
from neuronet.layers.layer_norm import CNeuronLayerNormOCL
from neuronet.layers.parts import Branch, check_map, check_positive, unit_dense


@layer
class CNeuronDownsampleOCL(CNeuronChain):
    """[batch, units, window] -> [batch, ceil(units / 2), window_out]: dense(norm(two neighbours)).

    Pairs are counted from the last unit, the newest; in front of an odd number of units lies a unit of zeros.
    No output depends on units behind its pair. The patch merging of DFFT (arXiv:2206.06829); NeuroNet reads
    two neighbouring units as one and projects them.
    """

    window_out: int

    def output_shape(self, input_shape: Shape) -> Shape:
        check_positive("CNeuronDownsampleOCL", window_out=self.window_out)
        units, _ = check_map("CNeuronDownsampleOCL", input_shape, least=1)
        return (half(units), self.window_out)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        dense = unit_dense(2 * input_shape[1], self.window_out)
        parts: Branch = [("pairs", CNeuronPairs()), ("norm", CNeuronLayerNormOCL()), ("dense", dense)]
        self.chain(parts, input_shape)
