"""Device: what OpenCLDevice and NumpyDevice have in common."""

from __future__ import annotations

import atexit
import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import DeviceArray, Memory, Shape
from neuronet.device.kernel import Kernel, Launch, kernel_spec
from neuronet.device.profile import Profile
from neuronet.errors import DeviceError, KernelError

if TYPE_CHECKING:
    from neuronet.device.sharing import Uses
    from neuronet.device.tape import Tape

log = logging.getLogger(__name__)

Precision = Literal["float32", "tf32"]


class Device(ABC):
    """Memory and kernels of one device. ``kind`` is "gpu", "cpu", "accelerator" or "numpy"."""

    name: str
    kind: str
    dtype: np.dtype[Any]  # of floating-point arrays: float32, or float64 on a NumPy device
    alignment: int  # sub-arrays start at multiples of this many bytes
    tensor_cores = False  # whether it has NVIDIA's, which multiply TF32 numbers
    precision: Precision = "float32"  # of large products of matrices

    def __init__(self) -> None:
        self.profile: Profile | None = Profile() if Profile.wanted() else None
        if self.profile is not None:
            atexit.register(self._log_profile, self.profile)
        self.tape: Tape | None = None
        self.uses: Uses | None = None
        self._kernels: dict[str, Kernel] = {}
        self._scratch: DeviceArray | None = None

    def use(self, precision: Precision) -> None:
        """Multiply large matrices in this precision from now on; tapes recorded before keep theirs."""
        if precision not in get_args(Precision):
            allowed = " or ".join(map(repr, get_args(Precision)))
            raise DeviceError(f"there is no precision {precision!r}", where=self.name, fix=f"use {allowed}")
        if precision == "tf32" and not self.tensor_cores:
            raise DeviceError(
                "precision 'tf32' needs an NVIDIA GPU with tensor cores, of compute capability 8.0 or later",
                where=self.name,
                fix="leave the precision away, which is 'float32'",
            )
        self.precision = precision

    def _log_profile(self, profile: Profile) -> None:
        if profile.rows():
            log.warning("time per kernel on %s:\n%s", self.name, profile.table())

    # --- arrays ----------------------------------------------------------------------

    def array(
        self, shape: Shape, dtype: Any = None, *, name: str = "", at_first_use: bool = False
    ) -> DeviceArray:
        """A new array of zeros; floating point unless ``dtype`` is np.int32.

        ``at_first_use`` leaves taking the memory to whoever reads, writes or launches it first.
        """
        dtype = np.dtype(dtype or self.dtype)
        self.check_size(shape, dtype, name)
        allocate = partial(self.allocate, shape, dtype, name)
        memory = Memory(allocate=allocate) if at_first_use else Memory(allocate())
        return DeviceArray(self, shape, dtype, memory, name)

    def scratch(self, shape: Shape) -> DeviceArray:
        """Memory for what one launch passes to the next; valid until the next call. Holds anything."""
        size = math.prod(shape)
        if self._scratch is None or self._scratch.size < size:
            self._scratch = self.array((size,), name="scratch")
        return self._scratch.part(0, shape, "scratch")

    def put(self, values: Any, *, name: str = "") -> DeviceArray:
        """Host values as a new array; integers become int32, all else floating point."""
        host = np.asarray(values)
        dtype = np.dtype(np.int32) if host.dtype.kind in "iu" else self.dtype
        return self.array(host.shape, dtype, name=name).write(host)

    @abstractmethod
    def check_size(self, shape: Shape, dtype: np.dtype[Any], name: str) -> None:
        """DeviceError when the device cannot have an array of this size at all."""

    @abstractmethod
    def allocate(self, shape: Shape, dtype: np.dtype[Any], name: str) -> Any: ...

    @abstractmethod
    def read(self, array: DeviceArray) -> NDArray[Any]: ...

    @abstractmethod
    def write(self, array: DeviceArray, host: NDArray[Any]) -> None: ...

    def fill(self, array: DeviceArray, value: float) -> None:
        if array.size:
            self._run([array.memory], lambda: self.prepare_fill(array, value))

    @abstractmethod
    def prepare_fill(self, array: DeviceArray, value: float) -> Callable[[], Any]:
        """A call that writes ``value`` into all of ``array``, and stays valid."""

    @abstractmethod
    def slice(self, storage: Any, offset: int, size: int, dtype: np.dtype[Any]) -> Any: ...

    @abstractmethod
    def finish(self) -> None:
        """Wait until every launch so far is done."""

    # --- kernels ---------------------------------------------------------------------

    def kernel(self, name: str) -> Kernel:
        """The kernel ``name`` of any ``kernels/*.cl``; built on first use, then kept."""
        found = self._kernels.get(name)
        if found is None:
            found = self._kernels[name] = Kernel(kernel_spec(name), self)
        return found

    @abstractmethod
    def prepare(self, launch: Launch, *, keep: bool) -> Callable[[], Any]:
        """A call that runs ``launch``. With ``keep`` it must stay valid for ever (a tape holds it)."""

    def run(self, launch: Launch) -> None:
        """Run a checked launch now, and record it when a tape is listening; only note it for ``Uses``."""
        touched = (v.memory for v in launch.values if isinstance(v, DeviceArray))
        self._run(touched, lambda: self.prepare(launch, keep=self.tape is not None))

    def _run(self, touched: Iterable[Memory], prepare: Callable[[], Callable[[], Any]]) -> None:
        if self.uses is not None:
            self.uses.note(touched)
            return
        call = prepare()
        call()
        if self.tape is not None:
            self.tape.append(call)

    def refuse_transfer(self, array: DeviceArray, verb: str) -> None:
        """Transfers to or from the host cannot be replayed, so they may not happen while recording."""
        if self.tape is not None:
            raise KernelError(
                f"cannot {verb} {array!r} while a tape records",
                where="Tape",
                fix="move host transfers out of the recorded step",
            )
