"""Features against slow loops written from MetaTrader's programs; no row sees a later bar."""

from __future__ import annotations

import math

import numpy as np
import pytest

from neuronet.bars.bars import Bars, Floats
from neuronet.bars.features import FEATURE_SETS, make_features
from neuronet.bars.synthetic import make_bars
from neuronet.errors import DataError

ALL = ("diff", "neuronet9", "returns", "time")


def column(bars: Bars, feature_set: str, name: str) -> Floats:
    features = make_features(bars, [feature_set])
    return features.values[:, features.names.index(name)]


def slow_rsi(close: Floats, period: int) -> Floats:
    """RSI.mq5: mean gain and loss of the first moves, then (previous * (n - 1) + move) / n."""
    out = np.full(len(close), np.nan)
    gain = loss = 0.0
    for i in range(1, len(close)):
        move = close[i] - close[i - 1]
        if i <= period:
            gain += max(move, 0.0) / period
            loss += max(-move, 0.0) / period
        else:
            gain = (gain * (period - 1) + max(move, 0.0)) / period
            loss = (loss * (period - 1) + max(-move, 0.0)) / period
        if i >= period:
            out[i] = 100.0 - 100.0 / (1.0 + gain / loss) if loss else (100.0 if gain else 50.0)
    return out


def slow_cci(bars: Bars, period: int) -> Floats:
    """CCI.mq5 on the typical price: (price - mean) / (0.015 * mean |price - mean|)."""
    typical = (bars.high + bars.low + bars.close) / 3.0
    out = np.full(len(bars), np.nan)
    for i in range(period - 1, len(bars)):
        window = typical[i - period + 1 : i + 1]
        mean = sum(window) / period
        deviation = sum(abs(x - mean) for x in window) * 0.015 / period
        out[i] = (typical[i] - mean) / deviation if deviation else 0.0
    return out


def slow_atr(bars: Bars, period: int) -> Floats:
    """ATR.mq5: mean of the last true ranges; the first bar has none."""
    ranges = [0.0] + [
        max(bars.high[i], bars.close[i - 1]) - min(bars.low[i], bars.close[i - 1])
        for i in range(1, len(bars))
    ]
    out = np.full(len(bars), np.nan)
    for i in range(period, len(bars)):
        out[i] = sum(ranges[i - period + 1 : i + 1]) / period
    return out


def slow_macd(close: Floats) -> tuple[Floats, Floats]:
    """MACD.mq5: EMA 12 - EMA 26, both seeded with the first price; signal is the simple mean of 9."""
    fast = slow = close[0]
    main = np.zeros(len(close))
    for i in range(1, len(close)):
        fast += (close[i] - fast) * 2.0 / 13.0
        slow += (close[i] - slow) * 2.0 / 27.0
        main[i] = fast - slow
    signal = np.full(len(close), np.nan)
    for i in range(8, len(close)):
        signal[i] = sum(main[i - 8 : i + 1]) / 9.0
    return main, signal


def test_neuronet9_is_metatraders(bars: Bars) -> None:
    main, signal = slow_macd(bars.close)
    expected = {
        "close_open": bars.close - bars.open,
        "high_open": bars.high - bars.open,
        "low_open": bars.low - bars.open,
        "volume_k": bars.volume / 1000,
        "rsi14": slow_rsi(bars.close, 14),
        "cci14": slow_cci(bars, 14),
        "atr14": slow_atr(bars, 14),
        "macd": main,
        "macd_signal": signal,
    }
    features = make_features(bars, ["neuronet9"])
    assert features.names == tuple(expected)
    assert features.values.shape == (len(bars), 9)
    assert features.warmup == 33
    for i, (name, values) in enumerate(expected.items()):
        np.testing.assert_allclose(features.values[:, i], values, rtol=1e-9, atol=1e-13, err_msg=name)


def test_indicators_of_a_series_that_stands_still() -> None:
    n = 60
    flat = np.full(n, 1.5)
    bars = Bars(np.arange(n) * 60 * 10**9, flat, flat, flat, flat, np.zeros(n))
    last = dict(zip(*[(f := make_features(bars, ["neuronet9"])).names, f.values[-1]], strict=True))
    assert (last["rsi14"], last["cci14"], last["atr14"], last["macd"]) == (50.0, 0.0, 0.0, 0.0)


