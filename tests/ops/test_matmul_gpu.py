from __future__ import annotations

import pytest

from neuronet.cases.base import Case
from neuronet.cases.matmul_gpu import SMALL, WHOLE
from neuronet.device.base import Device
from neuronet.ops import matmul, matmul_gpu
from neuronet.ops.forms import forced_form

CASES = [(kernel, case) for kernel in ("MatMultWide", "MatMultNarrow") for case in WHOLE]
CASES += [("MatMultRagged", case) for case in SMALL]


@pytest.mark.parametrize(("kernel", "case"), CASES, ids=lambda value: str(value))
def test_matches_the_twin(device: Device, case: Case, kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul_gpu, "kernel_for", lambda *sizes, whole: kernel)
    case.check(device)


def test_large_tiles_are_for_products_that_fill_them_and_the_card() -> None:
    kernels = [matmul_gpu.kernel_for(*sizes) for sizes in [(1, 1024, 1024), (1, 768, 768), (1, 13376, 32)]]
    assert kernels == ["MatMultWide", "MatMultNarrow", "MatMultNarrow"]
    assert matmul_gpu.kernel_for(1, 1024, 1023, whole=False) == "MatMultRagged"


def test_rows_that_are_no_multiple_of_four_have_a_kernel_of_their_own(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    monkeypatch.setattr(matmul_gpu, "kernel_for", lambda *sizes, whole: seen.append(whole) or "MatMultRagged")
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
