"""Twins of kernels/concatenate.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

A = NDArray[Any]


def ConcatenateBuffers(*, input1: A, input2: A, output: A) -> None:
    np.concatenate((input1, input2), axis=1, out=output)


def DeconcatenateBuffers(*, input: A, output1: A, output2: A) -> None:
    output1[...], output2[...] = np.split(input, [output1.shape[1]], axis=1)


def DeconcatenateOne(*, input: A, output: A, offset: int) -> None:
    output[...] = input[:, offset : offset + output.shape[1]]


def PadBuffer(*, input: A, output: A) -> None:
    zeros = output.shape[1] - input.shape[1]
    output[:, :zeros] = 0.0
    output[:, zeros:] = input
