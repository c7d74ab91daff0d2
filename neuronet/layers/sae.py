"""CNeuronSAE: scale-aggregated encoder, maps of several scales become one. Inner layers, concatenate."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from neuronet.device.array import Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.halves import CNeuronSecondOfPairs, half
from neuronet.layers.layer_norm import CNeuronLayerNormOCL
from neuronet.layers.parts import check_positive, flat, second_input, unit_dense
from neuronet.layers.port import CNeuronPort
from neuronet.layers.saa import CNeuronSAA
from neuronet.layers.x_ci_t import CNeuronXCiTOCL
from neuronet.ops import concatenate, elementwise


@layer
class CNeuronSAE(CNeuronBaseOCL):
    """Scale-aggregated encoder of DFFT (arXiv:2206.06829), along time.

    input   [batch, values]: the maps [units, windows[0]], [ceil(units / 2), windows[1]] … one behind the
            other, as CNeuronDownsampleOCL makes them
    output  [batch, u, window_out], u the units of the last map but one

        f = dense_0(map_0)      f = block_s(every second unit of f + dense_s(map_s)) for the maps in between
        output = norm(saa(f, last map))

    The blocks are CNeuronXCiTOCL and a CNeuronSAA with the fields given here. Pairs are counted from the last
    unit. Not causal. NeuroNet leaves it out.

    A composite that has the maps as layers calls ``forward_maps``, ``backward_maps`` and ``weight_gradients``
    instead of packing them.
    """

    units: int
    windows: tuple[int, ...]
    window_out: int
    heads: int
    dimension: int
    lpi_window: int = 3

    def map_shapes(self) -> list[Shape]:
        """The shape of one sample of each map, the finest first."""
        units = self.units
        shapes: list[Shape] = []
        for window in self.windows:
            shapes.append((units, window))
            units = half(units)
        return shapes

    def output_shape(self, input_shape: Shape) -> Shape:
        where = "CNeuronSAE"
        check_positive(where, units=self.units, heads=self.heads, dimension=self.dimension)
        check_positive(where, lpi_window=self.lpi_window)
        check_positive(where, **{f"windows[{i}]": window for i, window in enumerate(self.windows)})
        if len(self.windows) < 2:
            raise SpecError(
                f"windows={self.windows} is not two or more maps",
                where=where,
                fix="give the width of every map",
            )
        if self.window_out < 2:
            raise SpecError(
                f"window_out={self.window_out}: the output is normalised over 2 or more values",
                where=where,
                fix="choose window_out >= 2",
            )
        shapes = self.map_shapes()
        total = sum(math.prod(shape) for shape in shapes)
        if math.prod(input_shape) != total:
            maps = " + ".join(f"{u}x{w}" for u, w in shapes)
            raise ShapeError(
                f"input {list(input_shape)} has not the {total} values of the maps {maps}",
                where=where,
                fix="set units and windows to the maps that it packs",
            )
        return (shapes[-2][0], self.window_out)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        shapes, width = self.map_shapes(), self.window_out
        self.maps, self.joined, values = [], [], 0
        for i, shape in enumerate(shapes):
            port = self.inner(f"map{i}", CNeuronPort(output=True), shape)
            self.maps.append(port)
            values += math.prod(shape)
            if 0 < i < len(shapes) - 1:
                self.joined.append(self.batch_array(f"joined{i}", (values,)))
        self.dense = [
            self.inner(f"dense{i}", unit_dense(shape[1], width), shape) for i, shape in enumerate(shapes[:-1])
        ]
        self.halves, self.sums, self.blocks = [], [], []
        for i, (units, _) in enumerate(shapes[1:-1], 1):
            shape = (units, width)
            self.halves.append(self.inner(f"half{i}", CNeuronSecondOfPairs(), (shapes[i - 1][0], width)))
            self.sums.append(self.inner(f"sum{i}", CNeuronPort(output=True), shape))
            self.blocks.append(self.inner(f"block{i}", self._block(), shape))
            for partner in (self.halves[-1], self.dense[i]):
                partner.SetGradient(self.sums[-1].gradient)
        with second_input(self, shapes[-1]):
            self.saa = self.inner(
                "saa",
                CNeuronSAA(heads=self.heads, dimension=self.dimension, lpi_window=self.lpi_window),
                self.output.shape[1:],
            )
        self.norm = self.inner("norm", CNeuronLayerNormOCL(), self.output.shape[1:])
        self.end_with(self.norm)

    def _block(self) -> CNeuronXCiTOCL:
        return CNeuronXCiTOCL(heads=self.heads, dimension=self.dimension, lpi_window=self.lpi_window)

    # --- maps that are layers ----------------------------------------------------------

    def forward_maps(self, maps: Sequence[CNeuronBaseOCL]) -> None:
        """Write self.output from the maps' outputs."""
        for made, source in zip(self.dense, maps, strict=False):
            made.feedForward(source)
        running: CNeuronBaseOCL = self.dense[0]
        for i, block in enumerate(self.blocks):
            self.halves[i].feedForward(running)
            elementwise.add(self.halves[i].output, self.dense[i + 1].output, self.sums[i].output)
            block.feedForward(self.sums[i])
            running = block
        self.saa.feedForward(running, maps[-1])
        self.norm.feedForward(self.saa)

    def backward_maps(self, maps: Sequence[CNeuronBaseOCL]) -> None:
        """Write the gradient of every map that needs one from self.gradient."""
        running = [self.dense[0], *self.blocks]
        self.inner_gradients(self.norm, self.saa)
        self.inner_gradients(self.saa, running[-1], maps[-1])
        for i in reversed(range(len(self.blocks))):
            self.inner_gradients(self.blocks[i], self.sums[i])
            self.halves[i].calcInputGradients(running[i])
        for made, source in zip(self.dense, maps, strict=False):
            self.inner_gradients(made, source)

    def weight_gradients(self, maps: Sequence[CNeuronBaseOCL]) -> None:
        """Add to the gradient of every parameter."""
        for made, source in zip(self.dense, maps, strict=False):
            self.inner_weights(made, source)
        for block, total in zip(self.blocks, self.sums, strict=True):
            self.inner_weights(block, total)
        self.inner_weights(self.saa, [self.dense[0], *self.blocks][-1], maps[-1])
        self.inner_weights(self.norm, self.saa)

    # --- maps packed into one input --------------------------------------------------------

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        offset = 0
        for port in self.maps:
            concatenate.backward_one(flat(prev.output), flat(port.output), offset=offset)
            offset += flat(port.output).shape[1]
        self.forward_maps(self.maps)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        for port in self.maps:
            port.needs_gradient = prev.needs_gradient  # type: ignore[misc]
        self.backward_maps(self.maps)
        if not prev.needs_gradient:
            return
        joined = flat(self.maps[0].gradient)
        targets = [*(self._full[f"joined{i}"] for i in range(1, len(self.maps) - 1)), flat(prev.gradient)]
        for port, target in zip(self.maps[1:], targets, strict=True):
            target = target.rows(joined.shape[0])
            concatenate.forward(joined, flat(port.gradient), target)
            joined = target

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.weight_gradients(self.maps)
