"""Prediction: one row a bar up to the last, in price units, and no row knows a later bar."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError
from neuronet.storage.hdf5 import read_model, write_model
from neuronet.train.pipeline import TrainResult
from neuronet.train.predict import predict

Trained = tuple[Path, TrainResult]


def test_one_row_a_bar_up_to_the_last(trained: Trained, bars: Bars) -> None:
    found = predict(trained[0], bars, device=NumpyDevice())
    assert len(found) == len(bars) - 1 - 23
    np.testing.assert_array_equal(found.time, bars.time[24:])
    np.testing.assert_array_equal(found.close, bars.close[24:])
    assert list(found.columns) == [f"forecast_{k}" for k in range(1, 5)]


def test_forecasts_are_in_price_units(trained: Trained, bars: Bars) -> None:
    """The same numbers, worked out from the net itself."""
    path, result = trained
    found, contract = predict(path, bars, device=NumpyDevice()), result.contract
    closes, row = np.log(bars.close), 400
    values = {
        f"{n}_return": np.log(getattr(bars, n)[1:]) - closes[:-1] for n in ("open", "high", "low", "close")
    }
    values["volume_change"] = np.diff(np.log1p(bars.volume))
    x = np.stack([values[name] for name in contract.features.names], axis=1)[row - 24 : row]
    outputs = result.net.predict(contract.features.transform(x)[None].astype(np.float32))[0]
    want = bars.close[row] * np.exp(contract.blend * outputs * contract.target.scale)
    got = [found.columns[f"forecast_{k}"][row - 24] for k in range(1, 5)]
    np.testing.assert_allclose(got, want, rtol=1e-7)
    np.testing.assert_allclose(got, bars.close[row], rtol=0.05)


@pytest.mark.parametrize("kind", ["trained", "trained_direction"])
@pytest.mark.parametrize("end", [25, 26, 77, 400, 899])
def test_cutting_the_bars_changes_no_earlier_row(
    request: pytest.FixtureRequest, bars: Bars, kind: str, end: int
) -> None:
    path = request.getfixturevalue(kind)[0]
    whole = predict(path, bars, device=NumpyDevice())
    part = predict(path, bars[:end], device=NumpyDevice())
    np.testing.assert_array_equal(part.time, whole.time[: end - 24])
    for name, values in part.columns.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(values, whole.columns[name][: end - 24], rtol=1e-6)
        else:
            np.testing.assert_array_equal(values, whole.columns[name][: end - 24])


def test_direction_gives_probabilities_and_the_class(trained_direction: Trained, bars: Bars) -> None:
    found = predict(trained_direction[0], bars, device=NumpyDevice())
    p = np.stack([found.columns[f"p_{name}"] for name in ("down", "flat", "up")], axis=1)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(found.columns["class"], np.array(["down", "flat", "up"])[p.argmax(axis=1)])


def test_closed_only_leaves_out_the_last_bar(trained: Trained, bars: Bars) -> None:
    found = predict(trained[0], bars, closed_only=True, device=NumpyDevice())
    assert found.time[-1] == bars.time[-2]


def test_too_few_bars(trained: Trained, bars: Bars) -> None:
    with pytest.raises(DataError, match=r"give 0 windows of 24\+0; need >= 24"):
        predict(trained[0], bars[:20], device=NumpyDevice())


def test_csv(trained: Trained, bars: Bars, tmp_path: Path) -> None:
    found = predict(trained[0], bars, device=NumpyDevice())
    found.write_csv(tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text(encoding="ascii").splitlines()
    assert lines[0] == "time,close,forecast_1,forecast_2,forecast_3,forecast_4"
    assert len(lines) == len(found) + 1
    cells = lines[-1].split(",")
    assert cells[0] == str(bars.time[-1].astype("datetime64[ns]").astype("datetime64[s]")).replace("T", " ")
    assert float(cells[1]) == pytest.approx(bars.close[-1], rel=1e-9)
    assert float(cells[5]) == pytest.approx(found.columns["forecast_4"][-1], rel=1e-7)


def test_a_blend_of_nothing_is_the_last_value(trained: Trained, bars: Bars, tmp_path: Path) -> None:
    file = read_model(trained[0])
    file.bars["blend"] = 0.0
    write_model(tmp_path / "m.h5", file)
    found = predict(tmp_path / "m.h5", bars, device=NumpyDevice())
    np.testing.assert_array_equal(found.columns["forecast_3"], found.close)
