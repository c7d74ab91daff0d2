"""Fourier transforms along the last axis, and their adjoints. Kernels: kernels/fourier.cl and matmul.cl.

With N the length and K = N // 2 + 1 bins, a row is N real numbers [N], N pairs re, im [N, 2] or K pairs:

    fft    y[k] = sum_n x[n] exp(-2 pi i k n / N)        [N] or [N, 2] -> [N, 2]
    ifft   y[n] = sum_k x[k] exp(+2 pi i k n / N) / N            [N, 2] -> [N, 2]
    rfft   the first K of fft                                       [N] -> [K, 2]
    irfft  the real signal whose rfft is x                       [K, 2] -> [N]

Any N from 1 on. Gradients of pairs are pairs: dL/d(re), dL/d(im).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import DeviceArray, Shape
from neuronet.device.base import Device
from neuronet.errors import ShapeError, SpecError
from neuronet.ops.matmul import matmul

TRANSFORMS = ("fft", "ifft", "rfft", "irfft")
MATRIX = 256  # up to this length a product with the matrix of sines, then the fast transform
LARGEST = 31  # the largest prime factor of a length that has stages of its own


def bins(length: int) -> int:
    """K, the bins of a real signal's spectrum."""
    return length // 2 + 1


def factors(length: int) -> list[int]:
    """The radices of a length's stages: fours, then primes."""
    found, radix = [], 4
    while length > 1:
        while length % radix == 0:
            found.append(radix)
            length //= radix
        radix = 2 if radix == 4 else radix + 1 if radix == 2 else radix + 2
    return found


class Plan:
    """Tables, made on the host in float64, and scratch of one transform for up to ``rows`` rows.

    transform      "fft", "ifft", "rfft" or "irfft"
    length         N, of the signal
    complex_input  whether fft takes pairs; the others know
    matrix         the form; by default, what the length asks for
    """

    def __init__(
        self,
        device: Device,
        transform: str,
        length: int,
        rows: int,
        *,
        complex_input: bool = True,
        matrix: bool | None = None,
    ) -> None:
        if transform not in TRANSFORMS:
            raise SpecError(
                f"transform={transform!r} is unknown",
                where="ops/fourier.py",
                fix=f"choose one of {', '.join(TRANSFORMS)}",
            )
        if length < 1 or rows < 1:
            raise ShapeError(
                f"length {length} and {rows} rows: both must be positive",
                where="ops/fourier.py",
                fix="choose a length and rows of 1 or more",
            )
        self.transform, self.length, self.rows = transform, length, rows
        self.inverse = transform in ("ifft", "irfft")
        self.hermitian = transform == "irfft"
        self.scale = 1.0 / length if self.inverse else 1.0
        real_input = transform == "rfft" or (transform == "fft" and not complex_input)
        self.inputs = (bins(length) if self.hermitian else length, 1 if real_input else 2)
        self.outputs = (bins(length) if transform == "rfft" else length, 1 if self.hermitian else 2)
        self.matrix: DeviceArray | None = None
        if length <= MATRIX if matrix is None else matrix:
            table = self._matrix()
            self.matrix = device.put(table[None], name="fourier.matrix")
            self.transposed = device.put(table.T[None].copy(), name="fourier.transposed")
        else:
            self._fast(device)

    def _matrix(self) -> NDArray[np.float64]:
        """[inputs, outputs] of the linear map between rows of numbers, pairs side by side."""
        (inputs, parts), (outputs, out_parts) = self.inputs, self.outputs
        n, k = np.arange(inputs)[:, None], np.arange(outputs)
        z = roots(self.length)[n * k % self.length] * self.scale
        if self.inverse:
            z = z.conj()
        if self.hermitian:
            z = z * np.where((n > 0) & (2 * n != self.length), 2.0, 1.0)
        table = np.empty((inputs, parts, outputs, out_parts))
        for part, product in enumerate((z, 1j * z)[:parts]):
            for out_part, values in enumerate((product.real, product.imag)[:out_parts]):
                table[:, part, :, out_part] = values
        return table.reshape(inputs * parts, outputs * out_parts)

    def _fast(self, device: Device) -> None:
        n, self.padded = self.length, self.length
        chirp, self.spectrum = np.ones(n, complex), None
        if max(factors(n), default=1) > LARGEST:
            self.padded = 1 << (2 * n - 2).bit_length()
            square = np.arange(n) ** 2 % (2 * n)
            chirp = roots(2 * n)[square]
            wrapped = np.zeros(self.padded, complex)
            wrapped[:n] = chirp.conj()
            wrapped[self.padded - n + 1 :] = chirp.conj()[:0:-1]
            self.spectrum = device.put(_pairs(np.fft.fft(wrapped) / self.padded), name="fourier.spectrum")
        self.chirp = device.put(_pairs(chirp), name="fourier.chirp")
        self.roots = device.put(_pairs(roots(self.padded)), name="fourier.roots")
        shape = (self.rows, self.padded, 2)
        self.scratch = device.array(shape, name="fourier.a"), device.array(shape, name="fourier.b")


