"""The contract in a model file: whole, readable again, and compared with other bars."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.synthetic import make_bars
from neuronet.errors import FileFormatError
from neuronet.storage.hdf5 import read_model
from neuronet.train.contract import Contract, fingerprint, softmax
from neuronet.train.pipeline import TrainResult

Trained = tuple[Path, TrainResult]


def test_round_trip_through_the_file(trained: Trained, trained_direction: Trained) -> None:
    for path, result in (trained, trained_direction):
        document = read_model(path).bars
        again = Contract.from_dict(document)
        assert json.dumps(again.to_dict()) == json.dumps(result.contract.to_dict())
        assert again.settings == result.contract.settings
        np.testing.assert_array_equal(again.features.mean, result.contract.features.mean)


def test_what_a_file_says(trained: Trained, bars: Bars) -> None:
    contract = trained[1].contract
    assert contract.features.names[0] == "open_return"
    assert contract.step == 3_600 * 10**9
    assert contract.fingerprint == fingerprint(bars)
    assert list(contract.parts) == ["train", "validation", "test"]
    assert contract.parts["train"][0] == "2023-01-02 01:00:00"
    assert contract.parts["validation"][1] < contract.parts["test"][0]
    assert list(contract.scores) == ["validation", "test"]


def test_the_reference_is_of_the_training_part_only(trained: Trained, bars: Bars) -> None:
    reference = trained[1].contract.reference
    end = int(
        np.searchsorted(bars.time, np.datetime64(trained[1].contract.parts["train"][1], "ns").astype(int))
    )
    closes = bars.close[1 : end + 1]
    assert reference.naive_count == len(closes) - 1
    assert reference.drift == pytest.approx(np.log(closes[-1] / closes[0]) / (len(closes) - 1))


def test_another_step_or_clock_is_warned_of(
    trained: Trained, bars: Bars, caplog: pytest.LogCaptureFixture
) -> None:
    contract = trained[1].contract
    with caplog.at_level(logging.WARNING, logger="neuronet"):
        contract.compare(bars)
        assert not caplog.records
        contract.compare(make_bars(50, step="5m"))
        assert "trained on bars 1 h apart, these are 5 min apart" in caplog.text
        caplog.clear()
        contract.compare(replace(bars, source={"time_zone": "UTC+2 h"}))
        assert "are as written, of these UTC+2 h" in caplog.text


def test_bars_of_another_symbol_are_warned_of_where_both_are_known(
    trained: Trained, bars: Bars, caplog: pytest.LogCaptureFixture
) -> None:
    contract = replace(trained[1].contract, symbol="GOLD")
    for own, other in (("", "EURUSD"), ("GOLD", "my bars"), ("GOLD", ""), ("GOLD", "GOLD")):
        replace(contract, symbol=own).compare(replace(bars, symbol=other))
    assert not caplog.records
    contract.compare(replace(bars, symbol="EURUSD"))
    assert [r.getMessage() for r in caplog.records] == [
        "the model was trained on bars of GOLD, these are of EURUSD"
    ]


def test_a_model_without_bars_is_refused() -> None:
    with pytest.raises(FileFormatError, match=r"m\.h5: says nothing about bars"):
        Contract.from_dict({}, "m.h5")


def test_fingerprint_sees_every_array(bars: Bars) -> None:
    seen = {fingerprint(bars)}
    for name in ("open", "high", "low", "close", "volume"):
        values = getattr(bars, name).copy()
        values[17] += 1e-9
        seen.add(fingerprint(replace(bars, **{name: values})))
    seen.add(fingerprint(replace(bars, time=bars.time + 1)))
    assert len(seen) == 7


def test_softmax_of_large_logits() -> None:
    np.testing.assert_allclose(softmax(np.array([[1e4, 1e4, -1e4]])), [[0.5, 0.5, 0.0]])
