"""Convolution of complex numbers by complex filters. Kernels: kernels/complex_conv.cl and conv.cl.

    y[n, u, f] = b[f] + sum_k w[f, k] z[n, u * step + k]

Shapes, complex numbers as pairs re, im: z and dz [batch, length, 2], w and dw [window_out, window, 2],
b and db [window_out, 2], y and dy [batch, units, window_out, 2], units = (length - window) // step + 1.
Scratch: wide and dwide [window_out, 2, window, 2], the real filters of the same map; dwide starts as zeros.
Gradients are dL/d(re), dL/d(im), and an optimiser takes both as numbers of their own.
"""

from __future__ import annotations

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray
from neuronet.ops import conv


def forward(
    z: DeviceArray, w: DeviceArray, b: DeviceArray, wide: DeviceArray, y: DeviceArray, *, step: int
) -> None:
    """y = b + sum over the window of w * z; overwrites wide."""
    wide.device.kernel("ComplexWeights")(w=w, wide=wide)
    bias = b.view(1, b.size)
    conv.forward(_input(z), _filters(wide), bias, _output(y), step=2 * step, activation=Activation.NONE)


def backward_input(dy: DeviceArray, wide: DeviceArray, dz: DeviceArray, *, step: int) -> None:
    """dz = conj(w) dy, overwritten, with 0 where no window reaches; wide is what ``forward`` left."""
    conv.backward_input(_output(dy), _filters(wide), _input(dz), step=2 * step)


def backward_weights(
    z: DeviceArray, dy: DeviceArray, dwide: DeviceArray, dw: DeviceArray, db: DeviceArray, *, step: int
) -> None:
    """Add conj(z) dy to dw and the sum of dy to db; leaves zeros in dwide."""
    bias = db.view(1, db.size)
    conv.backward_weights(_input(z), _output(dy), _filters(dwide), bias, step=2 * step)
    dw.device.kernel("ComplexWeightGradient")(dwide=dwide, dw=dw)


def _input(z: DeviceArray) -> DeviceArray:
    return z.view(z.shape[0], 1, z.shape[1] * 2)


def _filters(wide: DeviceArray) -> DeviceArray:
    return wide.view(1, wide.shape[0] * 2, wide.shape[2] * 2)


def _output(y: DeviceArray) -> DeviceArray:
    return y.view(y.shape[0], 1, y.shape[1], y.shape[2] * 2)
