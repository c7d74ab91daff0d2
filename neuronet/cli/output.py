"""How commands print: aligned tables, JSON, and a bar while something runs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from neuronet.cli import console
from neuronet.errors import DataError
from neuronet.storage.hdf5 import write_test

BAR_CELLS = 24


def table(rows: Iterable[Sequence[Any]], header: Sequence[str]) -> str:
    """Aligned columns: texts to the left, numbers to the right."""
    body = list(rows)
    cells = [list(header), *([_cell(value) for value in row] for row in body)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [bool(body) and all(not isinstance(row[i], str) for row in body) for i in range(len(widths))]
    lines = (
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        )
        for line in cells
    )
    return "\n".join(line.rstrip() for line in lines)


def print_json(data: Any) -> None:
    """``data`` as JSON in ASCII; NumPy values become plain ones, and what is not finite becomes null."""
    click.echo(json.dumps(_plain(data), indent=2, allow_nan=False))


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[str | Path | None]) -> None:
    """Refuse, before any work, outputs that cannot be written, that are read too, or that are one file.

    None is an option that was not given. Raises DataError, and FileFormatError as ``write_test`` does.
    """
    read = [Path(path) for path in inputs if path is not None]
    written: list[Path] = []
    for path in outputs:
        if path is None:
            continue
        write_test(path)
        if any(_same(path, other) for other in read):
            raise DataError("is a file to read", where=str(path), fix="choose another name for the output")
        if any(_same(path, other) for other in written):
            raise DataError(
                "would be written twice", where=str(path), fix="choose another name for one output"
            )
        written.append(path)


def _same(path: Path, other: Path) -> bool:
    """Whether two paths are one file, also through links, or would be."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()


class Progress:
    """A bar on stderr, redrawn in place; nothing at all when stderr is no terminal or under --quiet.

    with Progress("epoch 1") as progress:
        progress.show(done, total, "loss 0.12")
    """

    def __init__(self, label: str = "") -> None:
        self.label = label
        self._visible = sys.stderr.isatty() and not console.is_quiet()
        self._drawn = 0  # characters on the line

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, done: int, total: int, note: str = "") -> None:
        if self._visible:
            full = BAR_CELLS * done // max(total, 1)
            bar = "█" * full + "░" * (BAR_CELLS - full)
            self._draw(f"{self.label} {bar} {done}/{total} {note}".strip())

    def clear(self) -> None:
        """Remove the bar, so that a message can be printed."""
        if self._drawn:
            self._draw("")
            click.echo("\r", nl=False, err=True)

    def _draw(self, line: str) -> None:
        click.echo(f"\r{line.ljust(self._drawn)}", nl=False, err=True)
        self._drawn = len(line)


def _cell(value: Any) -> str:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return "-" if value is None else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
