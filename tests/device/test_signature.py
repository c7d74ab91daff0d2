from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.signature import KernelSpec, parse_kernels
from neuronet.errors import KernelError, ShapeError

SOURCE = """
// Some words about the kernel.
// group: 16, 4
// grid: window_out/2, units*batch + 1
__kernel void First(
    __global const float *x,          // [batch, units, 3]
    __global float *restrict y,       // [batch, window_out]
    __global int *classes,            // [batch]
    const int units, const int window_out,
    const int step, const float rate)    // free scalars
{
}

// grid: n
__kernel void Second(__global float *y, // [n]
    const uint seed)
{
}
"""


def parse(source: str) -> list[KernelSpec]:
    return parse_kernels(source, "own.cl", "some.kernels", "some.reference")


def one(args: str = "__global float *y) // [n]", grid: str = "// grid: n") -> KernelSpec:
    return parse(f"{grid}\n__kernel void K({args}\n{{\n}}\n")[0]


def test_every_part_of_a_declaration_is_read() -> None:
    first, second = parse(SOURCE)
    assert (first.name, first.stem, first.where) == ("First", "own", "kernels/own.cl: First")
    assert [a.name for a in first.args] == ["x", "y", "classes", "units", "window_out", "step", "rate"]
    assert [a.dims for a in first.args[:3]] == [("batch", "units", "3"), ("batch", "window_out"), ("batch",)]
    assert [a.writes for a in first.args[:3]] == [False, True, True]
    assert [a.dtype.name for a in first.args] == ["float32", "float32", *["int32"] * 4, "float32"]
    assert first.scalars == ("step", "rate")
    assert (first.grid, first.group) == (("window_out/2", "units*batch + 1"), (16, 4))
    assert (second.grid, second.group, second.scalars) == (("n",), None, ("seed",))
    assert second.args[1].dtype == np.uint32


def test_sizes_come_from_shapes() -> None:
    sizes = parse(SOURCE)[0].bind({"x": (2, 5, 3), "y": (2, 7), "classes": (2,)})
    assert sizes == {"batch": 2, "units": 5, "window_out": 7}


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (
            {"y": (3, 7)},
            r"'y' has shape \(3, 7\), expected \[batch, window_out\] with batch=2 \(set ",
        ),
        ({"x": (2, 5, 4)}, r"'x' has shape \(2, 5, 4\), expected \[batch, units, 3\]"),
        ({"classes": (2, 1)}, r"'classes' has shape \(2, 1\), expected \[batch\]"),
    ],
)
def test_a_shape_that_does_not_fit_is_named(shapes: dict[str, tuple[int, ...]], message: str) -> None:
    with pytest.raises(ShapeError, match=f"kernels/own.cl: First: argument {message}"):
        parse(SOURCE)[0].bind({"x": (2, 5, 3), "y": (2, 7), "classes": (2,)} | shapes)


def test_grid_divides_rounding_up_and_is_rounded_up_to_groups() -> None:
    first, second = parse(SOURCE)
    assert first.grid_size({"window_out": 7, "units": 5, "batch": 2}) == (16, 12)  # from (4, 11)
    assert first.grid_size({"window_out": 33, "units": 1, "batch": 1}) == (32, 4)  # from (17, 2)
    assert second.grid_size({"n": 3}) == (3,)
    assert one(grid="// grid: (n - window)/step + 1").grid_size({"n": 10, "window": 3, "step": 2}) == (5,)


@pytest.mark.parametrize(
    ("grid", "sizes", "message"),
    [
        ("// grid: m", {"n": 1}, "cannot read grid entry 'm'.*\nFix: use integers.* n"),
        ("// grid: n % 2", {"n": 1}, "cannot read grid entry 'n % 2'"),
        ("// grid: n/step", {"n": 1, "step": 0}, "cannot read grid entry 'n / step'"),
        ("// grid: n - 4", {"n": 1}, r"the grid \(n - 4\) is \(-3,\)"),
    ],
)
def test_a_grid_that_cannot_be_is_refused(grid: str, sizes: dict[str, int], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        one(grid=grid).grid_size(sizes)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("NAME *y) // [n]", r"without a '// grid:' line: K\nFix: write"),
        ("// grid: n\nNAME *y)", "pointer argument 'y' has no shape"),
        ("// grid: n\nNAME const *y) // [n]", "cannot read argument '__global float const"),
        ("// grid: n\nNAME *y, // [n]\n__local int *z) // [n]", r"cannot read argument '__local int \*z'"),
        ("// grid: n\nNAME *y, // [n]\nconst double z)", "cannot read argument 'const double z'"),
        ("// grid: n\nNAME *y) // [2*n]", r"shape of 'y' has the entry '2\*n'"),
        ("// group: 4, 4\n// grid: n\nNAME *y) // [n]", "the group has 2 entries, the grid 1"),
        ("// group: 4\n//\n// grid: n\nNAME *y) // [n]", "line belongs to no kernel"),
    ],
)
def test_a_declaration_that_cannot_be_read_is_refused(source: str, message: str) -> None:
    with pytest.raises(KernelError, match=f"kernels/own.cl.*{message}"):
        parse(source.replace("NAME", "__kernel void K(\n__global float") + "\n{ }\n")
