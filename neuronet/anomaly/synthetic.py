"""Made-up bars of several symbols whose correlation breaks at known times, seen in none of them alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars
from neuronet.bars.synthetic import HOURLY_VOLATILITY, SESSION, STEPS
from neuronet.bars.synthetic import _clusters as volatility_clusters
from neuronet.bars.synthetic import _trading_times as trading_times
from neuronet.errors import DataError

Floats = NDArray[np.float64]
HOUR = STEPS["1h"]
APART = 48  # rows between episodes, at least


@dataclass(frozen=True, eq=False)
class Planted:
    """Series with planted episodes.

    times    [rows] int64 ns: hours of weeks of five days
    returns  [rows, series] log returns; ``closes`` [rows, series] the prices that they lead to
    labels   [rows] True in an episode
    names    one a series: SYMA, SYMB ...
    """

    times: NDArray[np.int64]
    returns: Floats
    closes: Floats
    labels: NDArray[np.bool_]
    names: tuple[str, ...]

    def bars(self) -> tuple[Bars, ...]:
        """Return bars of each series: open at the close before, high and low the larger and the smaller."""
        found = []
        for name, close, moves in zip(self.names, self.closes.T, self.returns.T, strict=True):
            opened = close * np.exp(-moves)
            high, low = np.maximum(opened, close), np.minimum(opened, close)
            volume = np.full(len(close), 1000.0)
            found.append(Bars(self.times, opened, high, low, close, volume, name, HOUR))
        return tuple(found)


def make_planted(
    rows: int,
    *,
    seed: int = 0,
    series: int = 2,
    correlation: float = 0.95,
    episodes: int = 4,
    length: int = 48,
    clean: int | None = None,
) -> Planted:
    """Return hourly series whose returns have a common part, except in ``episodes`` runs of ``length`` rows.

    return of series i = s x (sqrt(correlation) f + sqrt(1 - correlation) e_i), with independent standard
    normal f and e_i, and s from the hour of the day and slow clusters, the same for all. In an episode each
    series has an f of its own. Given s, all returns of one series are independent N(0, s^2) with and
    without episodes, so nothing in one series alone tells them: only the correlation does.

    correlation  between two series outside of the episodes, in [0, 1]
    episodes     0 gives a clean set
    clean        rows at the start without an episode, for training; None is half of them

    Random numbers are PCG64 normals and integers only, the same on every platform.
    Raises DataError when the episodes do not fit behind the clean rows with 48 rows in between, or for
    sizes out of range.
    """
    clean = rows // 2 if clean is None else clean
    if rows < 1 or series < 2 or not 0.0 <= correlation <= 1.0 or episodes < 0 or length < 1 or clean < 0:
        raise DataError(
            f"{rows} rows of {series} series, correlation {correlation}, {episodes} episodes of {length}, "
            f"{clean} clean rows",
            where="make_planted",
            fix="choose rows >= 1, series >= 2, a correlation from 0 to 1, episodes >= 0, length >= 1",
        )
    room = rows - clean - episodes * (length + APART)
    if episodes and room < 0:
        raise DataError(
            f"{episodes} episodes of {length} rows with {APART} in between do not fit into "
            f"{max(rows - clean, 0)} rows",
            where="make_planted",
            fix=f"give at least {clean + episodes * (length + APART)} rows, or fewer or shorter episodes",
        )
    random = np.random.Generator(np.random.PCG64(seed))
    common, news = random.normal(size=(2, rows))
    own, alone = random.normal(size=(2, rows, series))
    labels = np.zeros(rows, bool)
    if episodes:
        first = np.sort(random.integers(0, room + 1, size=episodes))
        for start in clean + first + np.arange(episodes) * (length + APART) + APART:
            labels[start : start + length] = True
    times = trading_times(rows, HOUR, "2023-01-02")
    activity = SESSION[times // HOUR % 24] * np.exp(volatility_clusters(news, 0.97))
    shared = np.where(labels[:, None], alone, common[:, None])
    mixed = np.sqrt(correlation) * shared + np.sqrt(1.0 - correlation) * own
    returns = HOURLY_VOLATILITY * activity[:, None] * mixed
    closes = (1.1 + 0.2 * np.arange(series)) * np.exp(np.cumsum(returns, axis=0))
    names = tuple(f"SYM{chr(ord('A') + i)}" if series <= 26 else f"SYM{i}" for i in range(series))
    return Planted(times, returns, closes, labels, names)