def test_rsi_of_a_series_that_only_rises() -> None:
    n = 60
    rising = np.linspace(1.0, 2.0, n)
    bars = Bars(np.arange(n) * 60 * 10**9, rising, rising, rising, rising, np.zeros(n))
    assert column(bars, "neuronet9", "rsi14")[-1] == 100.0


def test_returns(bars: Bars) -> None:
    features = make_features(bars, ["returns"])
    assert features.warmup == 1
    assert np.all(np.isnan(features.values[0]))
    i = 17
    expected = [math.log(v[i] / bars.close[i - 1]) for v in (bars.open, bars.high, bars.low, bars.close)]
    expected.append(math.log((bars.volume[i] + 1) / (bars.volume[i - 1] + 1)))
    np.testing.assert_allclose(features.values[i], expected, rtol=1e-9, atol=1e-15)


def test_returns_refuse_prices_that_are_not_positive() -> None:
    n = 40
    price = np.arange(20, -20, -1) / 10.0
    bars = Bars(np.arange(n) * 3_600 * 10**9, price, price, price, price, np.ones(n), "OIL")
    with pytest.raises(
        DataError, match=r"OIL: the feature set 'returns' .* 20 of 40 bars have a price <= 0.*01-01 20:00"
    ):
        make_features(bars, ["returns"])


@pytest.mark.parametrize(
    ("stamp", "name", "turn"),
    [
        ("2024-03-04T06:00", "day", 0.25),  # a Monday
        ("2024-03-04T12:00", "week", 0.5 / 7),
        ("2024-03-10T12:00", "week", 6.5 / 7),
        ("2024-02-15T12:00", "month", 14.5 / 29),  # a leap year's February
        ("2024-12-31T00:00", "year", 365 / 366),
    ],
)
def test_time(stamp: str, name: str, turn: float) -> None:
    time = np.array([np.datetime64(stamp, "ns").astype(np.int64)])
    one = np.ones(1)
    bars = Bars(time, one, one, one, one, one)
    assert column(bars, "time", f"{name}_sin")[0] == pytest.approx(math.sin(2 * math.pi * turn), abs=1e-12)
    assert column(bars, "time", f"{name}_cos")[0] == pytest.approx(math.cos(2 * math.pi * turn), abs=1e-12)


def test_time_tells_neighbouring_seconds_apart() -> None:
    time = np.datetime64("2024-03-04T06:00", "ns").astype(np.int64) + np.arange(3) * 10**9
    one = np.ones(3)
    values = column(Bars(time, one, one, one, one, one), "time", "day_cos")
    np.testing.assert_allclose(np.diff(values), -2 * np.pi / 86_400, rtol=1e-6)


@pytest.mark.parametrize("cut", [35, 77, 200, 359])
def test_cutting_the_file_later_changes_no_earlier_row(bars: Bars, cut: int) -> None:
    whole = make_features(bars, ALL).values
    np.testing.assert_array_equal(make_features(bars[:cut], ALL).values, whole[:cut])


def test_a_later_bar_changes_no_earlier_row(bars: Bars) -> None:
    other = make_bars(len(bars), seed=8)
    mixed = [
        np.concatenate([getattr(bars, n)[:150], getattr(other, n)[150:]])
        for n in ("open", "high", "low", "close")
    ]
    changed = Bars(bars.time, *mixed, volume=bars.volume)  # type: ignore[misc]
    np.testing.assert_array_equal(
        make_features(changed, ALL).values[:150], make_features(bars, ALL).values[:150]
    )


def test_errors_name_the_set_and_the_numbers(bars: Bars) -> None:
    with pytest.raises(
        DataError, match=r"unknown feature set 'rsi'\nFix: choose from diff, neuronet9, returns, time"
    ):
        make_features(bars, ["returns", "rsi"])
    with pytest.raises(DataError, match="8 bars are too few: neuronet9 have their first value after 33 bars"):
        make_features(bars[:8], ["neuronet9"])
    volume = np.full(len(bars), np.nan)
    dead = Bars(bars.time, bars.open, bars.high, bars.low, bars.close, volume)
    with pytest.raises(DataError, match="feature volume_k has no value in 327 of 327 rows"):
        make_features(dead, ["neuronet9"])
    assert set(FEATURE_SETS) == set(ALL)
