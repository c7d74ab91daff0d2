"""From a model file to actions that the market simulator trades."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars
from neuronet.device.base import Device
from neuronet.market.actors import actions_of
from neuronet.market.orders import Actions
from neuronet.market.rules import Rules
from neuronet.train.positions import position_column
from neuronet.train.predict import predict


def model_actions(
    model: str | Path, bars: Bars, rules: Rules, *, lots: float, device: Device | None = None
) -> Actions:
    """Return what a model of any task does at each close, as actions [bars, 6]; flat before its first window.

    lots  volume of a position of 1; see ``positions_of`` for the positions of each task

    A model of the task action also sets take-profit and stop-loss; they count from the entry, as distances
    of its prices from the close. No row sees a later bar.
    """
    rules.check_lots(lots)
    found = predict(model, bars, device=device)
    rows = np.searchsorted(bars.time, found.time)

    def spread_out(values: NDArray[np.float64]) -> NDArray[np.float64]:
        every = np.full(len(bars), np.nan)
        every[rows] = values
        return every

    distances = {}
    for short, name in (("tp", "take_profit"), ("sl", "stop_loss")):
        if name in found.columns:
            price = np.asarray(found.columns[name], np.float64)
            distances[short] = spread_out(np.abs(price - found.close))
    return actions_of(spread_out(position_column(found)), rules, lots=lots, **distances)
