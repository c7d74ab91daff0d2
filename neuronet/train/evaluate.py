"""Evaluation: a model's scores beside the baselines', over every window of a part of the bars."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.bars import Bars, stamp
from neuronet.bars.split import Starts
from neuronet.bars.windows import window_starts
from neuronet.device.base import Device
from neuronet.errors import DataError
from neuronet.net import CNet
from neuronet.storage.hdf5 import read_model
from neuronet.train.action import action_scores
from neuronet.train.baselines import forecasts
from neuronet.train.contract import Contract, part_span
from neuronet.train.metrics import class_scores, forecast_scores
from neuronet.train.outputs import outputs_of
from neuronet.train.policy import follows, policy_scores
from neuronet.train.positions import date_ns
from neuronet.train.prepare import cut, known_rows, make_targets
from neuronet.train.second_input import second_input

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Evaluation:
    """Scores of one part of the bars.

    part        'validation', 'test', or what the caller calls it
    first, last time of the first bar and of the last target bar
    scores      'model' and the name of each baseline -> metrics, see metrics.py
    constants   what the metrics depend on: horizon, MASE's period, denominator and number of terms, ...
    """

    part: str
    task: str
    first: str
    last: str
    windows: int
    scores: dict[str, dict[str, Any]]
    constants: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; ``from_dict`` gives it back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Evaluation:
        return cls(**data)


def evaluate(
    model: str | Path, bars: Bars, *, test_from: str | None = None, device: Device | None = None
) -> Evaluation:
    """Score the model in a file on the windows that its training never saw.

    test_from  date from which on windows are scored instead, with a warning if training saw bars after it

    Raises DataError when there is no such window.
    """
    asked = None if test_from is None else date_ns(test_from, "--test-from")
    file = read_model(model)
    contract = Contract.from_dict(file.bars, str(model))
    net = CNet.from_file(file, device, where=str(model))
    contract.compare(bars)
    bars, values = known_rows(bars, contract.settings, contract.features)
    settings, begins = contract.settings, contract.test_begins if asked is None else asked
    if begins < contract.test_begins:
        log.warning(
            "training and validation used bars up to %s: scores before that are not honest",
            stamp(contract.test_begins),
        )
    starts = window_starts(
        bars, history=settings.history, horizon=settings.ahead, max_gap=settings.max_gap_ns, trained=True
    )
    starts = starts[bars.time[starts] >= begins]
    if not len(starts):
        raise DataError(
            f"no window of {settings.history}+{settings.ahead} bars begins at {stamp(begins)} or later; "
            f"the bars end at {stamp(bars.time[-1])}",
            where=bars.symbol or "bars",
            fix="give newer bars, or --test-from DATE (the model has seen bars before "
            f"{stamp(contract.test_begins)})",
        )
    outputs = outputs_of(net, cut(values, starts, settings.history, second=second_input(net, bars)))
    return score(contract, bars, make_targets(bars, settings), starts, outputs, part="test")


def score(
    contract: Contract,
    bars: Bars,
    targets: NDArray[Any],
    starts: Starts,
    outputs: NDArray[Any],
    *,
    part: str,
) -> Evaluation:
    """Scores of a net's outputs [windows, ...] for the windows at ``starts``, and of the baselines."""
    settings, reference = contract.settings, contract.reference
    last = starts.astype(np.int64) + settings.history - 1
    truth = targets[last]
    constants: dict[str, Any] = {"horizon": settings.horizon, "blend": contract.blend}
    kind = {"differences": settings.differences}
    if settings.task == "forecast":
        found = {"model": contract.returns(outputs)}
        found |= forecasts(reference, bars.close, last, settings.horizon, **kind)
        close, error = bars.close[last], reference.naive_error
        scores = {name: forecast_scores(f, truth, close, error, **kind) for name, f in found.items()}
        constants |= {
            "mase": {"m": 1, "denominator": error, "terms": reference.naive_count},
            "smape": {"range": 2},
            **kind,
        }
    elif settings.task == "policy":
        ones, after = np.ones(len(last)), follows(starts)
        held = {"model": contract.positions(outputs), "buy and hold": ones, "flat": 0.0 * ones}
        scores = {n: policy_scores(p, truth[:, 0], settings.cost, after) for n, p in held.items()}
        constants |= {"cost": settings.cost}
    else:
        base = np.tile(np.array(reference.shares), (len(last), 1))
        found = {"model": contract.probabilities(outputs), "training shares": base}
        constants |= {"classes": list(settings.classes), "threshold": settings.threshold}
        if settings.task == "direction":
            scores = {name: class_scores(p, truth, settings.horizon) for name, p in found.items()}
        else:
            assert contract.target is not None
            means, horizon = contract.target.mean, settings.horizon
            moves = {"model": contract.moves(outputs), "training shares": np.tile(means, (len(last), 1))}
            scores = {n: action_scores(p, moves[n], means, truth, horizon) for n, p in found.items()}
            constants |= {"blend_moves": contract.blend_moves}
    first, end = part_span(bars, starts, settings)
    return Evaluation(part, settings.task, first, end, len(starts), scores, constants)
