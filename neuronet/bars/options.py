"""ReadOptions: how bars are read, declared once for read_bars, the commands and model files."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from neuronet.bars.bars import PRICES
from neuronet.errors import SpecError

ROLES = ("date", "time", *PRICES, "volume")
ORDERS = ("dmy", "mdy", "ymd")


def _choice(default: Any, text: str, *, form: str = "", choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"help": text, "form": form, "choices": choices})


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read bars where the file leaves it open or the default is not wanted. SpecError names a bad one.

    columns maps a role (date, time, open, high, low, close, volume) to a column's name, or number from 0.
    """

    columns: Mapping[str, str | int] | None = _choice(
        None, "which column is what, by name or number from 0", form="ROLE=NAME,..."
    )
    date_format: str | None = _choice(
        None,
        "order of the date: dmy, mdy or ymd; or a pattern of the whole time, as in '%d/%m/%Y %H:%M'",
        form="FORMAT",
    )
    decimal: str | None = _choice(None, "the decimal sign", choices=(".", ","))
    tz: str | None = _choice(None, "zone of the file's clock, as in Europe/Athens", form="ZONE")
    utc_offset: float | None = _choice(None, "hours that the file's clock is ahead of UTC", form="HOURS")
    symbol: str | None = _choice(None, "which symbol, if the file has several; else its name", form="NAME")
    nan: str = _choice(
        "drop",
        "a row without a price: drop it, fill it with the close before, or stop",
        choices=("drop", "ffill", "error"),
    )
    bad_bars: str = _choice(
        "keep",
        "a candle with high or low inside the body, or a lone price of 0 or far off: keep, fix, drop, stop",
        choices=("keep", "fix", "drop", "error"),
    )
    adjusted: bool = _choice(False, "scale the prices to the column of adjusted closes")
    drop_flat: bool = _choice(False, "leave out bars without volume and without a move")
    skip_bad_rows: bool = _choice(False, "leave out lines with a wrong number of fields")
    strict: bool = _choice(False, "refuse bars that give a warning")

    def __post_init__(self) -> None:
        for option in dataclasses.fields(self):
            value, choices = getattr(self, option.name), option.metadata["choices"]
            if choices and value is not None and value not in choices:
                raise self._wrong(option.name, f"choose {', '.join(choices)}")
        for name in ("date_format", "tz", "symbol"):
            if not isinstance(getattr(self, name), str | None):
                raise self._wrong(name, "give a text")
        offset = self.utc_offset
        if offset is not None and not (isinstance(offset, numbers.Real) and -24.0 < offset < 24.0):
            raise self._wrong("utc_offset", "give hours from UTC, such as 2 or -5")
        date_format = self.date_format
        if date_format is not None and "%" not in date_format and date_format not in ORDERS:
            raise self._wrong("date_format", f"choose {', '.join(ORDERS)}, or a pattern such as '%d/%m/%Y'")
        columns = self.columns
        if columns is not None and not isinstance(columns, Mapping):
            raise self._wrong("columns", "give a dict from role to column")
        if unknown := [role for role in columns or {} if role not in ROLES]:
            raise self._wrong("columns", f"{unknown[0]!r} is no role: use {', '.join(ROLES)}")

    def chosen(self) -> dict[str, Any]:
        """The options that are not at their defaults, JSON-able; not ``strict``, which changes no bar."""
        values = {f.name: (getattr(self, f.name), f.default) for f in dataclasses.fields(self)}
        chosen = {name: value for name, (value, default) in values.items() if value != default}
        chosen.pop("strict", None)
        if self.columns is not None:
            chosen["columns"] = dict(self.columns)
        return chosen

    def _wrong(self, name: str, fix: str) -> SpecError:
        return SpecError(f"{name} cannot be {getattr(self, name)!r}", where=option_of(name), fix=fix)


def option_of(name: str) -> str:
    """Return a field's name as an option: 'bad_bars' -> '--bad-bars'."""
    return "--" + name.replace("_", "-")
