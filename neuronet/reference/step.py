"""Twin of kernels/step.cl."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


def NextStep(*, table: NDArray[Any], hyper: NDArray[Any], step: NDArray[Any], rates: int) -> None:
    step[0] += 1
    step[1] += 1
    hyper[:rates] = table[step[1], :rates]


def SlowRates(*, table: NDArray[Any], hyper: NDArray[Any], step: NDArray[Any], slow: NDArray[Any]) -> None:
    slow[...] = table[step[1], -len(slow) :]
    if hyper[-1] == 0:
        slow[-1] = 0


def NextBatch(*, step: NDArray[Any]) -> None:
    step[1] += 1
