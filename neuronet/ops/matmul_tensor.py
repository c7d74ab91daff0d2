"""Which kernel multiplies matrices on tensor cores. Kernels: kernels/matmul_tensor.cl; see matmul_gpu.py."""

from __future__ import annotations

from neuronet.device.base import Precision

BUSY = 200  # work-groups, from which on a large GPU has enough to do
WIDE, TF32 = (128, 64), (128, 128)  # results of a work-group, down and across


def kernel_for(variables: int, rows: int, cols: int, *, precision: Precision) -> str:
    """The kernel with the largest tiles that keep the card busy and are not mostly empty across."""

    def fits(tall: int, wide: int) -> bool:
        return variables * -(-rows // tall) * -(-cols // wide) >= BUSY and 2 * cols > wide

    if precision == "tf32" and fits(*TF32):
        return "MatMultTF32"
    return "MatMultTensorWide" if fits(*WIDE) else "MatMultTensorNarrow"
