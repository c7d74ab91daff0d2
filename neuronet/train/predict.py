"""Prediction: what a model says at every bar, in price units or probabilities."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, stamp
from neuronet.bars.windows import window_starts
from neuronet.device.base import Device
from neuronet.net import CNet
from neuronet.storage.atomic import replace_file
from neuronet.storage.hdf5 import read_model
from neuronet.train.action import action_columns
from neuronet.train.contract import Contract
from neuronet.train.metrics import prices
from neuronet.train.outputs import outputs_of
from neuronet.train.prepare import cut, known_rows
from neuronet.train.second_input import second_input
from neuronet.train.settings import CLASSES

log = logging.getLogger(__name__)

LINES_AT_ONCE = 100_000


@dataclass(frozen=True, eq=False)
class Predictions:
    """One row a bar, from the first whole window to the last bar; what is said at a bar uses no later one.

    time     [rows] int64 ns, when the bar opens; close [rows] its close
    columns  name -> [rows]: forecast_1 .. forecast_h, the closes of the next bars, in price units;
             or p_down, p_flat, p_up and class (a string), about the close ``horizon`` bars on;
             or position in [-1, 1], to be held from the next bar's open;
             or what action.py says of an action: p_sell .. p_buy, class, size, take_profit, stop_loss
    """

    time: NDArray[np.int64]
    close: NDArray[np.float64]
    columns: dict[str, NDArray[np.float64] | NDArray[np.str_]]

    def __len__(self) -> int:
        return len(self.time)

    def write_csv(self, path: str | Path) -> None:
        """Write time, close and the columns; numbers have 8 digits, and a number that is not there
        (the stops of 'flat') is an empty cell. The file appears whole or not at all.
        """
        replace_file(Path(path), map(str.encode, self.csv()))

    def csv(self) -> list[str]:
        """The same text in blocks of lines."""
        blocks = [",".join(["time", "close", *self.columns]) + "\n"]
        for begin in range(0, len(self), LINES_AT_ONCE):
            part = slice(begin, begin + LINES_AT_ONCE)
            clock = [stamp(time) for time in self.time[part]]
            values = [_cells(c[part]) for c in self.columns.values()]
            cells = zip(clock, np.char.mod("%.10g", self.close[part]), *values, strict=True)
            blocks.append("".join(",".join(row) + "\n" for row in cells))
        return blocks


def predict(
    model: str | Path, bars: Bars, *, closed_only: bool = False, device: Device | None = None
) -> Predictions:
    """Run the model in a file over bars; cutting the bars later never changes an earlier row.

    closed_only  leave out the last bar, which may still be open
    """
    file = read_model(model)
    contract = Contract.from_dict(file.bars, str(model))
    net = CNet.from_file(file, device, where=str(model))
    contract.compare(bars)
    if closed_only:
        bars = bars[:-1]
    settings = contract.settings
    bars, values = known_rows(bars, settings, contract.features)
    starts = window_starts(
        bars, history=settings.history, horizon=0, max_gap=settings.max_gap_ns, trained=True
    )
    rows = starts.astype(np.int64) + settings.history - 1
    source = cut(values, starts, settings.history, second=second_input(net, bars))
    outputs = outputs_of(net, source)
    close = bars.close[rows]
    columns: dict[str, NDArray[np.float64] | NDArray[np.str_]]
    if settings.task == "forecast":
        ahead = prices(close, contract.returns(outputs), differences=settings.differences)
        columns = {f"forecast_{k + 1}": ahead[:, k] for k in range(settings.horizon)}
    elif settings.task == "policy":
        columns = {"position": contract.positions(outputs)}
    elif settings.task == "action":
        columns = action_columns(contract.probabilities(outputs), contract.moves(outputs), close)
    else:
        p = contract.probabilities(outputs)
        columns = {f"p_{name}": p[:, i] for i, name in enumerate(CLASSES)}
        columns["class"] = np.array(CLASSES)[p.argmax(axis=1)]
    log.info("the last row is said at the close of the bar of %s", stamp(bars.time[rows[-1]]))
    return Predictions(bars.time[rows], close, columns)


def _cells(values: NDArray[Any]) -> NDArray[np.str_]:
    if values.dtype.kind != "f":
        return values
    return np.where(np.isnan(values), "", np.char.mod("%.8g", values))
