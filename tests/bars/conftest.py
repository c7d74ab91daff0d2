"""What the tests of bars share: a small series of bars, and writing it in a layout of one's choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.synthetic import make_bars

COLUMNS = ("time", "open", "high", "low", "close", "volume")
NAMES = COLUMNS[1:]
Writer = Callable[..., Path]


@pytest.fixture(scope="session")
def bars() -> Bars:
    """Three weeks of hourly bars: 360, from Monday 2023-01-02 on."""
    return make_bars(360, seed=7)


@pytest.fixture
def write(tmp_path: Path) -> Writer:
    """Return a function that writes bars as a file and returns its path."""

    def write(
        bars: Bars,
        *,
        header: str | None = "time,open,high,low,close,volume",
        order: Sequence[str] = NAMES,
        time: str = "%Y-%m-%d %H:%M:%S",
        separator: str = ",",
        number: Callable[[float], str] = lambda value: f"{value:.10g}",
        encoding: str = "utf-8",
        newline: str = "\n",
        name: str = "bars.csv",
    ) -> Path:
        import pandas as pd

        stamps = pd.DatetimeIndex(bars.time.view("datetime64[ns]")).strftime(time)
        columns = [[number(v) for v in np.asarray(getattr(bars, column))] for column in order]
        lines = [separator.join(row) for row in zip(stamps, *columns, strict=True)]
        text = newline.join([*([header] if header else []), *lines, ""])
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


@pytest.fixture
def rewrite() -> Callable[..., Path]:
    """Return a function that writes lines over a file and returns its path."""

    def rewrite(path: Path, lines: Sequence[str], end: str = "\n") -> Path:
        path.write_text("\n".join(lines) + end, encoding="utf-8")
        return path

    return rewrite


@pytest.fixture
def same() -> Callable[..., None]:
    """Return a function that asserts that two series hold the same numbers, bit for bit."""

    def same(read: Bars, bars: Bars, columns: Sequence[str] = COLUMNS) -> None:
        for name in columns:
            np.testing.assert_array_equal(getattr(read, name), getattr(bars, name), err_msg=name)

    return same
