"""Bars in HDF5: read back bit for bit; damage, models and other files are told apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.inspect import report_on
from neuronet.bars.read import load_bars, read_bars
from neuronet.bars.store import write_bars
from neuronet.errors import DataError, FileFormatError
from neuronet.storage.hdf5 import ModelFile, read_model, write_model

Writer = Callable[..., Path]
Same = Callable[..., None]


def test_round_trip(bars: Bars, write: Writer, same: Same, tmp_path: Path) -> None:
    path = write(bars)
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
    loaded, findings = load_bars(path, utc_offset=2)
    write_bars(tmp_path / "b.h5", loaded, findings)
    back, kept = load_bars(tmp_path / "b.h5")
    same(back, loaded)
    assert (back.symbol, back.step, back.source) == (loaded.symbol, loaded.step, loaded.source)
    assert (kept.warnings, kept.counts) == (findings.warnings, findings.counts)
    assert report_on(back, kept).to_dict() == report_on(loaded, findings).to_dict()
    with pytest.raises(DataError, match="1 warning under --strict: 1 row repeated"):
        read_bars(tmp_path / "b.h5", strict=True)


def test_options_are_settled(bars: Bars, write: Writer, same: Same, tmp_path: Path) -> None:
    write_bars(tmp_path / "b.h5", read_bars(write(bars), utc_offset=2))
    same(read_bars(tmp_path / "b.h5", utc_offset=2, symbol="bars"), read_bars(tmp_path / "b.h5"))
    with pytest.raises(DataError, match=r"--tz comes too late.*\nFix: give --tz to 'neuronet convert'"):
        read_bars(tmp_path / "b.h5", tz="Europe/Athens")
    with pytest.raises(DataError, match="--utc-offset comes too late"):
        read_bars(tmp_path / "b.h5", utc_offset=3)


def test_any_damaged_byte_is_found(bars: Bars, tmp_path: Path) -> None:
    path = tmp_path / "b.h5"
    write_bars(path, bars)
    raw = path.read_bytes()
    for at in np.random.default_rng(0).integers(8, len(raw), 60):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        with pytest.raises(DataError, match=r"is damaged|neuronet|reads formats"):
            read_bars(path)
    for size in (9, 100, len(raw) // 2, len(raw) - 1):
        path.write_bytes(raw[:size])
        with pytest.raises(DataError, match="damaged"):
            read_bars(path)


def test_a_model_is_no_bars_and_bars_are_no_model(bars: Bars, tmp_path: Path) -> None:
    write_model(tmp_path / "m.h5", ModelFile(spec={}))
    with pytest.raises(DataError, match="this is a model, not bars"):
        read_bars(tmp_path / "m.h5")
    write_bars(tmp_path / "b.h5", bars)
    with pytest.raises(FileFormatError, match="holds bars, not a model"):
        read_model(tmp_path / "b.h5")


def test_other_hdf5_files(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as root:
        root["other"] = [1, 2]
    with pytest.raises(DataError, match=r"no bars of neuronet inside \(it holds: other\)"):
        read_bars(tmp_path / "x.h5")
    with h5py.File(tmp_path / "y.h5", "w") as root:
        root.attrs.update(format="neuronet bars", format_version=99)
    with pytest.raises(DataError, match=r"written in format 99.*\nFix: update neuronet"):
        read_bars(tmp_path / "y.h5")


def test_the_old_file_stays_when_writing_fails(bars: Bars, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="there is no folder"):
        write_bars(tmp_path / "none" / "b.h5", bars)
