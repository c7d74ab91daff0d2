"""Read .tsf files, the format of the Monash forecasting repository: several series with their attributes.

    # comment
    @relation NAME
    @attribute series_name string        one line an attribute; string, numeric or date
    @attribute start_timestamp date
    @frequency monthly
    @horizon 12                          optional
    @missing false
    @equallength true
    @data
    T1:2000-01-01 00-00-00:27,16,?,19    the attributes and the values; ? is a missing value

Godahewa et al., Monash Time Series Forecasting Archive, NeurIPS 2021.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from neuronet.bars.columns import shorten
from neuronet.bars.unpack import GZIP, ZIP, read_bytes
from neuronet.errors import DataError, NeuronetError
from neuronet.series.frequency import SECOND, Frequency
from neuronet.series.series import Floats, Series

log = logging.getLogger(__name__)

NAME, START = "series_name", "start_timestamp"
KINDS = ("string", "numeric", "date")
DATES = ("%Y-%m-%d %H-%M-%S", "%Y-%m-%d")
NO_START = 0  # ns: 1970-01-01
MISSING = "?"
HEAD = 1 << 16  # bytes in which the first tag is looked for
TAGS = (b"@relation", b"@attribute")


@dataclass(frozen=True, eq=False)
class TsfFile:
    """The series of a .tsf file, in its order, and what its header says.

    name        of @relation
    horizon     steps to forecast, None where the header says nothing
    attributes  name -> string, numeric or date
    details     one a series: attribute -> text as in the file
    encoding    utf-8 or cp1252
    notes       what was decided for lack of better, in words
    """

    name: str
    frequency: Frequency
    horizon: int | None
    attributes: dict[str, str]
    series: list[Series]
    details: list[dict[str, str]]
    encoding: str
    notes: tuple[str, ...] = ()


@dataclass
class _Header:
    """The header while it is read."""

    where: str
    name: str = ""
    frequency: Frequency | None = None
    horizon: int | None = None
    missing: bool | None = None
    equal_length: bool | None = None
    attributes: dict[str, str] = field(default_factory=dict)

    def read(self, line: str) -> None:
        """Take one line that begins with @. Raises DataError."""
        tag, _, rest = line.partition(" ")
        rest = rest.strip()
        if tag == "@relation":
            self.name = rest
        elif tag == "@attribute":
            self._attribute(rest)
        elif tag == "@frequency":
            self.frequency = Frequency.parse(rest)
        elif tag == "@horizon":
            if not rest.isdecimal() or int(rest) < 1:
                raise DataError(f"@horizon is {rest!r}", fix="write a whole number from 1 on")
            self.horizon = int(rest)
        elif tag in ("@missing", "@equallength"):
            if rest.lower() not in ("true", "false"):
                raise DataError(f"{tag} is {rest!r}", fix="write true or false")
            setattr(self, {"@missing": "missing"}.get(tag, "equal_length"), rest.lower() == "true")
        else:
            raise DataError(
                f"unknown tag {tag!r}",
                fix="use @relation, @attribute, @frequency, @horizon, @missing, @equallength, @data",
            )

    def _attribute(self, rest: str) -> None:
        parts = rest.split()
        if len(parts) != 2 or parts[1].lower() not in KINDS:
            raise DataError(f"@attribute {rest}: a name and {', '.join(KINDS)} are expected", fix="repair it")
        if parts[0] in self.attributes:
            raise DataError(f"attribute {parts[0]!r} is declared twice", fix="delete one")
        self.attributes[parts[0]] = parts[1].lower()


def is_tsf(path: str | Path) -> bool:
    """Whether a file is a .tsf file: by its suffix, or as its first line but comments is a tag."""
    path = Path(path)
    if ".tsf" in (suffix.lower() for suffix in path.suffixes):
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head.startswith((GZIP, ZIP)):
        head = read_bytes(path)[:HEAD]
    lines = (line.strip() for line in head.splitlines())
    return next((line.startswith(TAGS) for line in lines if line and not line.startswith(b"#")), False)


def read_tsf(path: str | Path, *, frequency: Frequency | None = None) -> TsfFile:
    """Read a .tsf file in UTF-8 or Windows-1252; also in .gz or .zip.

    frequency  for files without @frequency; it wins over the file's

    Series without start_timestamp begin on 1970-01-01, which is noted (log and ``notes``), as is a header
    that is wrong about missing values or lengths. Names come from series_name, else they are T1, T2, ...

    Raises DataError with file:line for what the format does not allow.
    """
    path = Path(path)
    raw = read_bytes(path)
    try:
        text, encoding = raw.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError:
        text, encoding = raw.decode("cp1252", errors="replace"), "cp1252"
    header = _Header(path.name)
    lines = text.split("\n")
    first = _read_header(header, lines)
    chosen = frequency or header.frequency
    if chosen is None:
        raise DataError(
            "the header has no @frequency", where=path.name, fix="add a line such as '@frequency monthly'"
        )
    series: list[Series] = []
    details: list[dict[str, str]] = []
    for row in range(first, len(lines)):
        line = lines[row].strip()
        if line and not line.startswith("#"):
            try:
                one, detail = _series(line, header.attributes, chosen, len(series) + 1)
            except NeuronetError as error:
                raise _at(error, path.name, row) from None
            series.append(one)
            details.append(detail)
    if not series:
        raise DataError("no series behind @data", where=path.name, fix="download the file again")
    notes = _notes(header, series)
    for note in notes:
        log.warning("%s: %s", path.name, note)
    return TsfFile(
        header.name or path.stem, chosen, header.horizon, header.attributes, series, details, encoding, notes
    )


def _read_header(header: _Header, lines: list[str]) -> int:
    """Read the lines up to @data; return the row behind it, from 0."""
    for row, raw in enumerate(lines):
        line = raw.strip()
        if line.lower() == "@data":
            return row + 1
        if line and not line.startswith("#"):
            try:
                if not line.startswith("@"):
                    raise DataError(
                        f"a line of the header begins with @ or #, this one does not: {shorten(line)}",
                        fix="write @data before the series",
                    )
                header.read(line)
            except NeuronetError as error:
                raise _at(error, header.where, row) from None
    raise DataError(
        "no line @data: not a .tsf file, or cut off", where=header.where, fix="download the file again"
    )


def _series(
    line: str, attributes: dict[str, str], frequency: Frequency, number: int
) -> tuple[Series, dict[str, str]]:
    """Read one line of data. Raises DataError without a place."""
    *cells, text = (part.strip() for part in line.split(":"))
    if len(cells) != len(attributes):
        raise DataError(
            f"{len(cells)} attributes before the values, the header declares {len(attributes)}: "
            f"{shorten(line)}",
            fix="write attributes and values with a colon between each two",
        )
    detail = dict(zip(attributes, cells, strict=True))
    start = NO_START
    for name, kind in attributes.items():
        if kind == "date":
            stamp = _date(detail[name], name)
            start = stamp if name == START else start
        elif kind == "numeric":
            _number(detail[name], f"attribute {name}")
    values = _values(text)
    times = frequency.stamps(start, len(values))
    return Series(detail.get(NAME) or f"T{number}", values, times, frequency), detail


def _values(text: str) -> Floats:
    """Read values with commas between them, NaN for ?."""
    cells = text.split(",")
    # float() takes words too: nan and inf are no values here.
    return np.array([np.nan if c == MISSING else _number(c, f"value {i}") for i, c in enumerate(cells, 1)])


def _number(cell: str, what: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise DataError(f"{what} is {shorten(cell)}, no number", fix="correct it, or write ? for missing")
    return value


def _date(cell: str, name: str) -> int:
    """Return ns since 1970."""
    for pattern in DATES:
        try:
            date = datetime.strptime(cell, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
        return int(date.timestamp()) * SECOND
    raise DataError(f"{name} is {shorten(cell)}, no date", fix="write it as 1979-01-31 00-00-00")


def _notes(header: _Header, series: list[Series]) -> tuple[str, ...]:
    notes = []
    if START not in header.attributes:
        notes.append(f"no attribute {START}: all series begin on 1970-01-01")
    missing = sum(one.missing for one in series)
    if header.missing is False and missing:
        notes.append(f"the header says that no value is missing, but {missing} are")
    lengths = [len(one) for one in series]
    if header.equal_length and min(lengths) != max(lengths):
        notes.append(
            f"the header says that all series are equally long, but they have {min(lengths)} to "
            f"{max(lengths)} values"
        )
    return tuple(notes)


def _at(error: NeuronetError, name: str, row: int) -> DataError:
    """Return the error with its place, line ``row`` from 0."""
    return DataError(error.what, where=f"{name}:{row + 1}", fix=error.fix)
