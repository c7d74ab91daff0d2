"""Twin of kernels/step.cl."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


def NextStep(*, table: NDArray[Any], hyper: NDArray[Any], step: NDArray[Any]) -> None:
    step[0] += 1
    step[1] += 1
    hyper[: table.shape[1]] = table[step[1]]


def NextBatch(*, step: NDArray[Any]) -> None:
    step[1] += 1
