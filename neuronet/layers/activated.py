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

    activation: Activation
    z: DeviceArray
    dz: DeviceArray

    def allocate_activation(self) -> None:
        """Call from ``allocate``."""
        shape = self.output.shape[1:]
        if self.activation.needs_input:
            self.batch_array("z", shape)
        if self.activation is not Activation.NONE:
            self.batch_array("dz", shape)

    @property
    def linear(self) -> DeviceArray:
        """Where the layer's kernel writes."""
        return self.z if self.activation.needs_input else self.output

    @property
    def fused(self) -> Activation:
        """The activation that the layer's kernel applies itself."""
        return Activation.NONE if self.activation.needs_input else self.activation

    def activate(self) -> None:
        """Finish ``feedForward``: the output of an activation that the kernel did not apply."""
        if self.activation.needs_input:
            op.forward(self.z, self.output, activation=self.activation)

    def deactivate(self) -> DeviceArray:
        """Start ``calcInputGradients``: dL/d(pre-activation), also for ``calcWeightGradients``."""
        if self.activation is Activation.NONE:
            return self.gradient
        op.backward(self.linear, self.gradient, self.dz, activation=self.activation)
        return self.dz

    @property
    def pre_gradient(self) -> DeviceArray:
        """What ``deactivate`` has written."""
        return self.gradient if self.activation is Activation.NONE else self.dz
