"""The task action: sell, flat or buy, how much, and where to take the profit or stop the loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.bars.scaling import Scaler
from neuronet.train.metrics import Floats, class_scores, mae, skill, wilson
from neuronet.train.settings import ACTIONS

SELL, FLAT, BUY = range(3)


def classes_of(targets: Floats) -> NDArray[np.int32]:
    """Class numbers of known target rows [windows, 3]: class, up, down."""
    return targets[:, 0].astype(np.int32)


def loss_rows(targets: Floats, scaler: Scaler) -> Floats:
    """The target rows [bars, 3] of losses.Action: the class, and both excursions scaled."""
    return np.column_stack([targets[:, 0], scaler.transform(targets[:, 1:])])


def excursions(outputs: NDArray[Any], scaler: Scaler, blend: float) -> Floats:
    """The net's outputs [windows, 5] as log excursions [windows, 2], up and down; at least 0, as they are.

    blend  share of the net; the rest is the training part's mean, which is 0 in the scaler's units
    """
    return np.maximum(0.0, scaler.inverse(blend * outputs[:, len(ACTIONS) :].astype(np.float64)))


def action_scores(p: Floats, moves: Floats, means: Floats, truth: Floats, horizon: int) -> dict[str, Any]:
    """Scores of probabilities p [windows, 3] as of classes, and of log excursions moves [windows, 2].

    truth  [windows, 3] the target rows; means [2] of the training part

    side                  see side_hits: whether a net knows more than how much the price will move
    mae_up, mae_down      mean |moves - truth|, in log
    skill_up, skill_down  1 - MSE / MSE of ``means``. The mean is not the constant of the least absolute
                          error, as excursions are skewed; of the least squared one it is
    """
    classes = classes_of(truth)
    scores = class_scores(p, classes, horizon) | {"side": side_hits(p, classes, horizon)}
    for i, name in enumerate(("up", "down"), 1):
        f, y = moves[:, i - 1], truth[:, i]
        scores |= {f"mae_{name}": mae(f, y), f"skill_{name}": skill(f, y, means[i - 1])}
    return scores


def side_hits(p: Floats, classes: NDArray[np.int32], horizon: int) -> dict[str, Any] | None:
    """How often the likelier of sell and buy came, over windows where one of them came and p differs.

    base_rate  share of the side that came more often; low, high  Wilson's interval for windows / horizon

    None when there is no such window.
    """
    said = p[:, BUY] - p[:, SELL]
    known = (classes != FLAT) & (said != 0.0)
    n = int(known.sum())
    if not n:
        return None
    bought = classes[known] == BUY
    hits = float(np.mean((said[known] > 0.0) == bought))
    low, high = wilson(hits * n / horizon, n / horizon)
    base = float(max(bought.mean(), 1.0 - bought.mean()))
    return {"accuracy": hits, "base_rate": base, "low": low, "high": high, "windows": n}


def action_columns(
    p: Floats, moves: Floats, close: Floats
) -> dict[str, NDArray[np.float64] | NDArray[np.str_]]:
    """What to do at each close, from probabilities p [windows, 3] and log excursions moves [windows, 2].

    p_sell, p_flat, p_buy      probabilities
    class                      the most probable one
    size                       |p_buy - p_sell|, 0 for flat: 1 where a side is sure
    take_profit, stop_loss     prices: the close moved by the excursion with the side and against it, so for
                               buy close * exp(up) and close * exp(-down); NaN for flat
    """
    best = p.argmax(axis=1)
    above, below = close * np.exp(moves[:, 0]), close * np.exp(-moves[:, 1])
    sides = [best == BUY, best == SELL]
    return {
        **{f"p_{name}": p[:, i] for i, name in enumerate(ACTIONS)},
        "class": np.array(ACTIONS)[best],
        "size": np.where(best == FLAT, 0.0, np.abs(p[:, BUY] - p[:, SELL])),
        "take_profit": np.select(sides, [above, below], np.nan),
        "stop_loss": np.select(sides, [below, above], np.nan),
    }
