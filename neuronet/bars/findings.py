"""Findings: what was wrong with a file, in sentences, counts and line numbers."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

log = logging.getLogger(__name__)

Data = dict[str, NDArray[Any]]  # column name -> [rows]


@dataclass
class Findings:
    """What was wrong: sentences, counts, and line numbers of impossible bars that are kept."""

    where: str
    warnings: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    bad_lines: list[int] = field(default_factory=list)

    def warn(self, message: str) -> None:
        """Log a warning, one line, and keep it."""
        log.warning("%s: %s", self.where, message)
        self.warnings.append(message)

    def count(self, what: str, rows: NDArray[np.bool_]) -> int:
        """Keep and return the number of rows that are marked."""
        self.counts[what] = int(rows.sum())
        return self.counts[what]


def rows_of(marked: NDArray[np.bool_]) -> str:
    """Return '1 row' or '7 rows'."""
    return f"{int(marked.sum())} row{'s' if marked.sum() != 1 else ''}"


def take(data: Data, rows: NDArray[Any]) -> Data:
    """Return the rows that are marked, or numbered."""
    return {name: values[rows] for name, values in data.items()}
