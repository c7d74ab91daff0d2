"""The task action: scores, columns and prices by hand, no look-ahead, and a market that can be learned."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.scaling import Scaler
from neuronet.bars.synthetic import random_walk
from neuronet.bars.targets import action_targets
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError
from neuronet.storage.hdf5 import read_model, write_model
from neuronet.train import blend
from neuronet.train.action import action_columns, action_scores, excursions, loss_rows, side_hits
from neuronet.train.contract import Contract
from neuronet.train.evaluate import evaluate
from neuronet.train.metrics import wilson
from neuronet.train.pipeline import TrainResult, train
from neuronet.train.positions import positions_of
from neuronet.train.predict import Predictions, predict
from neuronet.train.prepare import prepare
from neuronet.train.report import report
from neuronet.train.settings import Settings

Trained = tuple[Path, TrainResult]
SMALL = {"task": "action", "threshold": 0.001, "history": 24, "horizon": 4, "batch": 50, "lr": 0.003}


def _train(bars: Bars, path: Path, **changes: object) -> TrainResult:
    settings = Settings.from_dict(SMALL | {"epochs": 8} | changes)
    return train(bars, path, settings, device=NumpyDevice())


@pytest.fixture(scope="module")
def trained_action(tmp_path_factory: pytest.TempPathFactory, bars: Bars) -> Trained:
    path = tmp_path_factory.mktemp("action") / "model.h5"
    return path, _train(bars, path)


P = np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]])
MOVES = np.array([[0.02, 0.01], [0.03, 0.04], [0.01, 0.01]])


def test_columns_by_hand() -> None:
    """Buy: profit above and stop below the close; sell: the other way round; flat: none."""
    found = action_columns(P, MOVES, np.array([100.0, 200.0, 300.0]))
    assert list(found) == ["p_sell", "p_flat", "p_buy", "class", "size", "take_profit", "stop_loss"]
    np.testing.assert_array_equal(found["p_sell"], P[:, 0])
    np.testing.assert_array_equal(found["p_buy"], P[:, 2])
    assert found["class"].tolist() == ["buy", "sell", "flat"]
    np.testing.assert_allclose(found["size"], [0.7 - 0.1, 0.5 - 0.2, 0.0], atol=1e-15)
    np.testing.assert_allclose(found["take_profit"], [102.02013400267558, 192.15788783046464, np.nan])
    np.testing.assert_allclose(found["stop_loss"], [99.00498337491681, 206.0909067907034, np.nan])


def test_an_empty_cell_for_no_price() -> None:
    columns = action_columns(P, MOVES, np.array([100.0, 200.0, 300.0]))
    text = Predictions(np.arange(3) * 10**9, np.array([100.0, 200.0, 300.0]), columns).csv()
    lines = "".join(text).splitlines()
    assert lines[0] == "time,close,p_sell,p_flat,p_buy,class,size,take_profit,stop_loss"
    assert lines[1] == "1970-01-01 00:00:00,100,0.1,0.2,0.7,buy,0.6,102.02013,99.004983"
    assert lines[3] == "1970-01-01 00:00:02,300,0.2,0.5,0.3,flat,0,,"


def test_scores_by_hand() -> None:
    truth = np.array([[2.0, 0.03, 0.01], [1.0, 0.03, 0.02], [1.0, 0.0, 0.03]])
    means = np.array([0.02, 0.02])
    scores = action_scores(P, MOVES, means, truth, 1)
    assert scores["accuracy"] == pytest.approx(2 / 3)
    assert scores["balanced_accuracy"] == pytest.approx((0.5 + 1.0) / 2)
    assert scores["log_loss"] == pytest.approx(-np.log([0.7, 0.3, 0.5]).mean())
    assert scores["confusion"] == [[0, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert scores["mae_up"] == pytest.approx((0.01 + 0.0 + 0.01) / 3)
    assert scores["mae_down"] == pytest.approx((0.0 + 0.02 + 0.02) / 3)
    assert scores["skill_up"] == pytest.approx(1 - 2e-4 / 6e-4)
    assert scores["skill_down"] == pytest.approx(1 - 8e-4 / 2e-4)


def test_sides_by_hand() -> None:
    """Right, wrong and right; flat does not count, nor does a p that prefers neither."""
    p = np.array([[0.1, 0.5, 0.4], [0.3, 0.5, 0.2], [0.6, 0.1, 0.3], [0.2, 0.1, 0.7], [0.4, 0.2, 0.4]])
    classes = np.array([2, 2, 0, 1, 2], np.int32)
    found = side_hits(p, classes, 1)
    assert found is not None
    assert (found["accuracy"], found["base_rate"], found["windows"]) == (
        pytest.approx(2 / 3),
        pytest.approx(2 / 3),
        3,
    )
    assert (found["low"], found["high"]) == wilson(2, 3)
    assert side_hits(p[4:], classes[4:], 1) is None


def test_units_of_the_net() -> None:
    scaler = Scaler(("up", "down"), np.array([0.02, 0.03]), np.array([0.01, 0.02]))
    outputs = np.array([[9.0, 9.0, 9.0, 1.0, -1.0], [9.0, 9.0, 9.0, -3.0, 0.5]], np.float32)
    np.testing.assert_allclose(excursions(outputs, scaler, 1.0), [[0.03, 0.01], [0.0, 0.04]], atol=1e-12)
    np.testing.assert_allclose(excursions(outputs, scaler, 0.5), [[0.025, 0.02], [0.005, 0.035]])
    np.testing.assert_allclose(excursions(outputs, scaler, 0.0), [[0.02, 0.03]] * 2)
    rows = loss_rows(np.array([[2.0, 0.03, 0.01], [np.nan, np.nan, np.nan]]), scaler)
    np.testing.assert_allclose(rows, [[2.0, 1.0, -1.0], [np.nan] * 3])


def test_windows_overlap_as_far_as_their_excursions() -> None:
    f, y = np.ones((4, 2)), np.array([[1.0, 1.0], [0.0, 0.0]] * 2)
    error = np.sqrt(3 * 4 * 1.0) / 8  # share 0.5; residuals of f y - share f f are +-1 a window
    assert blend.of_returns(f, y, 3) == pytest.approx(0.5 * (1 - (error / 0.5) ** 2))


def test_it_beats_its_baselines_on_a_wave(trained_action: Trained) -> None:
    result = trained_action[1]
    assert [one.part for one in result.evaluations] == ["validation", "test"]
    for one in result.evaluations:
        model, base = one.scores["model"], one.scores["training shares"]
        assert model["log_loss"] < 0.9 * base["log_loss"]
        assert model["low"] > base["accuracy"]
        for side in ("up", "down"):
            assert model[f"mae_{side}"] < 0.8 * base[f"mae_{side}"]
            assert model[f"skill_{side}"] > 0.3
            assert base[f"skill_{side}"] == pytest.approx(0.0)


def test_baselines_are_the_training_part_s(trained_action: Trained, bars: Bars) -> None:
    contract = trained_action[1].contract
    prepared = prepare(bars, contract.settings)
    truth = action_targets(bars[1:], 4, 0.001)[prepared.split.train + 23]
    assert contract.target is not None
    np.testing.assert_allclose(contract.target.mean, truth[:, 1:].mean(axis=0))
    np.testing.assert_allclose(contract.target.scale, truth[:, 1:].std(axis=0))
    np.testing.assert_allclose(contract.reference.shares, [(truth[:, 0] == c).mean() for c in range(3)])
    source = prepared.source(prepared.split.validation)
    assert source.targets is not None
    last = source.starts + 23
    np.testing.assert_array_equal(
        source.targets[last, 0], prepared.targets[prepared.last_bars(prepared.split.validation), 0]
    )
    assert np.isfinite(source.targets[last]).all()


def test_the_file_says_it_all_again(trained_action: Trained, bars: Bars, device: Device) -> None:
    path, result = trained_action
    again = Contract.from_dict(read_model(path).bars)
    assert json.dumps(again.to_dict()) == json.dumps(result.contract.to_dict())
    scores = evaluate(path, bars, device=device).scores["model"]
    for name in ("log_loss", "mae_up", "mae_down", "skill_up"):
        assert scores[name] == pytest.approx(result.evaluations[1].scores["model"][name], rel=1e-3)


def test_prices_stand_on_their_sides_of_the_close(trained_action: Trained, bars: Bars) -> None:
    path = trained_action[0]
    found = predict(path, bars, device=NumpyDevice())
    said, columns = found.columns["class"], found.columns
    assert {"buy", "sell"} <= set(said.tolist())
    side = np.select([said == "buy", said == "sell"], [1.0, -1.0], 0.0)
    held = side != 0.0
    profit, stop = (np.log(columns[name] / found.close) * side for name in ("take_profit", "stop_loss"))
    assert (profit[held] >= 0.0).all()
    assert (stop[held] <= 0.0).all()
    np.testing.assert_array_equal(np.isnan(columns["take_profit"]), ~held)
    total = columns["p_sell"] + columns["p_flat"] + columns["p_buy"]
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)
    np.testing.assert_array_equal(positions_of(path, bars, NumpyDevice())[24:], side * columns["size"])
    # in size those that come: a scale lost on the way is a factor of 100
    truth = action_targets(bars, 4, 0.001)[24:-4]
    up = np.where(side > 0.0, profit, -stop)[:-4][held[:-4]]
    assert up.mean() == pytest.approx(truth[held[:-4], 1].mean(), rel=0.2)


@pytest.mark.parametrize("end", [25, 77, 400, 899])
def test_cutting_the_bars_changes_no_earlier_row(trained_action: Trained, bars: Bars, end: int) -> None:
    whole = predict(trained_action[0], bars, device=NumpyDevice())
    part = predict(trained_action[0], bars[:end], device=NumpyDevice())
    assert len(part) == end - 24
    for name, values in part.columns.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(values, whole.columns[name][: end - 24], rtol=1e-6)
        else:
            np.testing.assert_array_equal(values, whole.columns[name][: end - 24])


def test_a_blend_of_nothing_is_the_training_part(trained_action: Trained, bars: Bars, tmp_path: Path) -> None:
    contract = trained_action[1].contract
    assert contract.target is not None
    file = read_model(trained_action[0])
    file.bars["blend"] = file.bars["blend_moves"] = 0.0
    write_model(tmp_path / "m.h5", file)
    columns = predict(tmp_path / "m.h5", bars, device=NumpyDevice()).columns
    np.testing.assert_allclose(columns["p_buy"], contract.reference.shares[2])  # type: ignore[index]
    side = str(columns["class"][0])
    up, down = np.exp(contract.target.mean * [1.0, -1.0])
    profit = {"buy": up, "sell": down}[side]
    np.testing.assert_allclose(columns["take_profit"], bars.close[24:] * profit)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_of_a_random_walk_the_size_of_moves_is_known_but_not_their_side(seed: int, tmp_path: Path) -> None:
    """Its volatility has clusters and hours, so excursions and 'flat' can be foretold; its side cannot."""
    one = _train(random_walk(4000, seed=seed), tmp_path / "m.h5", epochs=4).evaluations[1]
    model = one.scores["model"]
    assert min(model["skill_up"], model["skill_down"]) > 0.05
    assert model["side"]["low"] < 0.5 < model["side"]["high"]


def test_the_report_defines_its_columns(trained_action: Trained) -> None:
    text = "\n".join(report(trained_action[1].evaluations))
    for words in ("training shares", "MAE up bp", "skill up", "against the next open: sell, flat", "side  "):
        assert words in text
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 110


@pytest.mark.parametrize("model", ["mamba4cast", "dfft"])
def test_the_other_nets_learn_it_too(model: str, bars: Bars, tmp_path: Path) -> None:
    result = _train(bars[:160], tmp_path / "m.h5", model=model, epochs=2, history=8, batch=20)
    losses = [row["loss"] for row in result.state.history]
    assert losses[1] < losses[0]
    assert predict(tmp_path / "m.h5", bars[:60], device=NumpyDevice()).columns["size"].max() <= 1.0


def test_resuming_keeps_both_blends(bars: Bars, tmp_path: Path) -> None:
    path = tmp_path / "m.h5"
    whole = _train(bars, tmp_path / "whole.h5", epochs=3)
    _train(bars, path, epochs=2)
    settings = Settings.from_dict(SMALL | {"epochs": 3})
    result = train(bars, path, settings, device=NumpyDevice(), resume=True)
    assert result.contract.blend_moves == whole.contract.blend_moves
    assert 0.0 < result.contract.blend_moves < 1.0
    assert result.evaluations == whole.evaluations


def test_a_training_part_of_one_class_is_refused(bars: Bars, tmp_path: Path) -> None:
    still = {
        name: np.where(np.arange(900) < 800, 1.0, getattr(bars, name)) for name in ("open", "close", "low")
    }
    high = np.where(np.arange(900) < 800, 1.0 + 0.0001 * (np.arange(900) % 7), bars.high)
    with pytest.raises(DataError, match="every target of the training part is 'flat'"):
        _train(replace(bars, **still, high=high), tmp_path / "m.h5")
