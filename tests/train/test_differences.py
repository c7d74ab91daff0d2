"""Prices below zero: features and targets as differences, from the bars to the predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import PRICES, Bars
from neuronet.bars.features import make_features
from neuronet.bars.targets import direction_targets, forecast_targets
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError
from neuronet.train.baselines import forecasts
from neuronet.train.contract import Contract
from neuronet.train.evaluate import evaluate
from neuronet.train.pipeline import TrainResult, train
from neuronet.train.predict import predict
from neuronet.train.report import report
from neuronet.train.settings import Settings

Small = Callable[..., Settings]


@pytest.fixture(scope="module")
def oil(bars: Bars) -> Bars:
    """The bars with their wave, around zero."""
    middle = float(np.median(bars.close))
    return replace(bars, **{name: 100.0 * (getattr(bars, name) - middle) for name in PRICES})


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, oil: Bars, small: Small) -> tuple[Path, TrainResult]:
    path = tmp_path_factory.mktemp("oil") / "oil.h5"
    return path, train(oil, path, small(features="diff"), device=NumpyDevice())


def test_features_and_targets_by_hand(oil: Bars) -> None:
    made = make_features(oil, ["diff"])
    assert made.names == ("open_diff", "high_diff", "low_diff", "close_diff", "volume_change")
    assert made.values[7, 1] == oil.high[7] - oil.close[6]
    assert made.values[7, 3] == oil.close[7] - oil.close[6]
    targets = forecast_targets(oil, 3, differences=True)
    assert targets[5, 2] == oil.close[8] - oil.close[5]
    assert np.isnan(targets[-3:, 2]).all()
    classes = direction_targets(oil, 3, 0.1, differences=True)
    change = oil.close[3:] - oil.close[:-3]
    np.testing.assert_array_equal(classes[:-3], np.where(change > 0.1, 2, np.where(change < -0.1, 0, 1)))


def test_a_model_of_prices_below_zero(trained: tuple[Path, TrainResult], oil: Bars) -> None:
    path, result = trained
    assert (oil.close < 0).mean() > 0.3
    test = result.evaluations[1]
    assert test.scores["model"]["skill"] > 0.3  # a wave is in these bars
    assert test.scores["last value"]["skill"] == 0.0
    assert evaluate(path, oil, device=NumpyDevice()).scores["model"]["mae"] == pytest.approx(
        test.scores["model"]["mae"]
    )
    text = "\n".join(report(result.evaluations))
    assert "RMSE  " in text
    assert "RMSE bp" not in text
    assert "of differences, in units of price" in text


def test_a_mean_error_is_in_units_of_price(trained: tuple[Path, TrainResult]) -> None:
    for scores in trained[1].evaluations[1].scores.values():
        assert scores["mae"] == pytest.approx(scores["mae_price"])


def test_predictions_are_prices(trained: tuple[Path, TrainResult], oil: Bars) -> None:
    path, _ = trained
    found = predict(path, oil, device=NumpyDevice())
    ahead = np.stack([found.columns[f"forecast_{k}"] for k in range(1, 5)], axis=1)
    rows = np.arange(len(oil) - len(found), len(oil) - 4)
    truth = np.stack([oil.close[rows + k] for k in range(1, 5)], axis=1)
    error = np.abs(ahead[:-4] - truth).mean()
    assert error < 0.9 * np.abs(oil.close[rows][:, None] - truth).mean()
    assert (ahead < 0).mean() > 0.3


def test_baselines_are_differences(oil: Bars, trained: tuple[Path, TrainResult]) -> None:
    reference = Contract.from_dict(trained[1].contract.to_dict()).reference
    last = np.array([600, 601])
    found = forecasts(reference, oil.close, last, 2, differences=True)
    np.testing.assert_allclose(found["drift"][0], [reference.drift, 2 * reference.drift])
    season = next(values for name, values in found.items() if name.startswith("seasonal"))
    assert season[0, 0] == oil.close[601 - reference.day] - oil.close[600]


def test_logarithms_name_the_way_out(oil: Bars, small: Small, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="train with --features diff"):
        train(oil, tmp_path / "m.h5", small(), device=NumpyDevice())
    with pytest.raises(DataError, match="the task 'policy' needs logarithms"):
        train(oil, tmp_path / "m.h5", small(features="diff", task="policy"), device=NumpyDevice())
    direction = small(features="diff", task="direction", threshold=0.1)
    assert train(oil, tmp_path / "d.h5", direction, device=NumpyDevice()).evaluations
