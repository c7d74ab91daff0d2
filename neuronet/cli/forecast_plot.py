"""A picture of forecasts: the end of each history, the median and a band of quantiles."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neuronet.errors import DataError
from neuronet.storage.atomic import replace_file
from neuronet.train.forecast import Forecast

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 8  # panels in a picture
HISTORY = 4  # times the horizon


def require_matplotlib(path: Path) -> None:
    """DataError when matplotlib, which ``draw`` needs, is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        fix = 'pip install "neuronet[plot]", or leave out --plot'
        raise DataError("matplotlib is not installed", where=f"--plot {path}", fix=fix) from None


def draw(path: Path, forecasts: Sequence[Forecast]) -> None:
    """Write a PNG with a panel for each of the first MOST forecasts."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    shown = forecasts[:MOST]
    figure, panels = plt.subplots(len(shown), 1, figsize=(9, 2.6 * len(shown) + 0.4), squeeze=False)
    for panel, one in zip(panels[:, 0], shown, strict=True):
        past = one.series[-HISTORY * one.steps :]
        panel.plot(past.times.astype("datetime64[ns]"), past.values, color="0.25", lw=1.2, label="history")
        ahead = one.times.astype("datetime64[ns]")
        panel.plot(ahead, one.median, color="tab:blue", lw=1.6, label="forecast (median)")
        if len(one.levels) > 1:
            low, high = int(np.argmin(one.levels)), int(np.argmax(one.levels))
            band = f"{one.levels[low]:g} to {one.levels[high]:g} quantile"
            edges = one.quantiles[:, low], one.quantiles[:, high]
            panel.fill_between(ahead, *edges, color="tab:blue", alpha=0.2, lw=0, label=band)
        panel.set_title(one.series.name, loc="left", fontsize=10, parse_math=False)  # $ is a currency
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0, 0].legend(loc="best", fontsize=8, frameon=False)
    save(path, figure)


def save(path: Path, figure: Figure) -> None:
    """Write a figure as PNG and close it. A letter that no font has becomes a box, without a warning."""
    from matplotlib import pyplot as plt

    image = BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.tight_layout()
        figure.savefig(image, format="png", dpi=120)
    plt.close(figure)
    replace_file(path, [image.getvalue()])
