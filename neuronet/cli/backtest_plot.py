"""A picture of a backtest: the equity beside buy and hold, and the drawdown below."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from neuronet.cli import forecast_plot
from neuronet.market.backtest import Backtest
from neuronet.market.report import drawdown

MOST = (
    4_000  # points in a line; more bars are drawn in blocks, each with its last equity and deepest drawdown
)


def draw(path: Path, strategy: Backtest, hold: Backtest) -> None:
    """Write a PNG of two backtests on the same bars."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    begins = np.arange(0, len(strategy.bars), -(-len(strategy.bars) // MOST))
    ends = np.append(begins[1:], len(strategy.bars)) - 1
    time = strategy.bars.time[ends].astype("datetime64[ns]")
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), sharex=True, height_ratios=[3, 1])
    for test, name, color in ((hold, "buy and hold", "0.55"), (strategy, "strategy", "tab:blue")):
        top.plot(time, test.equity[ends], color=color, lw=1.2, label=name)
        fall = -100.0 * np.maximum.reduceat(drawdown(test.equity), begins)
        bottom.plot(time, fall, color=color, lw=0.8)
        if test is strategy:
            bottom.fill_between(time, fall, 0.0, color=color, alpha=0.25, lw=0)
    top.axhline(strategy.cash, color="0.8", lw=0.8, zorder=0)
    title = f"{strategy.bars.symbol or 'bars'}: equity after costs"
    top.set_title(title, loc="left", fontsize=10, parse_math=False)
    top.legend(loc="best", fontsize=8, frameon=False)
    bottom.set_title("drawdown, %", loc="left", fontsize=10)
    for panel in (top, bottom):
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    figure.autofmt_xdate()
    forecast_plot.save(path, figure)
