"""Evaluations as text: one table, and what its columns mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neuronet.bars.bars import counted
from neuronet.train.evaluate import Evaluation


def report(evaluations: Sequence[Evaluation]) -> list[str]:
    """Lines for people: the parts, a row for the model and each baseline, the definitions."""
    if not evaluations:
        return []
    header, row, notes = _TABLES[evaluations[0].task]
    if evaluations[0].constants.get("differences"):
        header = ["RMSE" if name == RMSE else name for name in header]
    rows = [row(one, name) for one in evaluations for name in one.scores]
    lines = [
        f"{one.part:<11} {one.first} to {one.last}, {counted(one.windows, 'window')}" for one in evaluations
    ]
    lines += ["", *_aligned([header, *rows]), ""]
    return lines + notes(evaluations[-1])


RMSE = "RMSE bp"  # of log returns; of differences without the unit
_FORECAST_HEADER = ["part", "forecast", "MAE price", RMSE, "MASE", "sMAPE", "skill", "direction (95 %)"]
_CLASS_HEADER = ["part", "forecast", "log loss", "accuracy (95 %)", "balanced"]
_ACTION_HEADER = [*_CLASS_HEADER, "MAE up bp", "down bp", "skill up", "down"]
_POLICY_HEADER = ["part", "position", "net", "gross", "costs", "turnover", "exposure", "t"]


def _forecast_row(one: Evaluation, name: str) -> list[str]:
    s = one.scores[name]
    sign = s["direction"]
    return [
        one.part,
        name,
        f"{s['mae_price']:.5g}",
        f"{s['rmse']:.5g}" if one.constants["differences"] else f"{s['rmse'] * 1e4:.2f}",
        _number(s["mase"], ".3f"),
        f"{s['smape'] * 100:.3f} %",
        _number(s["skill"], "+.2%"),
        "n/a" if sign is None else _share(sign),
    ]


def _class_row(one: Evaluation, name: str) -> list[str]:
    s = one.scores[name]
    return [one.part, name, f"{s['log_loss']:.4f}", _share(s), f"{s['balanced_accuracy']:.1%}"]


def _action_row(one: Evaluation, name: str) -> list[str]:
    s = one.scores[name]
    errors = [f"{s[f'mae_{side}'] * 1e4:.2f}" for side in ("up", "down")]
    return [
        *_class_row(one, name),
        *errors,
        *(_number(s[f"skill_{side}"], "+.2%") for side in ("up", "down")),
    ]


def _policy_row(one: Evaluation, name: str) -> list[str]:
    s = one.scores[name]
    shares = [f"{s[key]:+.2%}" for key in ("net", "gross", "costs")]
    return [one.part, name, *shares, f"{s['turnover']:.1f}", f"{s['exposure']:.2f}", _number(s["t"], "+.2f")]


def _policy_notes(one: Evaluation) -> list[str]:
    lines = [
        "net         sum of log returns from open to open times the position, less costs; gross without them",
        f"costs       {one.constants['cost']:g} of the price for each change of the position by 1",
        "turnover    sum of the changes of the position, from flat and back to flat",
        "exposure    mean of |position|; t: mean net return of a bar over its standard error",
    ]
    if one.constants["blend"] == 0.0:
        return [
            *lines,
            "blend       0: the net earns nothing on the validation part: the model stays flat",
        ]
    return lines


def _forecast_notes(one: Evaluation) -> list[str]:
    horizon, mase = one.constants["horizon"], one.constants["mase"]
    base = next((s["direction"]["base_rate"] for s in one.scores.values() if s["direction"]), None)
    denominator = _number(mase["denominator"], ".5g")
    unit = (
        "of differences, in units of price" if one.constants["differences"] else "1 bp = 0.0001 of the price"
    )
    ahead = f"{horizon} bars ahead" if horizon > 1 else "the next bar"
    lines = [
        f"MAE, RMSE   mean error over all windows and {counted(horizon, 'step')}; {unit}",
        f"MASE        MAE / {denominator}, the mean move of a bar (m=1) over {mase['terms']:,} training bars",
        "sMAPE       2 |f-y| / (|f|+|y|), from 0 to 200 %",
        "skill       1 - MSE / MSE of the last value: 0 % is no better than 'no change'",
        f"direction   right signs {ahead}; the interval counts windows / {horizon}, as they overlap",
    ]
    if base is not None:
        lines.append(f"            always saying the commoner sign gives {base:.1%}")
    return lines + _blend_note(one, "the last value")


def _class_notes(one: Evaluation) -> list[str]:
    horizon, threshold = one.constants["horizon"], one.constants["threshold"]
    model, classes = one.scores["model"], one.constants["classes"]
    low, _, high = classes
    entry = "" if one.task == "direction" else " against the next open"
    lines = [
        f"classes     the close {counted(horizon, 'bar')} ahead{entry}: "
        f"{low}, flat (within {threshold:g} in log), {high}",
        f"accuracy    of the most probable class; the interval counts windows / {horizon}, as they overlap",
        f"            always saying the commonest class gives {model['base_rate']:.1%}",
        "balanced    mean over the classes of the share found",
        "log loss    mean of -log(probability of what came)",
        f"{one.part}: rows are what came, columns what the model called most probable",
    ]
    table = [
        ["", *classes],
        *([n, *map(str, row)] for n, row in zip(classes, model["confusion"], strict=True)),
    ]
    return lines + ["  " + line for line in _aligned(table)] + _blend_note(one, "the training shares")


def _action_notes(one: Evaluation) -> list[str]:
    bars, blend = counted(one.constants["horizon"], "bar"), one.constants["blend_moves"]
    side = one.scores["model"]["side"]
    known = "n/a" if side is None else f"{_share(side)}, always the commoner one {side['base_rate']:.1%}"
    return [
        *_class_notes(one),
        f"side        right where sell or buy came: {known};",
        "            log loss and accuracy count 'flat', too, which follows from how much the price moves",
        f"up, down    how far the price goes above and below the next open within {bars}, in log;",
        "            1 bp = 0.0001. MAE: mean error; skill: 1 - MSE / MSE of the training part's means,",
        "            which are what the row of the training shares says",
        f"            blend {blend:.2f} of the net, the rest the training means",
    ]


def _blend_note(one: Evaluation, baseline: str) -> list[str]:
    blend = one.constants["blend"]
    if blend == 0.0:
        return [f"blend       0: the net is no help on the validation part, so the model is {baseline}"]
    return [f"blend       {blend:.2f} of the net, the rest {baseline}: what the validation part supports"]


def _share(s: dict[str, Any]) -> str:
    return f"{s['accuracy']:.1%} ({s['low']:.1%} to {s['high']:.1%})"


def _number(value: float | None, form: str) -> str:
    return "n/a" if value is None else format(value, form)


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


_TABLES = {
    "forecast": (_FORECAST_HEADER, _forecast_row, _forecast_notes),
    "direction": (_CLASS_HEADER, _class_row, _class_notes),
    "action": (_ACTION_HEADER, _action_row, _action_notes),
    "policy": (_POLICY_HEADER, _policy_row, _policy_notes),
}
