"""From a model file to positions that a backtest trades, and from which bar on that is honest."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, stamp
from neuronet.device.base import Device
from neuronet.errors import DataError, SpecError
from neuronet.storage.hdf5 import read_model
from neuronet.train.contract import Contract
from neuronet.train.predict import Predictions, predict
from neuronet.train.settings import DATES, is_date

log = logging.getLogger(__name__)

SECOND = 10**9  # ns


def positions_of(model: str | Path, bars: Bars, device: Device | None = None) -> NDArray[np.float64]:
    """Return the position [bars] in [-1, 1] that a model decides at each close; NaN before its first window.

    policy     what the net says
    direction  P(up) - P(down)
    action     size, with the sign of the side: a backtest trades the position alone, without the stops
    forecast   the sign of (forecast of the last step ahead - close): 1, -1, or 0 for 'no change'
    """
    found = predict(model, bars, device=device)
    positions = np.full(len(bars), np.nan)
    positions[np.searchsorted(bars.time, found.time)] = position_column(found)
    return positions


def position_column(found: Predictions) -> NDArray[np.float64]:
    """The position [rows] that predictions of any task mean, see ``positions_of``."""
    columns = found.columns
    if "position" in columns:
        return np.asarray(columns["position"], np.float64)
    if "size" in columns:
        side: NDArray[np.float64] = (columns["class"] == "buy").astype(np.float64)
        side -= columns["class"] == "sell"
        return side * np.asarray(columns["size"], np.float64)
    if "p_up" in columns:
        return np.asarray(columns["p_up"], np.float64) - np.asarray(columns["p_down"], np.float64)
    last = max(columns, key=lambda name: int(name.removeprefix("forecast_")))
    said: NDArray[np.float64] = np.sign(np.asarray(columns[last], np.float64) - found.close)
    return said


def unseen_from(model: str | Path, since: str | None = None) -> int:
    """Return the time in ns from which on a model's decisions are traded: training saw no bar after it.

    since  date from which on instead, with a warning if training or validation used bars after it
    """
    return unseen_by(Contract.from_dict(read_model(model).bars, str(model)), since)


def unseen_by(contract: Contract, since: str | None = None) -> int:
    """``unseen_from`` of a model whose file has been read."""
    begins = contract.test_begins
    if since is None:
        return begins
    wanted = date_ns(since)
    if wanted < begins:
        log.warning(
            "training and validation used bars up to %s: what is earned before that is not honest",
            stamp(begins - begins % SECOND),
        )
    return wanted


def date_ns(since: str, option: str = "--from") -> int:
    """A date such as 2024-01-31, a time behind it or not, in ns. SpecError for what is none in int64 ns."""
    if not is_date(since):
        raise SpecError(f"{since!r} is no date", where=option, fix=DATES)
    return int(np.datetime64(since, "ns").astype(np.int64))


def row_from(bars: Bars, begins: int) -> int:
    """The row of the first bar at ``begins`` (ns) or later. DataError when there is none."""
    row = int(np.searchsorted(bars.time, begins))
    if row == len(bars):
        behind = begins % SECOND == 1  # all bars of then were used: it begins 1 ns after the last
        asked = f"after {stamp(begins - 1)}" if behind else f"of {stamp(begins)} or later"
        raise DataError(
            f"no bar is {asked}; the bars end at {stamp(bars.time[-1])}",
            where=bars.symbol or "bars",
            fix="give newer bars, or --from DATE (a model has seen the bars before its test part)",
        )
    return row
