"""CNeuronDFFTEncoder: stages of local and channel attention, ever coarser, joined over all scales."""

from __future__ import annotations

import math

import numpy as np

from neuronet.device.array import Shape
from neuronet.errors import SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.chain import CNeuronChain
from neuronet.layers.dot import CNeuronDOTOCL
from neuronet.layers.downsample import CNeuronDownsampleOCL
from neuronet.layers.halves import half
from neuronet.layers.parts import Branch, check_map, check_positive
from neuronet.layers.port import CNeuronPort
from neuronet.layers.sae import CNeuronSAE
from neuronet.layers.x_ci_t import CNeuronXCiTOCL
from neuronet.ops import elementwise


class _Stage(CNeuronChain):
    """Half as many units as the stage before; then local attentions and a channel attention."""

    def __init__(self, encoder: CNeuronDFFTEncoder, index: int) -> None:
        self.encoder, self.index = encoder, index

    def output_shape(self, input_shape: Shape) -> Shape:
        units = half(input_shape[0]) if self.index else input_shape[0]
        return (units, self.encoder.windows[self.index])

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        encoder, width = self.encoder, self.encoder.windows[self.index]
        heads, dimension = encoder.heads, encoder.dimension
        parts: Branch = [("downsample", CNeuronDownsampleOCL(window_out=width))] if self.index else []
        for i in range(encoder.layers):
            local = CNeuronDOTOCL(window=width, dimension=dimension, heads=heads, radius=encoder.radius)
            parts.append((f"local{i}", local))
        channels = CNeuronXCiTOCL(heads=heads, dimension=dimension, lpi_window=encoder.lpi_window)
        self.chain([*parts, ("channels", channels)], input_shape)


@layer
class CNeuronDFFTEncoder(CNeuronBaseOCL):
    """The encoder of DFFT (arXiv:2206.06829), along time: fine and coarse views of a sequence, then one map.

    input   [batch, units, any width]
    output  [batch, u, window_out], u the units of the last stage but one

    Stage s has ``layers`` CNeuronDOTOCL and a CNeuronXCiTOCL of width windows[s]; from the second on a
    CNeuronDownsampleOCL stands in front and halves the units. CNeuronSAE joins the outputs of all stages. The
    newest unit is the last one at every scale. Not causal: all units of a sample are the past.

    windows           width of each stage, two or more of them
    heads, dimension  of all attentions
    layers            local attentions of a stage
    radius            neighbours that they see on each side
    lpi_window        units that the convolutions behind channel attention see
    """

    windows: tuple[int, ...]
    window_out: int
    heads: int
    dimension: int
    layers: int = 2
    radius: int = 1
    lpi_window: int = 3

    def output_shape(self, input_shape: Shape) -> Shape:
        where = "CNeuronDFFTEncoder"
        check_positive(where, layers=self.layers, radius=self.radius)
        if not isinstance(self.windows, tuple) or len(self.windows) < 2:
            raise SpecError(
                f"windows={self.windows!r} is not two or more widths",
                where=where,
                fix="give each stage its width, as in (32, 32)",
            )
        units, _ = check_map(where, input_shape, least=1)
        for _ in self.windows[:-2]:
            units = half(units)
        return (units, self.window_out)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        shape, values = input_shape, 0
        self.stages: list[_Stage] = []
        self.maps: list[CNeuronBaseOCL] = []  # the stages, with the gradient that comes from the SAE
        for i in range(len(self.windows)):
            stage = self.inner(f"stage{i}", _Stage(self, i), shape)
            shape = stage.output.shape[1:]
            values += math.prod(shape)
            self.stages.append(stage)
            self.maps.append(self.inner(f"map{i}", CNeuronPort(), shape))
        sae = CNeuronSAE(
            units=input_shape[0],
            windows=self.windows,
            window_out=self.window_out,
            heads=self.heads,
            dimension=self.dimension,
            lpi_window=self.lpi_window,
        )
        self.sae = self.inner("sae", sae, (values,))
        self.stages[-1].SetGradient(self.maps[-1].gradient)
        self.end_with(self.sae)

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        for before, stage, view in self._stages(prev):
            stage.feedForward(before)
            view.output = stage.output
        self.sae.forward_maps(self.maps)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.sae.together = self.together  # its passes are called by other names
        self.sae.backward_maps(self.maps)
        for before, stage, view in reversed(self._stages(prev)):
            if stage is not self.stages[-1]:
                elementwise.add(stage.gradient, view.gradient, stage.gradient)
            self.inner_gradients(stage, before)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        for before, stage, _ in self._stages(prev):
            self.inner_weights(stage, before)
        self.sae.weight_gradients(self.maps)

    def _stages(self, prev: CNeuronBaseOCL) -> list[tuple[CNeuronBaseOCL, _Stage, CNeuronBaseOCL]]:
        """(layer before, stage, its map) from the finest to the coarsest."""
        return list(zip([prev, *self.stages], self.stages, self.maps, strict=False))
