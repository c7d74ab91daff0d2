"""CNeuronBaseOCL: what every layer has, and the methods that a layer writes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

import numpy as np

from neuronet.declared import check_fields, from_spec, to_spec
from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device
from neuronet.device.pool import Parameter, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

LAYERS: dict[str, type] = {}  # every declared layer class by its name
T = TypeVar("T", bound="CNeuronBaseOCL")


@dataclasses.dataclass
class Build:
    """What building a net hands to each layer."""

    device: Device
    batch: int
    rng: np.random.Generator
    step: DeviceArray  # int32 [4], advanced by NextStep: see kernels/step.cl
    second_shape: Shape | None = None  # of one sample of the net's second input
    brief: list[DeviceArray] = dataclasses.field(default_factory=list)  # see CNeuronBaseOCL.brief_array


class CNeuronBaseOCL:
    """Base of all layers: buffers, parameters, state, inner layers and the declared spec.

    A layer's fields are its spec: they are saved, printed and compared, and nothing else is.
    Buffers appear in ``build`` (NeuroNet: Init) and never in ``__init__``.
    """

    version: ClassVar[int] = 1
    takes_second: ClassVar[bool] = False  # whether feedForward reads a second input

    output: DeviceArray  # [rows, *output_shape], written by this layer only
    gradient: DeviceArray  # dL/d(output), written by the layer above only
    span: Span  # all parameters of this layer in the net's pool, if it has any
    tail: CNeuronBaseOCL | None = None  # the inner layer whose output is this one's: see end_with
    penalty: DeviceArray | None = None  # [rows], a term of its own in the loss: see set_penalty
    needs_gradient: ClassVar[bool] = True  # False for an input: the layer above need not write its gradient
    together = False  # inside back_propagate

    # --- written by each layer -------------------------------------------------------

    def output_shape(self, input_shape: Shape) -> Shape:
        """Shape of one sample's output for one sample's input. ShapeError when it cannot be."""
        raise NotImplementedError

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        """Create parameters, state, inner layers and scratch; output and gradient exist already."""

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """Write self.output from prev.output (and second.output)."""
        raise NotImplementedError

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """Write prev.gradient (and second.gradient) from self.gradient where it is needed."""
        raise NotImplementedError

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """Add to the gradient of every parameter; runs after calcInputGradients."""

    def connect(self, index: int, layers: Sequence[CNeuronBaseOCL]) -> None:
        """Remember partners among the net's layers before anything is built; most need none."""

    # --- building --------------------------------------------------------------------

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, context: Build, input_shape: Shape, path: str = "") -> Shape:
        """Allocate everything on the device and return the shape of one sample's output."""
        self.context, self.device, self.batch, self.path = context, context.device, context.batch, path
        self.training = True
        self.parameters: list[Parameter] = []
        self.states: dict[str, DeviceArray] = {}
        self.inner_layers: list[CNeuronBaseOCL] = []
        self._full: dict[str, DeviceArray] = {}
        shape = self.output_shape(input_shape)
        self.batch_array("output", shape)
        self.brief_array("gradient", shape)
        self.allocate(input_shape, context.rng)
        return shape

    @property
    def where(self) -> str:
        """How error messages name this layer: its class and, once built, its place."""
        return (
            f"layer {self.path} ({type(self).__name__})" if getattr(self, "path", "") else type(self).__name__
        )

    def batch_array(self, name: str, shape: Shape, dtype: Any = None) -> DeviceArray:
        """Register ``self.<name>``, an array with one row a sample that follows ``set_rows``.

        It takes memory when it is first used: a net that only predicts has no gradients.
        """
        full = (self.batch, *shape)
        array = self.device.array(full, dtype, name=f"{self.where}.{name}", at_first_use=True)
        self._full[name] = array
        setattr(self, name, array)
        return array

    def brief_array(self, name: str, shape: Shape) -> DeviceArray:
        """Like ``batch_array``, for what lives in a backward pass only: written there before it is read, and
        of no use after calcWeightGradients. While ``fit`` trains it shares memory: see ``CNet.sharing``.
        """
        array = self.batch_array(name, shape)
        self.context.brief.append(array)
        return array

    def forget_output(self) -> None:
        """Let the output share memory like a ``brief_array``: it is read at once, and not for a gradient."""
        self.context.brief.append(self.output)

    def parameter(self, name: str, initial: Any) -> Parameter:
        """Register a trainable array under ``name``, the key that it has in HDF5."""
        made = Parameter(name, np.asarray(initial, np.float64))
        self.parameters.append(made)
        return made

    def state(self, name: str, initial: Any) -> DeviceArray:
        """Register an array that is saved but not trained, such as running statistics."""
        self.states[name] = self.device.put(initial, name=f"{self.where}.{name}")
        return self.states[name]

    def inner(self, name: str, layer: T, input_shape: Shape) -> T:
        """Build ``layer`` inside this one; its parameters and state are saved as ``name/...``."""
        layer.build(self.context, input_shape, f"{self.path}/{name}" if self.path else name)
        self.inner_layers.append(layer)
        for p in layer.parameters:
            p.name = f"{name}/{p.name}"
        self.parameters += layer.parameters
        self.states |= {f"{name}/{key}": array for key, array in layer.states.items()}
        return layer

    def set_penalty(self) -> None:
        """Register ``self.penalty`` [rows], a term that this layer adds to the loss of each sample.

        feedForward writes it, already weighted, and calcInputGradients adds its gradient, divided by the
        rows, to what comes from above: a net's loss is that of its output plus each layer's mean penalty.
        """
        self.batch_array("penalty", ())

    def end_with(self, layer: CNeuronBaseOCL) -> None:
        """Let the inner ``layer`` write this layer's output and read its gradient, wherever they lie."""
        self.tail = layer
        layer.SetOutput(self.output)
        layer.SetGradient(self.gradient)

    def SetOutput(self, array: DeviceArray) -> None:
        """Write the output into another layer's buffer instead of an own one (NeuroNet's sharing)."""
        self._full["output"] = self.output = array.view(*self.output.shape)
        if self.tail is not None:
            self.tail.SetOutput(array)

    def SetGradient(self, array: DeviceArray) -> None:
        """Take the gradient from another layer's buffer instead of an own one."""
        self._full["gradient"] = self.gradient = array.view(*self.gradient.shape)
        if self.tail is not None:
            self.tail.SetGradient(array)

    def set_rows(self, rows: int) -> None:
        """Work on the first ``rows`` samples of every buffer until told otherwise."""
        for name, full in self._full.items():
            setattr(self, name, full.rows(rows))
        for layer in self.inner_layers:
            layer.set_rows(rows)

    def TrainMode(self, flag: bool) -> None:
        """Training (True) or evaluation, which never changes state; reaches every inner layer."""
        self.training = flag
        for layer in self.inner_layers:
            layer.TrainMode(flag)

    # --- training ----------------------------------------------------------------------

    def back_propagate(
        self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None, optimizer: Any = None
    ) -> None:
        """calcInputGradients, then ``train_weights``.

        Layers of layers do both for each of their layers in turn, see ``inner_gradients``: what one of them
        keeps for its weights then makes room for the next.
        """
        self.together = True
        try:
            self.calcInputGradients(prev, second)
            self.train_weights(prev, second, optimizer)
        finally:
            self.together = False

    def train_weights(
        self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None, optimizer: Any = None
    ) -> None:
        """calcWeightGradients or, with an ``optimizer``, updateInputWeights."""
        if optimizer is None:
            self.calcWeightGradients(prev, second)
        else:
            self.updateInputWeights(prev, optimizer, second)

    def updateInputWeights(
        self, prev: CNeuronBaseOCL, optimizer: Any, second: CNeuronBaseOCL | None = None
    ) -> None:
        """One training step of this layer's weights: gradients, then the optimiser."""
        self.calcWeightGradients(prev, second)
        if any(not p.slow for p in self.parameters):
            optimizer.update(self.span)

    def inner_gradients(
        self, made: CNeuronBaseOCL, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None
    ) -> None:
        """calcInputGradients of an inner layer; inside back_propagate its weights' gradients too."""
        if self.together:
            made.back_propagate(prev, second)
        else:
            made.calcInputGradients(prev, second)

    def inner_weights(
        self, made: CNeuronBaseOCL, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None
    ) -> None:
        """calcWeightGradients of an inner layer, if ``inner_gradients`` has left them."""
        if not self.together:
            made.calcWeightGradients(prev, second)

    # --- spec ------------------------------------------------------------------------

    def spec(self) -> dict[str, Any]:
        """The declaration as plain JSON data."""
        return to_spec(self)


@dataclass_transform(kw_only_default=True)
def layer(cls: type[T]) -> type[T]:
    """Make ``cls`` a declared layer: its fields become the spec, its name the key in files."""
    made = dataclasses.dataclass(kw_only=True, eq=False)(cls)
    LAYERS[made.__name__] = made
    return made


def layer_from_spec(spec: dict[str, Any]) -> CNeuronBaseOCL:
    """The layer that a spec describes; SpecError when its class, version or a field is unknown."""
    made: CNeuronBaseOCL = from_spec(LAYERS, spec, "layer")
    return made
