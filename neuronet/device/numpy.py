"""NumpyDevice: kernels run as their NumPy twins, in float32 or float64."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device
from neuronet.device.kernel import Launch
from neuronet.errors import DeviceError, KernelError


class NumpyDevice(Device):
    """The device that every machine has: for gradient checks in float64, and prediction anywhere."""

    kind = "numpy"
    alignment = 1

    def __init__(self, dtype: Any = np.float32) -> None:
        super().__init__()
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise DeviceError(f"dtype {self.dtype} is not float32 or float64", where="NumpyDevice")
        self.name = f"numpy {self.dtype.name}"

    def check_size(self, shape: Shape, dtype: np.dtype[Any], name: str) -> None:
        pass  # what is there decides, not a limit

    def allocate(self, shape: Shape, dtype: np.dtype[Any], name: str) -> Any:
        try:
            return np.zeros(math.prod(shape), dtype)
        except MemoryError as error:
            raise DeviceError(
                f"{name or 'an array'} {list(shape)} does not fit into memory: {error}",
                where=self.name,
                fix="use a smaller batch or a shorter history",
            ) from error

    def read(self, array: DeviceArray) -> NDArray[Any]:
        self.refuse_transfer(array, "read")
        return _host(array).copy()

    def write(self, array: DeviceArray, host: NDArray[Any]) -> None:
        self.refuse_transfer(array, "write")
        _host(array)[...] = host

    def prepare_fill(self, array: DeviceArray, value: float) -> Callable[[], Any]:
        return partial(_host(array).fill, value)

    def slice(self, storage: Any, offset: int, size: int, dtype: np.dtype[Any]) -> Any:
        return storage[offset : offset + size]

    def finish(self) -> None:
        pass  # NumPy has finished when it returns

    def prepare(self, launch: Launch, *, keep: bool) -> Callable[[], Any]:
        spec = launch.spec
        twin = _twin(launch)
        arguments = {
            arg.name: value if arg.dims is None else _host(value)
            for arg, value in zip(spec.args, launch.values, strict=True)
            if arg.dims is not None or arg.name in spec.scalars
        }
        profile = self.profile

        def call() -> None:
            with np.errstate(all="ignore"):  # as on a GPU: infinities are found where losses are looked at
                twin(**arguments)

        def timed() -> None:
            assert profile is not None
            start = time.perf_counter()
            call()
            profile.add(spec.name, time.perf_counter() - start)

        return call if profile is None else timed


def _host(array: DeviceArray) -> NDArray[Any]:
    view: NDArray[Any] = array.storage[: array.size].reshape(array.shape)
    return view


def _twin(launch: Launch) -> Callable[..., None]:
    spec = launch.spec
    module = import_module(f"{spec.reference}.{spec.stem}")
    try:
        twin: Callable[..., None] = getattr(module, spec.name)
    except AttributeError:
        raise KernelError(
            "has no NumPy twin",
            where=spec.where,
            fix=f"write {spec.name}() in {spec.reference}/{spec.stem}.py",
        ) from None
    return twin
