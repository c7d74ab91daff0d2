"""CNeuronActivated: what layers share that end in an activation."""

from __future__ import annotations

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.ops import activation as op


class CNeuronActivated(CNeuronBaseOCL):
    """Base of layers with a field ``activation``; a subclass's op writes ``linear`` and applies ``fused``.

    Most activations run inside the layer's own kernel and are undone from the output. GELU and SILU
    need the pre-activation for their derivative: the kernel then writes it to ``z``.
    """

    activation: Activation | str  # a name, "TANH", becomes the member when the layer is made
    z: DeviceArray
    dz: DeviceArray

    def allocate_activation(self) -> None:
        """Call from ``allocate``."""
        shape = self.output.shape[1:]
        if self.kind.needs_input:
            self.batch_array("z", shape)
        if self.activation is not Activation.NONE:
            self.brief_array("dz", shape)

    @property
    def kind(self) -> Activation:
        assert isinstance(self.activation, Activation)
        return self.activation

    @property
    def linear(self) -> DeviceArray:
        """Where the layer's kernel writes."""
        return self.z if self.kind.needs_input else self.output

    @property
    def fused(self) -> Activation:
        """The activation that the layer's kernel applies itself."""
        return Activation.NONE if self.kind.needs_input else self.kind

    def activate(self) -> None:
        """Finish ``feedForward``: the output of an activation that the kernel did not apply."""
        if self.kind.needs_input:
            op.forward(self.z, self.output, activation=self.kind)

    def deactivate(self) -> DeviceArray:
        """Start ``calcInputGradients``: dL/d(pre-activation), also for ``calcWeightGradients``."""
        if self.activation is Activation.NONE:
            return self.gradient
        op.backward(self.linear, self.gradient, self.dz, activation=self.kind)
        return self.dz

    @property
    def pre_gradient(self) -> DeviceArray:
        """What ``deactivate`` has written."""
        return self.gradient if self.activation is Activation.NONE else self.dz
