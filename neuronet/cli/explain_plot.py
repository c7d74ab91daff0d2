"""A picture of an explanation: the price, and below it where each scenario looked, layer by layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from neuronet.bars.bars import stamp
from neuronet.cli import forecast_plot
from neuronet.train.explain import Explanation

MOST = 400  # stretches of bars in the width of the picture
MARKS = 7  # times below it


def draw(path: Path, found: Explanation) -> None:
    """Write a PNG: the closes, shaded where all heads together looked most, and a panel for each scenario."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    bars, layers = found.bars, len(found.weights)
    size = -(-len(bars) // MOST)
    begins = np.arange(0, len(bars), size)
    by_stretch = 100.0 * np.add.reduceat(found.weights.mean(axis=2), begins, axis=2)  # mean over heads, %
    edges = (
        np.append(begins, len(bars)) - 0.5
    )  # bars stand side by side: a weekend has no width, so no weight
    scenarios = found.weights.shape[1]
    figure, panels = plt.subplots(
        1 + scenarios,
        1,
        figsize=(10, 3 + 1.5 * scenarios),
        sharex=True,
        height_ratios=[2.4] + [1] * scenarios,
    )
    panels[0].plot(bars.close, color="0.25", lw=0.9)
    share = by_stretch.mean(axis=(0, 1))
    for i in np.flatnonzero(share > 2.0 * share.mean()):
        panels[0].axvspan(
            edges[i], edges[i + 1], color="tab:orange", alpha=0.5 * share[i] / share.max(), lw=0
        )
    title = f"{bars.symbol or 'bars'}: where the answer at the close of {stamp(bars.time[-1])} looked"
    panels[0].set_title(title, loc="left", fontsize=10, parse_math=False)
    top, stretch = 1.05 * by_stretch.max(), "each bar" if size == 1 else f"every {size} bars"
    for scenario, panel in enumerate(panels[1:]):
        for layer in range(layers):
            panel.stairs(
                by_stretch[layer, scenario],
                edges,
                label=f"layer {layer + 1}",
                lw=1.2,
                baseline=None,
            )
        panel.axhline(100.0 * size / len(bars), color="0.7", lw=0.8, ls=":")
        panel.set_ylim(0.0, top)
        name = f"scenario {scenario + 1}: % of the weight on {stretch}, mean of the heads"
        panel.set_title(name, loc="left", fontsize=9)
    panels[-1].legend(loc="best", fontsize=8, frameon=False, ncols=layers)
    for panel in panels:
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    marks = np.unique(np.linspace(0, len(bars) - 1, MARKS).round().astype(int))
    panels[-1].set_xticks(marks, [stamp(bars.time[i])[:16] for i in marks])
    panels[-1].set_xlim(-0.02 * len(bars), 1.02 * len(bars))
    figure.autofmt_xdate()
    forecast_plot.save(path, figure)
