"""A picture of anomalies: the channels that raised most, the score with its threshold, and the alarms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neuronet.anomaly.labels import runs
from neuronet.cli import forecast_plot
from neuronet.train.alarms import Found

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 5  # channels
NUMBERED = 8  # alarms, those with the highest peaks
MOST = 2_000  # blocks of rows in a line, each drawn from its lowest to its highest value
HOLE = 12  # steps without a row over which no line is drawn, as over a weekend of hours
ALARM, SCORE, QUIET = "#c0392b", "#2c5f8a", "0.35"


def draw(path: Path, found: Found, labels: NDArray[np.bool_] | None = None) -> None:
    """Write a PNG of what was found at a threshold; ``labels`` [rows] become bars under the score."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    top = _top(found)
    heights = [1.0] * len(top) + [1.6]
    size = (11, 1.15 * len(top) + 2.6)
    figure, panels = plt.subplots(len(heights), 1, figsize=size, sharex=True, height_ratios=heights)
    panels = np.atleast_1d(panels)
    for panel, at in zip(panels[:-1], top, strict=True):
        _line(panel, found, found.channels.values[:, at], color=QUIET)
        panel.set_title(found.channels.names[at], loc="left", fontsize=9, pad=3, parse_math=False)
    _score(panels[-1], found, labels)
    for panel in panels:
        for one in found.alarms:
            left, right = _span(found, one.first, one.last)
            panel.axvspan(left, right, color=ALARM, alpha=0.16, lw=0.8, zorder=0)
        panel.grid(alpha=0.25, lw=0.6)
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8)
        panel.margins(x=0.005)
    many = len(found.channels.names)
    left_out = f"; {many - len(top)} channels not shown" if many > len(top) else ""
    count = len(found.alarms)
    title = f"{count} alarm{'' if count == 1 else 's'} in {len(found.channels):,} rows{left_out}"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, parse_math=False)
    figure.align_ylabels(panels)
    forecast_plot.save(path, figure)


def _top(found: Found) -> list[int]:
    """The channels with the largest part in the alarms, in the model's order; of the score without alarms."""
    made = found.contributions
    rows = np.zeros(len(made), bool)
    for one in found.alarms:
        rows[one.first : one.last + 1] = True
    part = made[rows] if rows.any() else made
    order = np.argsort(-part.mean(axis=0), kind="stable")[:SHOWN]
    return sorted(order.tolist())


def _score(panel: Axes, found: Found, labels: NDArray[np.bool_] | None) -> None:
    threshold = found.threshold
    assert threshold is not None  # a picture is of alarms, so the command needs one
    _line(panel, found, found.scores, color=SCORE, label="score")
    said = f"threshold, 1 normal row in {1 / threshold.rate:,.0f}"
    panel.axhline(threshold.value, color=ALARM, lw=1.0, ls="--", label=said)
    if labels is not None:
        bottom = panel.get_xaxis_transform()
        for i, (first, end) in enumerate(runs(labels).tolist()):
            left, right = _span(found, first, end - 1)
            label = "labelled" if i == 0 else None
            panel.fill_between([left, right], 0.0, 0.05, transform=bottom, color="0.2", lw=0, label=label)
    strongest = sorted(found.alarms, key=lambda one: -one.score)[:NUMBERED]
    order = {one.first: i + 1 for i, one in enumerate(found.alarms)}
    for one in strongest:
        row = int(np.searchsorted(found.channels.times, one.peak))
        panel.annotate(
            str(order[one.first]),
            (_x(found)[row], one.score),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=ALARM,
        )
    panel.set_title("anomaly score", loc="left", fontsize=9, pad=3)
    panel.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), fontsize=8, frameon=False, ncols=3)
    low, high = panel.get_ylim()
    panel.set_ylim(min(low, 0.0), high + 0.1 * (high - low))  # room for the numbers


def _x(found: Found) -> NDArray[Any]:
    times = found.channels.times
    return times.astype("datetime64[ns]") if found.channels.timed else times


def _span(found: Found, first: int, last: int) -> tuple[Any, Any]:
    """From the middle before the first row to the middle behind the last, so that one row is seen, too."""
    times = found.channels.times
    half = max(1, found.contract.step // 2)
    wide = max(half, int(times[-1] - times[0]) // 1_500)  # at least a pixel
    ends = np.array([times[first] - wide, times[last] + wide])
    return tuple(ends.astype("datetime64[ns]") if found.channels.timed else ends)


def _line(panel: Axes, found: Found, values: NDArray[np.float64], *, color: str, label: str = "") -> None:
    """Values over time; many rows as blocks with their lowest and highest value, so that no peak is lost."""
    x, times = _x(found), found.channels.times
    size = -(-len(values) // MOST)
    holes = np.flatnonzero(np.diff(times) > HOLE * found.contract.step) + 1
    if size > 1 or len(holes):
        begins = np.union1d(np.arange(0, len(values), size), holes)
        low, high = np.minimum.reduceat(values, begins), np.maximum.reduceat(values, begins)
        cuts = 2 * np.searchsorted(begins, holes)
        x = np.insert(np.repeat(x[begins], 2), cuts, x[holes])
        values = np.insert(np.stack([low, high], axis=1).ravel(), cuts, np.nan)
    panel.plot(x, values, color=color, lw=0.8, label=label or None)
