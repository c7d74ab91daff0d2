"""Sharing: arrays that are not needed at the same time lie in the same memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType

from neuronet.device.array import DeviceArray, Memory
from neuronet.device.base import Device

Span = tuple[int, int]  # first and last launch that touches a memory


class Uses:
    """Inside ``with uses:`` launches are not run; which memory each of them touches is noted."""

    def __init__(self, device: Device) -> None:
        self.device, self.spans = device, dict[Memory, Span]()
        self._count = 0

    def note(self, touched: Iterable[Memory]) -> None:
        """One launch."""
        for memory in touched:
            first, _ = self.spans.get(memory, (self._count, 0))
            self.spans[memory] = first, self._count
        self._count += 1

    def __enter__(self) -> Uses:
        self.device.uses = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.device.uses = None


@dataclass
class _Place:
    """Memory as large as ``array``, the first to lie there, and when it is taken."""

    array: DeviceArray
    taken: list[Span]

    def is_free(self, array: DeviceArray, span: Span) -> bool:
        """Whether ``array`` of at most this size may lie here from its first to its last use."""
        start, end = span
        return self.array.dtype == array.dtype and all(
            end < first or start > last for first, last in self.taken
        )


@contextmanager
def shared(arrays: Sequence[DeviceArray], uses: Uses) -> Iterator[None]:
    """Meanwhile those of ``arrays``, whole ones, that are nowhere yet share memory where no launch needs two.

    ``uses`` are the launches of one round; each round has to write what it reads, and nothing of it may be
    needed in the next. Behind it the arrays are nowhere again, until they are used.
    """
    moving: dict[Memory, DeviceArray] = {}  # the largest view of each, large ones first
    for array in sorted(arrays, key=lambda a: -a.size):
        if not array.memory.is_there and array.memory in uses.spans:
            moving.setdefault(array.memory, array)
    places: list[_Place] = []
    place_of: dict[Memory, _Place] = {}
    for memory, array in moving.items():
        span = uses.spans[memory]
        place = next((p for p in places if p.is_free(array, span)), None)
        if place is None:
            place = _Place(array, [])
            places.append(place)
        place.taken.append(span)
        place_of[memory] = place
    try:
        for place in places:
            array = place.array
            handle = array.device.allocate(array.shape, array.dtype, f"shared by {array.name}")
            for memory in (m for m, p in place_of.items() if p is place):
                memory.lend(handle)
        yield
    finally:
        for memory in place_of:
            memory.lend(None)
