"""Twins of kernels/ring.cl."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

A = NDArray[Any]


def RingAppend(*, row: A, count: A, memory: A) -> None:
    memory[:, count[0] % memory.shape[1]] = row


def RingSeen(*, count: A, limits: A, ages: A, step: float) -> None:
    capacity = ages.shape[1]
    limits[...] = 0, min(count[0] + 1, capacity)
    ages[:, count[0] % capacity] = -step * count[0]


def RingAdvance(*, count: A) -> None:
    count += 1
