"""Errors are told apart by their class: readers raise the right one, and words may change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import neuronet
from neuronet.bars.read import read_bars
from neuronet.bars.synthetic import random_walk
from neuronet.cli import given
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, FileFormatError, NoColumnError, TextError, TooFewError
from neuronet.market import signals
from neuronet.models.catch import Catch
from neuronet.series.channels import Channels
from neuronet.series.read_channels import read_channels
from neuronet.series.table import read_series
from neuronet.storage.hdf5 import read_model
from neuronet.train import alarms, channels_contract
from neuronet.train.anomaly import train_anomaly
from neuronet.train.channels_contract import ChannelSettings, NoChannelError

KINDS: dict[type[DataError], bool] = {NoColumnError: True, DataError: False}  # is a column lacking


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("time,a,b\n" + "".join(f"2024-01-{day:02},{day},1\n" for day in range(1, 29)))
    return path


def channels(rows: int) -> Channels:
    return Channels(np.arange(rows), np.random.default_rng(0).standard_normal((rows, 2)), ("a", "b"), False)


def test_readers_raise_the_kind(table: Path, tmp_path: Path) -> None:
    untimed = tmp_path / "u.csv"
    untimed.write_text("a,b\nx,y\nz,w\n")
    frame = pd.DataFrame({"time": ["2024-01-01"], "open": [1.0], "high": [1.0], "low": [1.0]})
    for read in (
        lambda: read_series(table, "x"),
        lambda: read_series(untimed),
        lambda: read_channels(table, ["x"]),
        lambda: read_channels(untimed),
        lambda: read_bars(frame),
        lambda: read_bars(frame, columns={"close": "x"}),
    ):
        with pytest.raises(NoColumnError, match="no column"):
            read()
    with pytest.raises(TextError, match=r"t.csv: is text"):
        read_model(table)
    for content in (b"", b"<html>", b"\x80\x04"):
        untimed.write_bytes(content)
        with pytest.raises(FileFormatError) as caught:
            read_model(untimed)
        assert type(caught.value) is FileFormatError
    with pytest.raises(TooFewError, match=r"Catch.fit: 30 rows are too few"):
        Catch().fit(channels(30).values, device=NumpyDevice())


@pytest.mark.parametrize("kind", KINDS)
def test_words_about_a_column_tell_nothing(
    kind: type[DataError], table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    what = "a word" if KINDS[kind] else "no column 'x'"

    def fail(*_: object, **__: object) -> Any:
        raise kind(what, where="t.csv", fix="as it was")

    for module, name in (
        (signals, "read_series"),
        (alarms, "read_channels"),
        (channels_contract, "read_channels"),
    ):
        monkeypatch.setattr(module, name, fail)
    with pytest.raises(DataError) as caught:
        signals.read_positions(table, random_walk(30))
    fix = "give a column of times and one of numbers named position" if KINDS[kind] else "as it was"
    assert (caught.value.what, caught.value.fix) == (what, fix)
    with pytest.raises(DataError) as caught:
        alarms.read_labels("x", [table], channels(28))
    assert caught.value.what == ("is no file, and no column of t.csv" if KINDS[kind] else what)
    with pytest.raises(DataError) as caught:
        ChannelSettings().read([table], ["x"])
    assert (type(caught.value) is NoChannelError) is KINDS[kind]


@pytest.mark.parametrize("kind", [TooFewError, DataError])
def test_words_about_few_rows_tell_nothing(
    kind: type[DataError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    what = "a word" if kind is TooFewError else "30 rows are too few for windows of 96"

    def fail(*_: object, **__: object) -> Any:
        raise kind(what, where="Catch.fit")

    monkeypatch.setattr(Catch, "fit", fail)
    with pytest.raises(DataError) as caught:
        train_anomaly(channels(400), tmp_path / "m.h5", device=NumpyDevice())
    assert caught.value.where == ("--history" if kind is TooFewError else "Catch.fit")


@pytest.mark.parametrize("kind", [TextError, FileFormatError])
def test_words_about_text_tell_nothing(
    kind: type[FileFormatError], table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise kind("a word" if kind is TextError else "is text")

    monkeypatch.setattr(given, "check_bytes", fail)
    if kind is TextError:
        with pytest.raises(FileFormatError, match="where a model is wanted"):
            given.check_model(table)
    else:
        given.check_model(table)


def test_no_code_reads_the_words_of_an_error() -> None:
    words = re.compile(r"\.what\.|\bin \w+\.what\b|\.what [!=]=|in str\(err")
    for path in Path(neuronet.__file__).parent.rglob("*.py"):
        assert not words.search(path.read_text("utf-8")), path
