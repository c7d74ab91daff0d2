"""Experience in HDF5. The layout is described in docs/simulator.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from neuronet.bars.bars import PRICES, Bars
from neuronet.errors import FileFormatError, NeuronetError, SpecError
from neuronet.market.experience import CAP, Experience, Market, Trajectory
from neuronet.market.records import COLUMNS, Records
from neuronet.market.rules import Rules
from neuronet.storage.diagnose import check_bytes
from neuronet.storage.large import write_large

FORMAT, VERSION = "neuronet experience", 1
TABLE = ("market", "first", "states", "cash")  # columns of /trajectories
AGAIN = "copy it again, or collect again"


def write_experience(path: str | Path, experience: Experience) -> None:
    """Save experience: ``path`` then holds all of it, or, on any failure, what it held.

    Raises SpecError when there is no trajectory, FileFormatError for what the file system refuses.
    """
    if not len(experience):
        raise SpecError("there is no trajectory to save", where=str(path), fix="collect with a lower profit")
    markets = experience.markets
    number = {id(market): i for i, market in enumerate(markets)}
    listed = [
        {"symbol": m.bars.symbol, "step": m.bars.step, "source": m.bars.source, "rules": m.rules.to_dict()}
        for m in markets
    ]
    ours = experience.trajectories
    table = np.array([[number[id(t.market)], t.first, len(t), t.records.cash] for t in ours], np.int64)
    arrays = {f"trajectories/{name}": [table[:, i]] for i, name in enumerate(TABLE)}
    for i, market in enumerate(markets):
        arrays |= {
            f"markets/{i}/{name}": [getattr(market.bars, name)] for name in ("time", *PRICES, "volume")
        }
    arrays |= {f"states/{name}": [getattr(t.records, name) for t in ours] for name in COLUMNS}
    write_large(
        path,
        attributes={"format": FORMAT, "format_version": VERSION},
        documents={"document": json.dumps({"cap": experience.cap, "markets": listed})},
        arrays=arrays,
    )


def read_experience(path: str | Path, *, cap: int | None = None) -> Experience:
    """Load experience and check every byte of it; ``cap`` replaces the one in the file.

    Raises FileFormatError that says what the file is, when it is missing, damaged, foreign or too new.
    """
    where = str(path)
    try:
        with Path(path).open("rb") as file:
            check_bytes(file, where)
            with h5py.File(file, "r") as root:
                _check_kind(root, where)
                return _decode(root, cap)
    except FileNotFoundError:
        raise FileFormatError("no such file", where=where, fix="check the name and the folder") from None
    except NeuronetError as error:
        if error.where == where or isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"is damaged: {error.what}", where=where, fix=AGAIN) from None
    except Exception as error:  # on a strange file h5py raises OSError, KeyError, RuntimeError and more
        raise FileFormatError(f"cannot be read: {error}", where=where, fix=AGAIN) from None


def _decode(root: h5py.File, cap: int | None) -> Experience:
    document: dict[str, Any] = json.loads(bytes(root["document"][()]))
    markets = []
    for i, one in enumerate(document["markets"]):
        arrays = {name: root[f"markets/{i}/{name}"][()] for name in ("time", *PRICES, "volume")}
        bars = Bars(**arrays, symbol=one["symbol"], step=one["step"], source=one["source"])
        markets.append(Market(bars, Rules.from_dict(one["rules"])))
    columns = {name: root[f"states/{name}"][()] for name in COLUMNS}
    table = np.stack([root[f"trajectories/{name}"][()] for name in TABLE], axis=1)
    ends = np.cumsum(table[:, 2])
    if any(len(column) != ends[-1] for column in columns.values()):
        raise ValueError(f"it has {len(columns['balance'])} of {ends[-1]} states")
    trajectories = []
    for (market, first, size, cash), end in zip(table.tolist(), ends.tolist(), strict=True):
        records = Records(cash, **{name: column[end - size : end] for name, column in columns.items()})
        trajectories.append(Trajectory(markets[market], first, records))
    return Experience(trajectories, document.get("cap", CAP) if cap is None else cap)


def _check_kind(root: h5py.File, where: str) -> None:
    kind = root.attrs.get("format", b"")
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if kind != FORMAT:
        known = {"neuronet": "a model", "neuronet bars": "bars"}.get(kind, "something of another program")
        raise FileFormatError(
            f"holds {known}, not experience",
            where=where,
            fix="give the file that 'neuronet collect' wrote",
        )
    version = int(root.attrs.get("format_version", 0))
    if version > VERSION:
        raise FileFormatError(
            f"was written in format {version}, this neuronet reads formats up to {VERSION}",
            where=where,
            fix="update neuronet: pip install --upgrade neuronet",
        )
