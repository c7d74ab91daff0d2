"""Twins of kernels/fourier.cl: passes of the fast Fourier transform."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def _complex(pairs: A) -> A:
    """[..., 2] as complex numbers [...]; a single real part [..., 1] too."""
    made: A = pairs[..., 0] + (1j * pairs[..., 1] if pairs.shape[-1] == 2 else 0)
    return made


def _write(y: A, values: A) -> None:
    y[..., 0] = values.real
    if y.shape[-1] == 2:
        y[..., 1] = values.imag


def _turned(values: A, sign: int) -> A:
    return values if sign > 0 else np.conj(values)


def _mirrored(entries: int, length: int, hermitian: int) -> A:
    bins = np.arange(entries)
    return np.where((hermitian != 0) & (bins > 0) & (2 * bins != length), 2.0, 1.0)


def FourierLoad(*, x: A, chirp: A, y: A, hermitian: int, flip: int, scale: float) -> None:
    inputs = x.shape[1]
    factors = scale * _mirrored(inputs, len(chirp), hermitian) * _complex(chirp)[:inputs]
    y[...] = 0
    _write(y[:, :inputs], _turned(_complex(x), flip) * factors)


def FourierStage4(*, x: A, roots: A, y: A, stride: int) -> None:
    FourierStage(x=x, roots=roots, y=y, stride=stride)


def FourierStage(*, x: A, roots: A, y: A, stride: int) -> None:
    rows, radix, part, _ = x.shape
    z, j, p = _complex(roots.reshape(-1, 2)), np.arange(radix), np.arange(part) // stride * stride
    parts = np.einsum("jk,nki->nji", z[np.outer(j, j) % radix * part], _complex(x)) * z[np.outer(j, p)]
    split = parts.reshape(rows, radix, part // stride, stride)  # row, j, p, q -> row, p, j, q
    _write(y, split.swapaxes(1, 2).reshape(y.shape[:3]))


def FourierMultiply(*, x: A, spectrum: A, y: A) -> None:
    _write(y, np.conj(_complex(x) * _complex(spectrum)))


def FourierStore(*, x: A, chirp: A, y: A, hermitian: int, back: int, flip: int, scale: float) -> None:
    outputs = y.shape[1]
    factors = scale * _mirrored(outputs, len(chirp), hermitian) * _complex(chirp)[:outputs]
    _write(y, _turned(_turned(_complex(x[:, :outputs]), back) * factors, flip))
