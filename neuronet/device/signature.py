"""The declaration of a kernel, read from its own OpenCL C source.

// group: 16, 16                              (optional: fixed work-group)
// grid: window_out, units*batch/4            (/ divides rounding up)
__kernel void Name(
    __global const float *x,    // [batch, units, window]     const pointer: input
    __global float *y,          // [batch, units, 3]          other pointer: output
    const int units,            // named like a dimension: filled from the shapes
    const int activation)       // any other scalar: a required keyword
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from neuronet.errors import KernelError, ShapeError

_DTYPES = {"float": np.float32, "int": np.int32, "uint": np.uint32}
_KERNEL = re.compile(
    r"(?://\s*group:\s*(?P<group>[^\n]+)\n\s*)?//\s*grid:\s*(?P<grid>[^\n]+)\n\s*"
    r"__kernel\s+(?:BY8\s+)?void\s+(?P<name>\w+)\s*\((?P<args>.*?)\)[ \t]*(?P<tail>//[^\n]*)?\s*\{",
    re.S,
)
_GROUP = re.compile(r"^\s*//\s*group:", re.M)
_BARE = re.compile(r"^\s*__kernel\s+(?:BY8\s+)?void\s+(\w+)", re.M)
_ARG = re.compile(
    r"(?P<space>__global)?\s*(?P<const>const)?\s*(?P<type>\w+)\s*(?P<ptr>\*)?\s*"
    r"(?:restrict\s+)?(?P<name>\w+)$"
)
_SHAPE = re.compile(r"\[([^\]]*)\]")


@dataclass(frozen=True)
class Arg:
    """One kernel argument. ``dims`` is None for a scalar."""

    name: str
    dtype: np.dtype[Any]
    dims: tuple[str, ...] | None
    writes: bool

    def __str__(self) -> str:
        shape = "" if self.dims is None else f"[{', '.join(self.dims)}]"
        return f"{self.dtype.name} {self.name}{shape}"


@dataclass(frozen=True)
class KernelSpec:
    """What a kernel takes and over which grid it runs."""

    file: str
    package: str
    reference: str  # package of the NumPy twin
    name: str
    args: tuple[Arg, ...]
    grid: tuple[str, ...]
    group: tuple[int, ...] | None

    @property
    def where(self) -> str:
        return f"{self.package.rpartition('.')[2]}/{self.file}: {self.name}"

    @property
    def stem(self) -> str:
        return self.file.removesuffix(".cl")

    @property
    def scalars(self) -> tuple[str, ...]:
        """Scalars that a caller must give, because no shape tells them."""
        dims = {d for a in self.args for d in a.dims or ()}
        return tuple(a.name for a in self.args if a.dims is None and a.name not in dims)

    def bind(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
        """Sizes of the named dimensions, or ShapeError naming the argument that disagrees."""
        sizes: dict[str, int] = {}
        bound_by: dict[str, str] = {}
        for arg in self.args:
            if arg.dims is None:
                continue
            shape, wanted = shapes[arg.name], f"[{', '.join(arg.dims)}]"
            what = f"argument {arg.name!r} has shape {shape}, expected {wanted}"
            if len(shape) != len(arg.dims):
                raise ShapeError(what, where=self.where)
            for dim, size in zip(arg.dims, shape, strict=True):
                expected = int(dim) if dim.isdigit() else sizes.setdefault(dim, size)
                if expected != size:
                    why = (
                        f" with {dim}={expected} (set by argument {bound_by[dim]!r})" if dim in sizes else ""
                    )
                    raise ShapeError(what + why, where=self.where)
                bound_by.setdefault(dim, arg.name)
        return sizes

    def grid_size(self, sizes: Mapping[str, Any]) -> tuple[int, ...]:
        """The global size: rounded up to whole work-groups where the kernel fixes its group."""
        grid = tuple(_evaluate(ast.parse(g, mode="eval").body, sizes, self.where) for g in self.grid)
        if any(g < 0 for g in grid):
            raise KernelError(f"the grid ({', '.join(self.grid)}) is {grid}", where=self.where)
        if self.group is None:
            return grid
        return tuple(-(-g // n) * n for g, n in zip(grid, self.group, strict=True))


def _evaluate(node: ast.expr, sizes: Mapping[str, Any], where: str) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name) if name in sizes:
            return int(sizes[name])
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _evaluate(left, sizes, where), _evaluate(right, sizes, where)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div() if b:
                    return -(-a // b)
    raise KernelError(
        f"cannot read grid entry {ast.unparse(node)!r}",
        where=where,
        fix=f"use integers, + - * / and {', '.join(sizes)}",
    )


def parse_kernels(source: str, file: str, package: str, reference: str) -> list[KernelSpec]:
    """Every kernel's declaration in OpenCL C ``source``, in order."""
    specs = []
    for match in _KERNEL.finditer(source):
        name, where = match["name"], f"{package.rpartition('.')[2]}/{file}: {match['name']}"
        args = tuple(
            _parse_arg(text, comment, where)
            for text, comment in _split(match["args"] + (match["tail"] or ""))
        )
        grid = tuple(part.strip() for part in match["grid"].split(","))
        group = tuple(int(part) for part in match["group"].split(",")) if match["group"] else None
        if group is not None and len(group) != len(grid):
            raise KernelError(f"the group has {len(group)} entries, the grid {len(grid)}", where=where)
        specs.append(KernelSpec(file, package, reference, name, args, grid, group))
    if missing := set(_BARE.findall(source)) - {s.name for s in specs}:
        raise KernelError(
            f"kernels without a '// grid:' line: {', '.join(sorted(missing))}",
            where=f"{package.rpartition('.')[2]}/{file}",
            fix="write '// grid: dim, dim' on the line above '__kernel'",
        )
    if len(_GROUP.findall(source)) != sum(s.group is not None for s in specs):
        raise KernelError(
            "a '// group:' line belongs to no kernel",
            where=f"{package.rpartition('.')[2]}/{file}",
            fix="write it on the line above '// grid:'",
        )
    return specs


def _split(text: str) -> list[tuple[str, str]]:
    """(declaration, trailing comment) pairs; a comment belongs to the last argument before it."""
    pairs: list[tuple[str, str]] = []
    for line in text.splitlines():
        code, _, comment = line.partition("//")
        names = [part.strip() for part in code.split(",") if part.strip()]
        pairs += [(part, "") for part in names[:-1]]
        if names:
            pairs.append((names[-1], comment.strip()))
    return pairs


def _parse_arg(text: str, comment: str, where: str) -> Arg:
    match = _ARG.match(text)
    if not match or match["type"] not in _DTYPES:
        raise KernelError(
            f"cannot read argument {text!r}",
            where=where,
            fix=f"declare it as '[__global] [const] {{{'|'.join(_DTYPES)}}} [*]name'",
        )
    dims: tuple[str, ...] | None = None
    if match["ptr"]:
        shape = _SHAPE.search(comment)
        if shape is None:
            raise KernelError(
                f"pointer argument {match['name']!r} has no shape",
                where=where,
                fix="end its line with a comment such as '// [batch, units, window]'",
            )
        dims = tuple(d.strip() for d in shape[1].split(","))
        if odd := [d for d in dims if not d.isdigit() and not d.isidentifier()]:
            raise KernelError(
                f"the shape of {match['name']!r} has the entry {odd[0]!r}",
                where=where,
                fix="write names of dimensions and whole numbers only",
            )
    return Arg(match["name"], np.dtype(_DTYPES[match["type"]]), dims, not match["const"])
