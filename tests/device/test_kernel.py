from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.kernel import all_kernels, kernel_spec, read_source
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import KernelError, ShapeError

SCALE = """
// grid: n
__kernel void ScaleBy(
    __global const float *x,      // [n]
    __global const int *sign,     // [1]
    __global float *y,            // [n]
    const int times, const float factor)
{
    const int i = get_global_id(0);
    y[i] = x[i] * times * factor * sign[0];
}
"""
TWIN = """
def ScaleBy(*, x, sign, y, times, factor):
    y[...] = x * times * factor * sign[0]
"""


@pytest.fixture
def arrays(device: Device, own_kernels: Any) -> dict[str, Any]:
    own_kernels(SCALE, TWIN)
    return {
        "x": device.put([1.0, 2.0, 3.0]),
        "sign": device.put(np.array([-1])),
        "y": device.array((3,)),
        "times": 2,
        "factor": 0.5,
    }


def test_a_kernel_and_its_twin_get_the_same_arguments(device: Device, arrays: dict[str, Any]) -> None:
    device._kernels.pop("ScaleBy", None)
    device.kernel("ScaleBy")(**arrays)
    np.testing.assert_array_equal(arrays["y"].read(), [-1, -2, -3])
    device.kernel("ScaleBy")(**arrays | {"times": 4})  # another scalar, another plan
    np.testing.assert_array_equal(arrays["y"].read(), [-2, -4, -6])

    exact = NumpyDevice(np.float64)
    x, sign, y = exact.put([1.0, 2.0]), exact.put(np.array([1])), exact.array((2,))
    exact.kernel("ScaleBy")(x=x, sign=sign, y=y, times=3, factor=1)
    np.testing.assert_array_equal(y.read(), [3, 6])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": None}, "argument 'y' must be a DeviceArray, got NoneType"),
        ({"x": np.zeros(3, np.float32)}, "argument 'x' must be a DeviceArray, got ndarray"),
        ({"times": 2.5}, "argument 'times' must be int32, got 2.5"),
        ({"times": True}, "argument 'times' must be int32, got True"),
        ({"times": 2**31}, "times=2147483648 does not fit into an int"),
        ({"factor": "1"}, "argument 'factor' must be float32, got '1'"),
        ({"facto": 1.0}, "unknown argument 'facto'"),
    ],
)
def test_a_wrong_argument_is_named(
    device: Device, arrays: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(KernelError, match=f"own_cl/own.cl: ScaleBy: {message}"):
        device.kernel("ScaleBy")(**arrays | change)
    device.kernel("ScaleBy")(**arrays)  # and a right call still works
    with pytest.raises(KernelError, match=message):  # also after a plan for these shapes exists
        device.kernel("ScaleBy")(**arrays | change)


def test_a_missing_argument_is_named_with_the_whole_signature(device: Device, arrays: dict[str, Any]) -> None:
    del arrays["factor"]
    with pytest.raises(
        KernelError, match=r"missing argument 'factor'\nFix: call it with float32 x\[n\], int32 sign"
    ):
        device.kernel("ScaleBy")(**arrays)


def test_wrong_dtype_shape_and_device_are_named(device: Device, arrays: dict[str, Any]) -> None:
    scale, other = device.kernel("ScaleBy"), NumpyDevice()
    with pytest.raises(KernelError, match="argument 'sign' is float32, expected int32"):
        scale(**arrays | {"sign": device.array((1,))})
    with pytest.raises(ShapeError, match=r"argument 'y' has shape \(4,\), expected \[n\] with n=3"):
        scale(**arrays | {"y": device.array((4,))})
    scale(**arrays)
    with pytest.raises(KernelError, match=r"'y' lives on numpy float32, the kernel runs on"):
        scale(**arrays | {"y": other.array((3,))})


def test_an_empty_grid_launches_nothing(device: Device, arrays: dict[str, Any]) -> None:
    empty = device.array((0,))
    device.kernel("ScaleBy")(**arrays | {"x": empty, "y": empty})
    assert empty.read().shape == (0,)


def test_an_unknown_kernel_lists_the_known(exact: NumpyDevice) -> None:
    with pytest.raises(KernelError, match=r"no kernel 'FeedForwad'\nFix: there are: .*FeedForward"):
        exact.kernel("FeedForwad")


def test_names_are_unique_over_all_packages(own_kernels: Any) -> None:
    own_kernels(SCALE.replace("ScaleBy", "FeedForward"))
    with pytest.raises(KernelError, match=r"'FeedForward' is declared twice\nFix: rename") as error:
        all_kernels()
    assert "kernels/dense.cl" in str(error.value)
    assert "own_cl/own.cl" in str(error.value)


def test_a_kernel_without_a_twin_says_where_to_write_it(exact: NumpyDevice, own_kernels: Any) -> None:
    own_kernels("// grid: n\n__kernel void Lonely(\n    __global float *y) // [n]\n{\n}\n")
    assert kernel_spec("Lonely").where == "own_cl/own.cl: Lonely"
    with pytest.raises(KernelError, match=r"has no NumPy twin\nFix: write Lonely\(\) in own_twins/own.py"):
        exact.kernel("Lonely")(y=exact.array((2,)))


def test_shared_functions_stand_in_place_of_their_include(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines keep the numbers that they have in their own file, for the compiler's messages."""
    monkeypatch.setattr(resources, "files", lambda package: tmp_path / package)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "some.clh").write_text("float twice(float x) { return 2.0f * x; }\n", "utf-8")
    (tmp_path / "mine" / "op.cl").write_text('// a comment\n#include "some.clh"\nfloat last;\n', "utf-8")
    assert read_source("mine", "op.cl").split("\n") == [
        "// a comment",
        "#line 1",
        "float twice(float x) { return 2.0f * x; }",
        "#line 3",
        "float last;",
        "",
    ]
