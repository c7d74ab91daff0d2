"""Made-up bars that look like a currency pair's: for examples and tests, free to ship.

The example data of this repository was written by

    from neuronet.bars.synthetic import make_bars, write_mt5
    write_mt5(make_bars(10_000), "examples/data/SYNTH_H1.csv")
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from neuronet.bars.bars import Bars, Floats, Times
from neuronet.errors import DataError

MINUTE = 60 * 10**9
HOUR = 60 * MINUTE
DAY = 24 * HOUR
STEPS = {
    "1m": MINUTE,
    "5m": 5 * MINUTE,
    "15m": 15 * MINUTE,
    "30m": 30 * MINUTE,
    "1h": HOUR,
    "4h": 4 * HOUR,
    "1d": DAY,
}

# Volatility of each hour of the server's day against the daily mean: quiet Asia, busy London and New York.
_NIGHT, _DAY = [0.5, 0.5, 0.6, 0.7, 0.7, 0.6, 0.6, 0.7], [1.0, 1.4, 1.4, 1.2, 1.1, 1.1, 1.3, 1.7]
SESSION = np.array([*_NIGHT, *_DAY, 1.8, 1.6, 1.3, 1.1, 0.9, 0.8, 0.6, 0.5])
HOURLY_VOLATILITY = 0.0010  # log return of an average hour; about 8 % a year
REVERSION = 0.08  # share of the distance from its own average that the price gives back in one bar
AVERAGE = 24  # bars of that exponential average


def make_bars(
    n: int, *, seed: int = 0, step: str = "1h", start: str = "2023-01-02", price: float = 1.10
) -> Bars:
    """Return ``n`` bars with sessions, volatility clusters, weekend gaps, tick volumes and a little skill.

    step   one of 1m 5m 15m 30m 1h 4h 1d
    start  date of the first bar; trading runs from Monday 00:00 to Friday 24:00

    Each bar the price drifts back by 8 % of its distance from its 24-bar exponential average. That explains
    about 2 % of the variance of the next bar's return and 8 % of that of the next 12 bars together: an honest
    model can beat 'no change' by this much and no more. Prices are rounded to 5 digits, and random numbers
    are PCG64 normals and uniforms only, so the series is the same on every platform.
    """
    return _simulate(n, seed, step, start, price, REVERSION, "SYNTH")


def random_walk(
    n: int, *, seed: int = 0, step: str = "1h", start: str = "2023-01-02", price: float = 1.10
) -> Bars:
    """Return bars like make_bars' without anything to foretell: every skill found on them is a mistake."""
    return _simulate(n, seed, step, start, price, 0.0, "WALK")


def write_mt5(bars: Bars, path: str | Path) -> None:
    """Write bars as MetaTrader 5's 'Export Bars' does: tabs, CRLF, <DATE> ...; real volume 0, spread 10."""
    clock = bars.time.view("datetime64[ns]").astype("datetime64[s]").astype(str)
    lines = ["<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>"]
    for when, *prices, volume in zip(
        clock, bars.open, bars.high, bars.low, bars.close, bars.volume, strict=True
    ):
        day, _, hour = when.replace("-", ".").partition("T")
        lines.append("\t".join([day, hour, *(f"{p:.5f}" for p in prices), f"{volume:.0f}", "0", "10"]))
    Path(path).write_bytes(("\r\n".join(lines) + "\r\n").encode("ascii"))


def _trading_times(n: int, step: int, start: str) -> Times:
    """Return the opening times of ``n`` bars in weeks of five days."""
    first = int(np.datetime64(start, "ns").astype(np.int64))
    monday = first - (first + 3 * DAY) % (7 * DAY)
    a_week = 5 * DAY // step
    number = np.arange(n, dtype=np.int64) + min(-(-(first - monday) // step), a_week)
    return monday + number // a_week * (7 * DAY) + number % a_week * step


def _simulate(n: int, seed: int, step: str, start: str, price: float, reversion: float, symbol: str) -> Bars:
    if step not in STEPS or n < 1 or not price > 0.0:
        raise DataError(
            f"cannot make {n} bars of {step!r} from price {price}",
            where="synthetic bars",
            fix=f"choose n >= 1, a price > 0 and a step of {', '.join(STEPS)}",
        )
    time = _trading_times(n, STEPS[step], start)
    random = np.random.Generator(np.random.PCG64(seed))
    shock, news, up, down = random.normal(size=(4, n))
    ticks = random.uniform(0.8, 1.2, size=n)

    hours = STEPS[step] / HOUR
    session = SESSION[time // HOUR % 24] if STEPS[step] < DAY else np.ones(n)
    activity = session * np.exp(_clusters(news, 0.97 ** min(hours, 24.0)))
    sigma = HOURLY_VOLATILITY * np.sqrt(hours) * activity

    opened, closed = np.empty(n), np.empty(n)
    weekend = np.concatenate([[False], np.diff(time) > STEPS[step]])
    last = average = np.log(price)
    for t in range(n):
        opened[t] = last + (sigma[t] * down[t] if weekend[t] else 0.0)
        last = opened[t] - reversion * (opened[t] - average) + sigma[t] * shock[t]
        average += 2.0 / (AVERAGE + 1) * (last - average)
        closed[t] = last
    wick_up, wick_down = 0.5 * sigma * np.abs(up), 0.5 * sigma * np.abs(down)
    high = np.maximum(opened, closed) + wick_up
    low = np.minimum(opened, closed) - wick_down
    opened, high, low, closed = np.round(np.exp([opened, high, low, closed]), 5)
    volume = np.maximum(np.round(1500.0 * np.sqrt(hours) * activity * ticks), 1.0)
    return Bars(time, opened, high, low, closed, volume, symbol, STEPS[step])


def _clusters(news: Floats, persistence: float) -> Floats:
    """Return an autoregressive log volatility with a standard deviation of 0.35."""
    level, value = np.empty(len(news)), 0.0
    size = 0.35 * np.sqrt(1.0 - persistence**2)
    for t, new in enumerate(news):
        value = persistence * value + size * new
        level[t] = value
    return level
