from __future__ import annotations

import pytest

from neuronet.cases.base import Case
from neuronet.cases.matmul_gpu import SMALL, WHOLE
from neuronet.device.base import Device, Precision
from neuronet.device.find import find_device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DeviceError
from neuronet.ops import matmul, matmul_gpu
from neuronet.ops.forms import forced_form

CASES = [(kernel, case) for kernel in ("MatMultWide", "MatMultNarrow") for case in WHOLE]
CASES += [("MatMultRagged", case) for case in SMALL]


@pytest.mark.parametrize(("kernel", "case"), CASES, ids=lambda value: str(value))
def test_matches_the_twin(device: Device, case: Case, kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul_gpu, "kernel_for", lambda *sizes, **how: kernel)
    case.check(device)


class Card(NumpyDevice):
    """Stands for a GPU."""

    def __init__(self, *, tensor_cores: bool, precision: Precision = "float32") -> None:
        super().__init__()
        self.tensor_cores = tensor_cores
        self.use(precision)


@pytest.mark.parametrize(
    ("card", "kernels"),
    [
        (Card(tensor_cores=False), ["Wide", "Narrow", "Narrow", "Ragged"]),
        (Card(tensor_cores=True), ["TensorNarrow", "TensorNarrow", "TensorNarrow", "Ragged"]),
    ],
    ids=["plain", "tensor cores"],
)
def test_large_tiles_are_for_products_that_fill_them_and_the_card(card: Device, kernels: list[str]) -> None:
    sizes = [(1, 1024, 1024), (1, 768, 768), (1, 13376, 32)]
    found = [matmul_gpu.kernel_for(*size, device=card) for size in sizes]
    found.append(matmul_gpu.kernel_for(1, 1024, 1023, device=card, whole=False))
    assert found == [f"MatMult{kernel}" for kernel in kernels]


def test_a_device_rounds_to_tf32_only_if_asked() -> None:
    exact, fast = Card(tensor_cores=True), Card(tensor_cores=True, precision="tf32")
    sizes = [(1, 2048, 2048), (1, 8192, 256), (1, 1024, 1024), (1, 99999, 32)]
    wide, narrow = "MatMultTensorWide", "MatMultTensorNarrow"
    assert [matmul_gpu.kernel_for(*size, device=exact) for size in sizes] == [wide, wide, narrow, narrow]
    rounding = [matmul_gpu.kernel_for(*size, device=fast) for size in sizes]
    assert rounding == ["MatMultTF32", wide, narrow, narrow]


def test_a_precision_that_the_device_has_not_is_refused() -> None:
    with pytest.raises(DeviceError, match="'tf32' needs an NVIDIA GPU with tensor cores"):
        find_device("numpy", precision="tf32")
    with pytest.raises(DeviceError, match=r"no precision 'fp16'.*\n.*use 'float32' or 'tf32'"):
        find_device("numpy", precision="fp16")  # type: ignore[arg-type]


def test_rows_that_are_no_multiple_of_four_have_a_kernel_of_their_own(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    monkeypatch.setattr(
        matmul_gpu, "kernel_for", lambda *sizes, whole, **_: seen.append(whole) or "MatMultRagged"
    )
    for rows, dimension, cols in ((3, 4, 8), (3, 5, 8), (3, 4, 6)):
        shapes = (1, rows, dimension), (1, dimension, cols), (1, rows, cols)
        matmul_gpu.matmul(*(device.array(shape) for shape in shapes))
    assert seen == [True, False, False]


def test_only_a_gpu_takes_it(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(matmul_gpu, "matmul", lambda *arrays: seen.append(arrays))
    arrays = [device.array(shape) for shape in ((2, 3, 4), (2, 4, 5), (2, 3, 5))]
    with forced_form("CPU"):
        matmul.matmul(*arrays)
    assert not seen
    with forced_form("GPU"):
        matmul.matmul(*arrays)
    assert len(seen) == (0 if device.kind == "numpy" else 1)
