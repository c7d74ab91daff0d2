"""ParameterPool: values, gradients and both moments of a net in four flat buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import DeviceArray
from neuronet.device.base import Device


class Parameter:
    """A trainable array. Its four device arrays exist once the pool is built."""

    def __init__(self, name: str, initial: NDArray[Any]) -> None:
        self.name, self.initial, self.shape = name, initial, initial.shape
        self.slow = False  # updated by the optimiser's slow form: see Optimizer.update_slow
        self.value: DeviceArray
        self.gradient: DeviceArray  # a backward pass adds to it; an optimiser sets it back to zero
        self.m: DeviceArray  # first moment
        self.v: DeviceArray  # second moment

    def __repr__(self) -> str:
        return f"<parameter {self.name} {list(self.shape)}>"


class Span:
    """A contiguous piece of the pool, flat: what an optimiser updates in one launch."""

    def __init__(self, pool: ParameterPool, offset: int, size: int) -> None:
        self.value = pool.values.part(offset, (size,))
        self.gradient = pool.gradients.part(offset, (size,))
        self.m = pool.m.part(offset, (size,))
        self.v = pool.v.part(offset, (size,))


class ParameterPool:
    """Flat aligned buffers; each parameter is a sub-buffer at an aligned offset.

    So Adam, norms, clipping, saving and an all-reduce are one call each. The padding between
    parameters is zero and stays zero. Slow parameters lie behind all others.
    """

    def __init__(self, device: Device, parameters: Sequence[Parameter]) -> None:
        self.device, self.parameters = device, list(parameters)
        step = max(1, device.alignment // device.dtype.itemsize)
        self._offsets: dict[int, tuple[int, int]] = {}
        total = 0
        for slow in (False, True):
            for p in self.parameters:
                if p.slow is slow:
                    size = max(1, int(np.prod(p.shape)))
                    self._offsets[id(p)] = (total, size)
                    total += -(-size // step) * step
            if not slow:
                self._fast = total
        self.size = total
        self.values = device.array((total,), name="parameters")
        self.gradients = device.array((total,), name="gradients")
        self.m = device.array((total,), name="first moments")
        self.v = device.array((total,), name="second moments")
        for p in self.parameters:
            offset, _ = self._offsets[id(p)]
            p.value = self.values.part(offset, p.shape, p.name).write(p.initial)
            p.gradient = self.gradients.part(offset, p.shape, f"{p.name}.gradient")
            p.m = self.m.part(offset, p.shape, f"{p.name}.m")
            p.v = self.v.part(offset, p.shape, f"{p.name}.v")

    @property
    def count(self) -> int:
        """Trainable numbers, without the padding."""
        return sum(int(np.prod(p.shape)) for p in self.parameters)

    def span(self, parameters: Sequence[Parameter]) -> Span:
        """The piece that holds ``parameters``, at least one and all neighbours."""
        first, _ = self._offsets[id(parameters[0])]
        last, size = self._offsets[id(parameters[-1])]
        return Span(self, first, last + size - first)

    @property
    def fast(self) -> Span:
        """All parameters but the slow ones."""
        return Span(self, 0, self._fast)

    @property
    def slow(self) -> Span | None:
        """The slow parameters, if there are any."""
        return Span(self, self._fast, self.size - self._fast) if self._fast < self.size else None
