"""CNeuronSAA: a map of features takes in the map of half as many units. Inner layers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from neuronet.device.array import Shape
from neuronet.errors import ShapeError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.halves import CNeuronUpsample, half
from neuronet.layers.parts import check_map, check_positive
from neuronet.layers.port import CNeuronPort
from neuronet.layers.x_ci_t import CNeuronXCiTOCL
from neuronet.ops import elementwise


@layer
class CNeuronSAA(CNeuronBaseOCL):
    """block(x + up(second)): semantics of the coarser map for the finer one (DFFT, arXiv:2206.06829).

    input, output  [batch, units, window], the finer map
    second         [batch, ceil(units / 2), any], the coarser map

    up is a transposed convolution with window and step 2, aligned at the last unit; block a CNeuronXCiTOCL
    with the fields given here. Not causal: two units get the same coarse one. NeuroNet leaves it out.
    """

    takes_second: ClassVar[bool] = True

    heads: int
    dimension: int
    lpi_window: int = 3

    def output_shape(self, input_shape: Shape) -> Shape:
        check_positive("CNeuronSAA", heads=self.heads, dimension=self.dimension, lpi_window=self.lpi_window)
        units, _ = check_map("CNeuronSAA", input_shape)
        coarse = self.context.second_shape
        if coarse is None:
            raise ShapeError(
                "there is no second input, the coarser map",
                where="CNeuronSAA",
                fix="give CNet a second_shape",
            )
        if len(coarse) != 2 or coarse[0] != half(units):
            raise ShapeError(
                f"second input {list(coarse)} is not [{half(units)}, any], half as many units as {units}",
                where="CNeuronSAA",
                fix="give it what a CNeuronDownsampleOCL makes of the finer map",
            )
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        coarse = self.context.second_shape
        assert coarse is not None
        self.up = self.inner("up", CNeuronUpsample(*input_shape), coarse)
        self.sum = self.inner("sum", CNeuronPort(output=True), input_shape)
        self.up.SetGradient(self.sum.gradient)
        self.up.forget_output()
        block = CNeuronXCiTOCL(heads=self.heads, dimension=self.dimension, lpi_window=self.lpi_window)
        self.block = self.inner("block", block, input_shape)
        self.end_with(self.block)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        self.up.feedForward(second)
        elementwise.add(prev.output, self.up.output, self.sum.output)
        self.block.feedForward(self.sum)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        self.inner_gradients(self.block, self.sum)
        self.inner_gradients(self.up, second)
        if prev.needs_gradient:
            elementwise.copy(self.sum.gradient, prev.gradient)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        assert second is not None
        self.inner_weights(self.up, second)
        self.inner_weights(self.block, self.sum)
