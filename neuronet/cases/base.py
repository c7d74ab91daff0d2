"""Case: an op at one size, checked against its NumPy twins and timed."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.testing.compare import bound, mismatch, relative_error
from neuronet.testing.guard import Guard

Arrays = dict[str, NDArray[Any]]


class Outcome(NamedTuple):
    """What comparing an op with its twins found."""

    error: float  # the largest relative error, where the op is right
    bound: float  # the largest allowed
    problems: list[str]  # empty when the op is right


class Case:
    """A frozen dataclass whose fields are the sizes; one subclass for each op.

    ``run`` is called with device arrays under the names of ``inputs`` and ``outputs``. On a NumPy
    device in float64 it runs the twins, which gives the expected values.
    """

    op: ClassVar[str]  # as bench prints it: "conv.forward"
    changes: ClassVar[tuple[str, ...]] = ()  # inputs that the op also writes
    tensor_cores: ClassVar[bool] = False  # of kernels that other devices run in tests only

    def inputs(self, rng: np.random.Generator) -> Arrays:
        """Host values of every array that the op reads."""
        raise NotImplementedError

    def outputs(self) -> dict[str, Shape]:
        """Shapes of the float arrays that the op overwrites."""
        return {}

    def run(self, **arrays: DeviceArray) -> None:
        raise NotImplementedError

    @property
    def terms(self) -> int:
        """How many products one output sums, for the bound of ``testing.compare``."""
        return 1

    @property
    def flops(self) -> int:
        """Floating-point operations of one run, 0 where bytes are what counts."""
        return 0

    def __str__(self) -> str:
        return " ".join(f"{f.name}={getattr(self, f.name)}" for f in fields(self))  # type: ignore[arg-type]

    def examine(self, device: Device) -> Outcome:
        """Run the op on ``device`` and its twins in float64, and compare."""
        inputs = self.rounded_inputs()
        exact, guard = Guard(NumpyDevice(np.float64)), Guard(device)
        expected, actual = self._arrays(exact, inputs), self._arrays(guard, inputs)
        self.run(**expected)
        self.run(**actual)
        problems, worst = guard.overruns(), 0.0
        for name in (*self.outputs(), *self.changes):
            got, wanted = actual[name].read(), expected[name].read()
            if problem := mismatch(got, wanted, terms=self.terms, name=name):
                problems.append(problem)
            elif got.dtype.kind == "f":
                worst = max(worst, float(relative_error(got, wanted).max(initial=0.0)))
        return Outcome(worst, bound(self.terms), problems)

    def check(self, device: Device) -> None:
        """AssertionError unless the op matches its twins on ``device`` and stays inside its arrays."""
        if found := self.examine(device).problems:
            raise AssertionError(f"{self.op} {self}: " + "; ".join(found))

    def rounded_inputs(self) -> Arrays:
        """The inputs as a float32 device sees them."""
        made = self.inputs(np.random.default_rng(0))
        return {k: v.astype(np.int32 if v.dtype.kind in "iu" else np.float32) for k, v in made.items()}

    def _arrays(self, guard: Guard, inputs: Arrays) -> dict[str, DeviceArray]:
        arrays = {name: guard.array(values.shape, values, name=name) for name, values in inputs.items()}
        return arrays | {name: guard.array(shape, name=name) for name, shape in self.outputs().items()}