def roots(count: int) -> NDArray[np.complex128]:
    """exp(-2 pi i j / count) for all j; 1, -i, -1 and i are exact."""
    j = np.arange(count)
    z: NDArray[np.complex128] = np.exp(-2j * np.pi * j / count)
    quarters = 4 * j % count == 0
    z[quarters] = np.round(z[quarters])
    return z


def _pairs(z: NDArray[np.complex128]) -> NDArray[np.float64]:
    return np.stack([z.real, z.imag], -1)


def forward(plan: Plan, x: DeviceArray, y: DeviceArray) -> None:
    """y = the plan's transform of x, overwritten; both [rows, N] or [rows, entries, 2], rows <= plan.rows."""
    rows = _rows(plan, x, y)
    if plan.matrix is not None:
        matmul(_flat(x, rows), plan.matrix, _flat(y, rows))
    else:
        signs = {"flip": -1 if plan.inverse else 1, "scale": plan.scale}
        _transform(plan, x, y, rows, plan.inputs, plan.outputs, signs, load_hermitian=plan.hermitian)


def backward(plan: Plan, dy: DeviceArray, dx: DeviceArray) -> None:
    """dx = dL/dx from dy = dL/dy, overwritten: the exact adjoint of ``forward``."""
    rows = _rows(plan, dx, dy)
    if plan.matrix is not None:
        matmul(_flat(dy, rows), plan.transposed, _flat(dx, rows))
    else:
        signs = {"flip": 1 if plan.inverse else -1, "scale": plan.scale}
        _transform(plan, dy, dx, rows, plan.outputs, plan.inputs, signs, store_hermitian=plan.hermitian)


def _transform(
    plan: Plan,
    x: DeviceArray,
    y: DeviceArray,
    rows: int,
    inputs: Shape,
    outputs: Shape,
    signs: dict[str, Any],
    *,
    load_hermitian: bool = False,
    store_hermitian: bool = False,
) -> None:
    """Load, stages and store; there and back through the chirp where there is one."""
    kernel: Callable[[str], Callable[..., None]] = y.device.kernel
    a, b = (scratch.rows(rows) for scratch in plan.scratch)
    load = {"hermitian": int(load_hermitian), "flip": signs["flip"], "scale": 1.0}
    kernel("FourierLoad")(x=x.view(rows, *inputs), chirp=plan.chirp, y=a, **load)
    a, b = stages(plan.roots, a, b)
    if plan.spectrum is not None:
        kernel("FourierMultiply")(x=a, spectrum=plan.spectrum, y=b)
        a, b = stages(plan.roots, b, a)
    store = {"hermitian": int(store_hermitian), "back": 1 if plan.spectrum is None else -1}
    kernel("FourierStore")(x=a, chirp=plan.chirp, y=y.view(rows, *outputs), **store, **signs)


def stages(roots: DeviceArray, a: DeviceArray, b: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    """The transform of each row of a [rows, size, 2]; overwrites both and gives (result, other).

    ``roots`` [size, 2] are exp(-2 pi i j / size).
    """
    rows, size, _ = a.shape
    stride = 1
    for radix in factors(size):
        cut = (radix, size // radix, 2)
        kernel = a.device.kernel("FourierStage4" if radix == 4 else "FourierStage")
        kernel(x=a.view(rows, *cut), roots=roots.view(*cut), y=b.view(rows, *cut), stride=stride)
        a, b, stride = b, a, radix * stride
    return a, b


def _rows(plan: Plan, x: DeviceArray, y: DeviceArray) -> int:
    """How many rows x and y have; ShapeError where they are not the plan's input and output."""
    for name, array, (entries, parts) in (("x", x, plan.inputs), ("y", y, plan.outputs)):
        row = (entries,) if parts == 1 else (entries, 2)
        if array.shape[1:] != row or not 0 < array.shape[0] <= plan.rows or array.shape[0] != x.shape[0]:
            raise ShapeError(
                f"{plan.transform} of length {plan.length}: {name} has shape {list(array.shape)}, "
                f"expected [rows, {', '.join(map(str, row))}] with the same 1 to {plan.rows} rows in x and y",
                where="ops/fourier.py",
                fix="view the arrays so, or make a plan for their sizes",
            )
    return x.shape[0]


def _flat(array: DeviceArray, rows: int) -> DeviceArray:
    return array.view(1, rows, array.size // rows)
