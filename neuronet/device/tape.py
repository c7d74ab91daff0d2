"""Tape: the launches of one training step, recorded once and replayed without checks."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neuronet.device.base import Device


class Tape:
    """Records what a device runs inside ``with tape:``; ``replay()`` runs the same launches again.

    Buffers are fixed once a net is built, so a step is always the same list of launches with the
    same arguments. What changes from step to step lives in device arrays. Replaying costs one
    enqueue per launch: no shape checks, no Python arithmetic.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self._calls: list[Callable[[], Any]] = []

    @staticmethod
    def enabled() -> bool:
        """False under ``NEURONET_TAPE=0``: every step then runs through the checked calls."""
        return os.environ.get("NEURONET_TAPE", "1") != "0"

    def append(self, call: Callable[[], Any]) -> None:
        self._calls.append(call)

    def __enter__(self) -> Tape:
        self.device.tape = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.device.tape = None

    def __len__(self) -> int:
        return len(self._calls)

    def replay(self) -> None:
        for call in self._calls:
            call()
