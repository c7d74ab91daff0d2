from __future__ import annotations

import pytest

from neuronet.cases.base import Case
from neuronet.cases.matmul_gpu import SMALL
from neuronet.device.base import Device
from neuronet.ops import matmul, matmul_gpu
from neuronet.ops.forms import forced_form

KERNELS = "MatMultWide", "MatMultNarrow"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.op} {case}")
def test_matches_the_twin(device: Device, case: Case, kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul_gpu, "kernel_for", lambda *sizes: kernel)
    case.check(device)


def test_large_tiles_are_for_products_that_fill_them_and_the_card() -> None:
    kernels = [matmul_gpu.kernel_for(*sizes) for sizes in [(1, 1024, 1024), (1, 768, 768), (1, 13376, 32)]]
    assert kernels == ["MatMultWide", "MatMultNarrow", "MatMultNarrow"]


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
