"""CNeuronInputOCL: holds a batch of host data; a net makes one for each of its inputs."""

from __future__ import annotations

from typing import ClassVar

from neuronet.device.array import Shape
from neuronet.layers.base import CNeuronBaseOCL, layer


@layer
class CNeuronInputOCL(CNeuronBaseOCL):
    """output [batch, *shape]. Its gradient is only computed where ``needs_gradient`` is set."""

    shape: tuple[int, ...]
    needs_gradient: ClassVar[bool] = False

    def output_shape(self, input_shape: Shape) -> Shape:
        return self.shape
