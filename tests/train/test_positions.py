"""Positions of models: what each task says, no look-ahead, and only bars that training never saw."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars, stamp
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, SpecError
from neuronet.storage.hdf5 import read_model
from neuronet.train import positions
from neuronet.train.contract import Contract
from neuronet.train.pipeline import TrainResult
from neuronet.train.positions import date_ns, positions_of, row_from, unseen_from
from neuronet.train.predict import Predictions, predict
from neuronet.train.settings import Settings

Trained = tuple[Path, TrainResult]


def test_a_forecast_is_followed_by_its_sign(trained: Trained, bars: Bars) -> None:
    found = positions_of(trained[0], bars, NumpyDevice())
    said = predict(trained[0], bars, device=NumpyDevice())
    assert found.shape == (900,)
    assert np.isnan(found[:24]).all()  # a bar of warm-up, and 23 before the first window is whole
    np.testing.assert_array_equal(found[24:], np.sign(said.columns["forecast_4"] - said.close))
    assert {-1.0, 1.0} <= set(found[24:])


def test_a_direction_is_held_by_its_probabilities(trained_direction: Trained, bars: Bars) -> None:
    found = positions_of(trained_direction[0], bars, NumpyDevice())
    said = predict(trained_direction[0], bars, device=NumpyDevice()).columns
    np.testing.assert_array_equal(found[24:], said["p_up"] - said["p_down"])
    assert np.nanmax(np.abs(found)) <= 1.0


def test_a_policy_says_the_position_itself(bars: Bars, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.array([5, 7])
    said = Predictions(bars.time[rows], bars.close[rows], {"position": np.array([0.25, -1.0])})
    monkeypatch.setattr(positions, "predict", lambda *_, **__: said)
    found = positions_of("model.h5", bars)
    assert np.flatnonzero(~np.isnan(found)).tolist() == [5, 7]
    assert found[rows].tolist() == [0.25, -1.0]


def test_an_action_is_its_size_on_its_side(bars: Bars, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.array([5, 7, 8])
    columns = {"class": np.array(["buy", "sell", "flat"]), "size": np.array([0.25, 0.5, 0.0])}
    said = Predictions(bars.time[rows], bars.close[rows], columns)
    monkeypatch.setattr(positions, "predict", lambda *_, **__: said)
    assert positions_of("model.h5", bars)[rows].tolist() == [0.25, -0.5, 0.0]


@pytest.mark.parametrize("end", [40, 500, 899])
def test_cutting_the_bars_changes_no_earlier_position(trained: Trained, bars: Bars, end: int) -> None:
    whole = positions_of(trained[0], bars, NumpyDevice())
    np.testing.assert_array_equal(positions_of(trained[0], bars[:end], NumpyDevice()), whole[:end])


def test_bars_of_training_are_traded_only_when_asked(
    trained: Trained, bars: Bars, caplog: pytest.LogCaptureFixture
) -> None:
    begins = Contract.from_dict(read_model(trained[0]).bars).test_begins
    assert unseen_from(trained[0]) == begins
    row = row_from(bars, begins)
    assert bars.time[row] == begins
    assert 700 < row < 800  # the last 15 %, less what the embargo takes
    assert unseen_from(trained[0], "2050-01-01 12:00") > begins
    assert not caplog.records
    assert unseen_from(trained[0], "2023-01-10") == int(np.datetime64("2023-01-10", "ns").astype(np.int64))
    assert "what is earned before that is not honest" in caplog.text


def test_no_bar_left_and_no_date(trained: Trained, bars: Bars) -> None:
    with pytest.raises(DataError, match=r"no bar is of 2050-01-01.* or later; the bars end at"):
        row_from(replace(bars, symbol="X"), unseen_from(trained[0], "2050-01-01"))
    with pytest.raises(SpecError, match="--from: 'soon' is no date"):
        unseen_from(trained[0], "soon")


@pytest.mark.parametrize("clock", ["T15", " 15", "T15:00", " 15:00:00"])
def test_a_time_may_be_an_hour(clock: str) -> None:
    assert date_ns(f"2024-01-31{clock}") == 1_706_713_200 * 10**9  # 15:00


def test_what_a_date_may_be_is_said() -> None:
    for text in ("2024-01-31T15Z", "2024-01-31T15:00+02:00", "31.01.2024"):
        with pytest.raises(
            SpecError, match=r"is no date\nFix: write it 2024-01-31, 2024-01-31T15 or .* zone"
        ):
            date_ns(text)
        with pytest.raises(
            SpecError, match=r"--test-from: test_from cannot be .*\nFix: write it 2024-01-31, "
        ):
            Settings(test_from=text)


def test_bars_that_were_all_used_are_told_by_their_last_time(bars: Bars) -> None:
    """What is unseen begins 1 ns behind the last bar then."""
    last = stamp(bars.time[-1])
    with pytest.raises(DataError, match=f"no bar is after {last}; the bars end at {last}"):
        row_from(bars, int(bars.time[-1]) + 1)


ZONES = ["2020-01-10T05:00+02:00", "2020-01-10T05:00Z"]  # the bars' clock need not be UTC


@pytest.mark.parametrize("text", ["1500-01-01", "9999-12-31", "2262-01-01", *ZONES])
def test_a_date_that_does_not_fit_into_ns_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match=rf"--from: '{re.escape(text)}' is no date\nFix: .*from 1678 to 2261"):
        date_ns(text)


def test_dates_in_ns() -> None:
    assert date_ns("1970-01-02") == 86_400 * 10**9
    assert date_ns("2261-12-31T23:00") == int(np.datetime64("2261-12-31T23:00", "ns").astype(np.int64))
    with pytest.raises(SpecError, match="--test-from: 'x' is no date"):
        date_ns("x", "--test-from")
