"""Made-up bars: the same everywhere, sound, with weekends, and with as much to foretell as they claim."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.candles import impossible
from neuronet.bars.checks import gap_kinds
from neuronet.bars.read import read_bars
from neuronet.bars.synthetic import AVERAGE, make_bars, random_walk, write_mt5
from neuronet.errors import DataError

EXAMPLE = Path(__file__).parents[2] / "examples" / "data" / "SYNTH_H1.csv"


def explained(bars: Bars, horizon: int) -> float:
    """Return the R² that a forecaster reaches which knows how the bars were made."""
    log = np.log(bars.close)
    average, distance = log[0], np.empty(len(log))
    for t, price in enumerate(log):
        average += 2.0 / (AVERAGE + 1) * (price - average)
        distance[t] = price - average
    return float(np.corrcoef(distance[:-horizon], log[horizon:] - log[:-horizon])[0, 1] ** 2)


def test_same_on_every_platform(tmp_path: Path) -> None:
    write_mt5(make_bars(10_000), tmp_path / "again.csv")
    data = (tmp_path / "again.csv").read_bytes()
    assert hashlib.md5(data).hexdigest() == "39285fbdc1ce3fb844b1b54f9645e94b"
    assert EXAMPLE.read_bytes() == data
    assert len(data) < 700_000


def test_written_and_read_again(tmp_path: Path) -> None:
    bars = make_bars(500, seed=2, step="5m", price=0.7)
    write_mt5(bars, tmp_path / "EURUSD_M5.csv")
    again = read_bars(tmp_path / "EURUSD_M5.csv")
    for name in ("time", "open", "high", "low", "close", "volume"):
        np.testing.assert_array_equal(getattr(again, name), getattr(bars, name), err_msg=name)
    assert (again.symbol, again.step) == ("EURUSD", bars.step)
    assert again.source["warnings"] == []


@pytest.mark.parametrize("step", ["1m", "5m", "15m", "30m", "1h", "4h", "1d"])
def test_sound_bars_of_every_step(step: str) -> None:
    bars = make_bars(3_000, step=step, start="2023-01-04")
    prices = {name: getattr(bars, name) for name in ("open", "high", "low", "close")}
    assert not impossible(prices).any()
    assert min(prices["low"]) > 0.5
    assert max(prices["high"]) < 2.0
    assert bars.volume.min() >= 1.0
    weekday = (bars.time // (86_400 * 10**9) + 3) % 7
    assert weekday.max() == 4
    assert str(bars.time[:1].view("datetime64[ns]")[0]).startswith("2023-01-04T00:00")
    assert {kind: len(rows) for kind, rows in gap_kinds(bars).items() if len(rows)}.keys() <= {"weekend"}


def test_busy_hours_and_clusters() -> None:
    bars = make_bars(20_000)
    size = np.abs(np.diff(np.log(bars.close)))
    hour = (bars.time[1:] // (3_600 * 10**9)) % 24
    assert size[hour == 16].mean() > 2.0 * size[hour == 1].mean()
    day = size[: len(size) // 24 * 24].reshape(-1, 24).mean(axis=1)
    assert np.corrcoef(day[:-1], day[1:])[0, 1] > 0.2


def test_a_little_can_be_foretold() -> None:
    bars = make_bars(50_000)
    assert 0.01 < explained(bars, 1) < 0.03
    assert 0.05 < explained(bars, 12) < 0.11


def test_a_random_walk_cannot() -> None:
    bars = random_walk(50_000)
    assert explained(bars, 1) < 0.0005
    assert explained(bars, 12) < 0.005
    returns = np.diff(np.log(bars.close))
    assert abs(np.corrcoef(returns[1:], returns[:-1])[0, 1]) < 0.02


def test_seeds_differ() -> None:
    assert not np.array_equal(make_bars(100, seed=0).close, make_bars(100, seed=1).close)


def test_unknown_step() -> None:
    with pytest.raises(DataError, match="cannot make 10 bars of '2h'"):
        make_bars(10, step="2h")
