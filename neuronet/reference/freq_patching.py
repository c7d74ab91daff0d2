"""Twins of kernels/freq_patching.cl: patches of a spectrum."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

A = NDArray[Any]


def FreqPatching(*, x: A, z: A, step: int) -> None:
    for patch in range(z.shape[1]):
        z[:, patch] = x[:, :, patch * step : patch * step + z.shape[3]]


def FreqPatchingGradient(*, dz: A, dx: A, step: int) -> None:
    dx[...] = 0
    for patch in range(dz.shape[1]):
        dx[:, :, patch * step : patch * step + dz.shape[3]] += dz[:, patch]
