"""What the cells of one column look like: times, clock times, numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from neuronet.bars.numbers import is_missing, is_number
from neuronet.bars.times import shape_of


def column_shape(cells: Sequence[str]) -> str:
    """Return the time shape that at least half of the cells have (see shape_of), or ''."""
    shape, count = Counter(shape_of(cell) for cell in cells).most_common(1)[0]
    return shape if count >= 0.5 * len(cells) else ""


def is_clock(shape: str) -> bool:
    """Whether cells without a name are clock times for sure; '1234' may as well be a price."""
    return shape.startswith(" ") and (":" in shape or "%p" in shape or "%S" in shape)


def is_data(row: Sequence[str]) -> bool:
    """Whether a line is data, not a header: at least two cells, and half of the filled ones, are numbers."""
    filled = [cell for cell in row if not is_missing(cell)]
    values = sum(is_number(cell) or bool(shape_of(cell)) for cell in filled)
    return values >= 2 and 2 * values >= len(filled)


def is_numeric(cells: Sequence[str], share: float = 0.9) -> bool:
    """Whether this share of the cells that say anything are numbers, and one is."""
    filled = [cell for cell in cells if not is_missing(cell)]
    return bool(filled) and sum(map(is_number, filled)) >= share * len(filled)
