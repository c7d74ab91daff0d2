"""Cut spectra into patches of bins. Kernels: kernels/freq_patching.cl.

Shapes: x [rows, channels, bins, 2], z [rows, patches, channels, patch, 2], with
patches = (bins - patch) // step + 1. A bin is a pair re, im.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError
from neuronet.ops.conv import output_units as patches  # how many patches fit into so many bins

__all__ = ["backward", "forward", "patches"]


def forward(x: DeviceArray, z: DeviceArray, *, step: int) -> None:
    """z[b, l, n, p] = x[b, n, l * step + p]."""
    _check(x, z, step)
    z.device.kernel("FreqPatching")(x=x, z=z, step=step)


def backward(dz: DeviceArray, dx: DeviceArray, *, step: int) -> None:
    """dx = dL/dx from dz = dL/dz; overwritten, with 0 where no patch reaches."""
    _check(dx, dz, step)
    dx.device.kernel("FreqPatchingGradient")(dz=dz, dx=dx, step=step)


def _check(x: DeviceArray, z: DeviceArray, step: int) -> None:
    bins, patch, count = x.shape[-2], z.shape[-2], z.shape[1]
    if step < 1 or not 1 <= patch <= bins or count != patches(bins, patch, step):
        raise ShapeError(
            f"{count} patches do not go with {bins} bins, patches of {patch}, step {step}",
            where="ops/freq_patching.py",
            fix="choose 1 <= patch <= bins, step >= 1 and patches = (bins - patch) // step + 1",
        )
