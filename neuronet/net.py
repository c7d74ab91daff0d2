"""CNet: a stack of layers on a device, with its loss and its optimiser."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.declared import to_spec
from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device
from neuronet.device.find import find_device
from neuronet.device.pool import ParameterPool
from neuronet.device.sharing import Uses, shared
from neuronet.device.tape import Tape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import Build, CNeuronBaseOCL, layer_from_spec
from neuronet.layers.input import CNeuronInputOCL
from neuronet.layers.port import CNeuronPort
from neuronet.losses.base import Loss, make_loss
from neuronet.ops import elementwise
from neuronet.ops import loss as loss_op
from neuronet.optim.adam import Adam
from neuronet.optim.base import Optimizer, optimizer_from_spec
from neuronet.storage.hdf5 import read_model, write_model
from neuronet.storage.model import ModelFile
from neuronet.storage.weights import named_arrays, write_arrays

Array = NDArray[Any]
Pass = Callable[[CNeuronBaseOCL, CNeuronBaseOCL, CNeuronBaseOCL | None], None]  # layer, previous, second


class CNet:
    """A net: declared by its constructor, alive after ``build``.

        net = CNet(input_shape=(120, 9), layers=[...], batch=64, loss="mse", optimizer=Adam(lr=1e-3))
        net.build(find_device(), seed=0)
        net.feedForward(x)          # x [n <= batch, 120, 9]
        net.backProp(target)        # gradients, then one step of the optimiser

    input_shape, second_shape  of one sample of the first and the second input (None: no second input)
    batch                      most samples in one pass; layers may need more than one (batch norm)
    """

    def __init__(
        self,
        *,
        input_shape: Sequence[int],
        layers: Sequence[CNeuronBaseOCL],
        batch: int = 64,
        loss: str | dict[str, Any] | Loss = "mse",
        optimizer: Optimizer | None = None,
        second_shape: Sequence[int] | None = None,
    ) -> None:
        if batch < 1:
            raise SpecError(f"batch={batch} is not positive", where="CNet", fix="choose batch >= 1")
        if not layers:
            raise SpecError("has no layers", where="CNet", fix="give at least one layer")
        self.input_shape: Shape = tuple(map(int, input_shape))
        self.second_shape: Shape | None = None if second_shape is None else tuple(map(int, second_shape))
        self.layers = list(layers)
        self.batch, self.loss, self.optimizer = batch, make_loss(loss), optimizer or Adam()
        self.builder: dict[str, Any] | None = None  # the declaration of the model that made this net
        self.split_updates = False  # True: always gradients first, then one update of the whole pool
        if self.second_shape is None:
            for i, layer in enumerate(self.layers):
                if layer.takes_second:
                    where = f"layer {i} ({type(layer).__name__})"
                    fix = "give CNet a second_shape, and feedForward a second array"
                    raise SpecError("takes a second input, the net has none", where=where, fix=fix)

    # --- building --------------------------------------------------------------------

    def build(self, device: Device | None = None, *, seed: int = 0) -> CNet:
        """Allocate everything on ``device`` and draw the initial weights from ``seed``."""
        self.device = device or find_device()
        self.rows, self.training, self.steps = self.batch, True, 0
        self.revision = 0  # counts what changed the weights and was no training step
        self._tapes: dict[Hashable, Tape] = {}
        self._gradients_used = False
        self.step = self.device.array((4,), np.int32, name="step").write([0, -1, -1, 0])
        rng = np.random.default_rng(seed)
        context = self._context = Build(self.device, self.batch, rng, self.step, self.second_shape)
        self.input = CNeuronInputOCL(shape=self.input_shape)
        self.input.build(context, (), "input")
        self.second: CNeuronBaseOCL | None = None
        if self.second_shape is not None:
            self.second = CNeuronInputOCL(shape=self.second_shape)
            self.second.build(context, (), "second input")
        self._port: CNeuronPort | None = None  # see _port_of
        for i, layer in enumerate(self.layers):
            layer.connect(i, self.layers)
        shape = self.input_shape
        for i, layer in enumerate(self.layers):
            shape = layer.build(context, shape, str(i))
        self.output_shape = shape
        self.pool = ParameterPool(self.device, [p for layer in self.layers for p in layer.parameters])
        for layer in self.layers:
            if fast := [p for p in layer.parameters if not p.slow]:
                layer.span = self.pool.span(fast)
        self.target_shape = self.loss.target_shape(shape)
        target = (self.batch, *self.target_shape)
        self.target = self.device.array(target, self.loss.target_dtype(self.device), name="target")
        self.loss_value = self.device.array((2,), name="loss")  # [0] sum over samples, [1] last mean
        self._table = self.device.array((1, self.optimizer.columns), name="rates")
        self.loss.bind(self.device)
        self.optimizer.bind(self.device)
        return self

    # --- one pass --------------------------------------------------------------------

    def feedForward(self, x: Any, second: Any = None) -> None:
        """Run ``x`` [n <= batch, *input_shape] through all layers, in the mode of ``TrainMode``."""
        host = self._checked(x, self.input_shape, "x")
        self.check_second(second is not None)
        if self.second_shape is not None:
            other = self._checked(second, self.second_shape, "second")
            if len(other) != len(host):
                raise ShapeError(f"x has {len(host)} rows, second has {len(other)}", where="CNet")
        self.set_rows(len(host))
        self.input.output.write(host)
        if self.second is not None:
            self.second.output.write(other)
        self.run("forward", self.forward)

    def getResults(self) -> Array:
        """The output of the last pass, [n, *output_shape]."""
        return self.layers[-1].output.read()

    def calcGradients(self, target: Any) -> float:
        """Loss of the last pass and every gradient, without an update. Returns the mean loss."""
        self._take_target(target)
        if self._gradients_used or self.pool.slow is not None:
            self.pool.gradients.fill(0.0)
        self._gradients_used = True
        return self._add_gradients()

    def backProp(self, target: Any) -> float:
        """Gradients, then one step of the optimiser. Returns the mean loss before the step."""
        self._take_target(target)
        self.clear_gradients()
        self._table.write(self.optimizer.rates(self.steps)[None])
        self.step.write([self.steps, -1, -1, 0])
        self.optimizer.next_step(self._table, self.step)
        mean = self._add_gradients(step_slow=True)
        self._update_pool()
        self.steps += 1
        return mean

    def _take_target(self, target: Any) -> None:
        host, wanted = np.asarray(target), (self.rows, *self.target_shape)
        if host.shape != wanted:
            raise ShapeError(f"target has shape {host.shape}, expected {wanted}", where="CNet")
        self.target.rows(self.rows).write(host)

    def _add_gradients(self, *, step_slow: bool = False) -> float:
        """On top of what is there: slow parameters add up over steps."""

        def launches() -> None:
            self.apply_loss(self.target.rows(self.rows))
            self._gradients(step_slow=step_slow)

        self.run(("gradients", step_slow), launches)
        return float(self.loss_value.read()[1])

    def clear_gradients(self) -> None:
        """Set to zero what ``calcGradients`` has left: a step begins there."""
        if self._gradients_used:
            self.pool.gradients.fill(0.0)
            self._gradients_used = False

    def predict(self, x: Any, second: Any = None) -> Array:
        """Outputs [n, *output_shape] for any number of rows, in evaluation mode."""
        host = self._checked(x, self.input_shape, "x", limit=False)
        training, results = self.training, []
        self.TrainMode(False)
        try:
            for i in range(0, len(host), self.batch):
                part = slice(i, i + self.batch)
                self.feedForward(host[part], None if second is None else second[part])
                results.append(self.getResults())
        finally:
            self.TrainMode(training)
        return np.concatenate(results) if results else np.empty((0, *self.output_shape), self.device.dtype)

    def TrainMode(self, flag: bool) -> None:
        """Training or evaluation for the passes that follow. Evaluation changes no state."""
        self.training = flag
        for layer in self.layers:
            layer.TrainMode(flag)

    # --- launches, for ``fit`` and tapes ------------------------------------------------

    def run(self, key: Hashable, work: Callable[[], None], tapes: dict[Hashable, Tape] | None = None) -> None:
        """Run launches: the first time in this mode and batch size checked, from then on replayed."""
        if not Tape.enabled():
            work()
            return
        kept = self._tapes if tapes is None else tapes
        full_key = (key, self.training, self.rows)
        if full_key in kept:
            kept[full_key].replay()
            return
        with Tape(self.device) as tape:
            work()
        kept[full_key] = tape

    def set_rows(self, rows: int) -> None:
        """Work on the first ``rows`` samples of every buffer."""
        if rows != self.rows:
            self.rows = rows
            for layer in (self.input, *self.layers, *([self.second] if self.second else [])):
                layer.set_rows(rows)

    @property
    def pairs(self) -> list[tuple[CNeuronBaseOCL, CNeuronBaseOCL]]:
        """(previous layer, layer) from first to last."""
        return list(zip([self.input, *self.layers], self.layers, strict=False))

    def forward(self) -> None:
        for prev, layer in self.pairs:
            layer.feedForward(prev, self._second_of(layer))

    def apply_loss(self, target: DeviceArray) -> None:
        """The loss of the output plus the layers' penalties, and its gradient for the last layer."""
        last = self.layers[-1]
        counters = self.loss_value, self.optimizer.hyper, self.step
        self.loss.apply(last.output, target, last.gradient, *counters)
        for layer in self.layers:
            if layer.penalty is not None:
                loss_op.add_penalty(layer.penalty, *counters)

    def backward(self) -> None:
        """dL/d(output) of every layer, from last to first; no weight changes."""
        self._backward(lambda layer, prev, second: layer.calcInputGradients(prev, second))

    def descend(self) -> None:
        """The backward pass and one step of the optimiser, from parameter gradients of zero to such again."""
        # the layers' own kernels may do the step where nothing else needs the gradients
        fused = self.optimizer.fused and self.optimizer.clip_norm is None and not self.split_updates
        self._gradients(self.optimizer if fused else None, step_slow=True)
        self._update_pool(fast=not fused)

    def _gradients(self, optimizer: Optimizer | None = None, *, step_slow: bool = False) -> None:
        """Of inputs and of weights, or in place of the latter a step of ``optimizer``, layer by layer."""
        slow = self.pool.slow
        if slow is None or not self.optimizer.slow_first:
            self._backward(lambda layer, prev, second: layer.back_propagate(prev, second, optimizer))
            return
        self.backward()  # always all of it first: ``sharing`` counts on one order of launches
        if step_slow:  # before this pass adds to their gradients
            self.optimizer.update_slow(slow)
        for prev, layer in reversed(self.pairs):
            layer.train_weights(prev, self._second_of(layer), optimizer)

    @contextmanager
    def sharing(self) -> Iterator[None]:
        """Meanwhile what only lives in a backward pass shares memory, which takes half of it or less.

        ``fit`` trains so. Inside, a layer's ``gradient`` is overwritten as soon as the pass has done with
        it; behind it each layer has its own again.
        """
        rows, training = self.rows, self.training
        try:
            self.set_rows(self.batch)
            self.TrainMode(True)
            with Uses(self.device) as uses:
                self.optimizer.next_step(self._table, self.step)
                self.forward()
                self.apply_loss(self.target)
                self.descend()
        finally:
            self.set_rows(rows)
            self.TrainMode(training)
        with shared(self.brief, uses):
            try:
                yield
            finally:  # what was recorded inside writes into memory that is no layer's any more
                self._tapes.clear()

    @property
    def brief(self) -> list[DeviceArray]:
        """What only lives in a backward pass, but for the gradients of the inputs: see ``sharing``."""
        inputs = [layer.gradient.memory for layer in (self.input, self.second) if layer is not None]
        return [a for a in self._context.brief if a.memory not in inputs]

    def _backward(self, work: Pass) -> None:
        """``work``, which writes the gradients of a layer's inputs, for each layer from last to first."""
        second, written = self.second, False
        for prev, layer in reversed(self.pairs):
            if second is None or not layer.takes_second:
                work(layer, prev, None)
            elif not (written and second.needs_gradient):
                work(layer, prev, second)
                written = True
            else:  # a layer overwrites the gradient of its second input: one further down needs its own
                port = self._port_of(second)
                work(layer, prev, port)
                elementwise.add(second.gradient, port.gradient, second.gradient)

    def _update_pool(self, *, fast: bool = True) -> None:
        if fast:
            self.optimizer.clip(self.pool.fast.gradient)
            self.optimizer.update(self.pool.fast)
        if (slow := self.pool.slow) is not None and not self.optimizer.slow_first:
            self.optimizer.update_slow(slow)

    def check_second(self, given: bool) -> None:
        """ShapeError unless a second input is given exactly where the net has one: none is dropped."""
        if given and self.second_shape is None:
            fix = "leave the second array out, or give CNet a second_shape"
            raise ShapeError("the net has no second input", where="CNet", fix=fix)
        if not given and self.second_shape is not None:
            raise ShapeError("the net has a second input", where="CNet", fix="give a second array too")

    def _port_of(self, second: CNeuronBaseOCL) -> CNeuronPort:
        """A stand-in for the second input, with a gradient of its own; most nets need none."""
        if self._port is None:
            self._port = CNeuronPort()
            self._port.build(self._context, self.second_shape or (), "second input")
        self._port.set_rows(self.rows)
        self._port.output = second.output
        return self._port

    def _second_of(self, layer: CNeuronBaseOCL) -> CNeuronBaseOCL | None:
        return self.second if layer.takes_second else None

    def _checked(self, values: Any, shape: Shape, name: str, *, limit: bool = True) -> Array:
        host = np.asarray(values)
        if host.ndim == 0 or host.shape[1:] != shape or not len(host):
            what = f"{name} has shape {host.shape}, expected [n, {', '.join(map(str, shape))}] with n >= 1"
            raise ShapeError(what, where="CNet")
        if limit and len(host) > self.batch:
            what = f"{name} has {len(host)} rows, the net takes {self.batch}"
            raise ShapeError(what, where="CNet", fix="use predict(), or build the net with a larger batch")
        return host

    # --- saving ----------------------------------------------------------------------

    def spec(self) -> dict[str, Any]:
        """The declaration as plain JSON data: what ``/spec`` of a model file holds."""
        return {
            "input_shape": list(self.input_shape),
            "second_shape": None if self.second_shape is None else list(self.second_shape),
            "batch": self.batch,
            "loss": to_spec(self.loss),
            "optimizer": to_spec(self.optimizer),
            "layers": [layer.spec() for layer in self.layers],
            **({} if self.builder is None else {"builder": self.builder}),
        }

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> CNet:
        """The net that ``spec`` declares, not built yet. SpecError when it cannot be."""
        known = {"input_shape", "second_shape", "batch", "loss", "optimizer", "layers", "builder"}
        if unknown := sorted(spec.keys() - known):
            what = f"unknown key {', '.join(map(repr, unknown))}"
            raise SpecError(what, where="net", fix=f"use {sorted(known)}")
        if missing := sorted({"input_shape", "layers"} - spec.keys()):
            raise SpecError(f"missing key {', '.join(map(repr, missing))}", where="net")
        rest = {key: spec[key] for key in ("batch", "loss", "second_shape") if spec.get(key) is not None}
        if spec.get("optimizer"):
            rest["optimizer"] = optimizer_from_spec(spec["optimizer"])
        layers = [layer_from_spec(dict(item)) for item in spec["layers"]]
        net = cls(input_shape=spec["input_shape"], layers=layers, **rest)
        net.builder = spec.get("builder")
        return net

    def arrays(self) -> dict[str, Array]:
        """Host copies of parameters, state and moments under the paths that they have in a file."""
        step = {"optimizer/step": np.array([self.steps], np.int64)}
        return {name: array.read() for name, array in named_arrays(self.layers).items()} | step

    def set_arrays(self, arrays: dict[str, Array], where: str = "CNet") -> None:
        """Write back what ``arrays()`` gave. Moments may be missing; FileFormatError for anything else."""
        self.clear_gradients()  # later it would take the slow ones that are written here
        write_arrays(named_arrays(self.layers), arrays, where)
        self.steps = int(arrays.get("optimizer/step", [0])[0])
        self.step.write([self.steps, -1, -1, 0])
        self.revision += 1

    def save(self, path: str | Path) -> None:
        """Write declaration, weights, state and moments as HDF5; the file is replaced whole or not at all."""
        write_model(path, ModelFile(spec=self.spec(), arrays=self.arrays(), training={}, bars={}))

    @classmethod
    def load(cls, path: str | Path, device: Device | None = None) -> CNet:
        """The net that ``save`` wrote, built on ``device``, in evaluation mode."""
        return cls.from_file(read_model(path), device, where=str(path))

    @classmethod
    def from_file(cls, model: ModelFile, device: Device | None = None, *, where: str = "model file") -> CNet:
        net = cls.from_spec(model.spec).build(device)
        net.set_arrays(model.arrays, where)
        net.TrainMode(False)
        return net
