"""Ctrl-C: the first asks the training to stop after its batch, the second ends the program at once."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Any

MESSAGE = b"\nstopping after this batch, then saving; press Ctrl-C again to end at once\n"


def _not_from_a_finalizer(problem: Any) -> None:
    """What is raised inside a finalizer is dropped and printed: the first Ctrl-C still ends the training."""
    if problem.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(problem)


class Interrupt:
    """While entered, SIGINT and SIGTERM make it return True when called; a second raises KeyboardInterrupt.

    Further ones are ignored: the program is ending, and nothing may break the removal of a temporary file.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self.asked:
            self._set(signal.SIG_IGN)
        else:
            for number, handler in self._before.items():
                signal.signal(number, handler)

    def __call__(self) -> bool:
        return self.asked

    def _set(self, handler: Any) -> None:
        for number in self._before:
            signal.signal(number, handler)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self.asked:
            self._set(signal.SIG_IGN)
            sys.unraisablehook = _not_from_a_finalizer
            raise KeyboardInterrupt
        self.asked = True
        os.write(2, MESSAGE)  # a stream's write may be what was interrupted
