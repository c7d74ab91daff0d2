"""MASE of a model that never saw the sets, beside seasonal naive and the published Mamba4Cast.

    python benchmarks/zero_shot.py FOLDER [--model weights.h5] [--context N] [--batch 64]

Takes every .tsf and .csv file in FOLDER and below; the last values of each series are held out, as many as
HORIZONS says for the set, else as the file's @horizon. Columns: mean of the MASE denominators (in the sets'
own units), MASE of seasonal naive and of the model, series without a MASE ("n/a", left out of the means),
and the published MASE of Mamba4Cast and of seasonal naive (arXiv 2410.09385, context 512). The definition is
that of neuronet/series/zero_shot.py. Files that cannot be evaluated are named on stderr.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from neuronet.errors import DataError, NeuronetError
from neuronet.series.series import Series
from neuronet.series.table import read_series
from neuronet.series.tsf import is_tsf, read_tsf
from neuronet.series.zero_shot import BATCH, Forecaster, zero_shot

HORIZONS = {
    "nn5_daily": 56,
    "nn5_weekly": 8,
    "covid_deaths": 30,
    "weather": 30,
    "hospital": 12,
    "fred_md": 12,
    "car_parts": 12,
    "traffic": 24,
    "m3_monthly": 18,
    "ercot": 24,
    "m1_monthly": 18,
    "m1_quarterly": 8,
    "cif_2016": 12,
    "exchange_rate": 30,
    "m3_quarterly": 8,
    "tourism_monthly": 24,
    "tourism_quarterly": 8,
    # Not in the published table.
    "etth1": 24,
    "etth2": 24,
    "national_illness": 24,
}
PUBLISHED = {  # set: (Mamba4Cast, seasonal naive)
    "nn5_daily": (0.807, 0.952),
    "nn5_weekly": (0.947, 1.063),
    "covid_deaths": (6.894, 8.977),
    "weather": (0.692, 0.813),
    "hospital": (0.801, 0.921),
    "fred_md": (0.563, 0.935),
    "car_parts": (0.993, 1.127),
    "traffic": (1.125, 0.753),
    "m3_monthly": (0.865, 1.146),
    "ercot": (0.708, 0.751),
    "m1_monthly": (1.117, 1.314),
    "m1_quarterly": (1.753, 2.078),
    "cif_2016": (0.968, 1.597),
    "exchange_rate": (1.410, 1.460),
    "m3_quarterly": (1.266, 1.425),
    "tourism_monthly": (1.588, 1.631),
    "tourism_quarterly": (1.848, 1.699),
}
ALIASES = {"traffic_hourly": "traffic", "ercot_load": "ercot"}  # names of files -> of the table
HEADER = (
    *("set", "series", "step", "horizon", "season", "mean denom.", "s. naive", "model", "n/a", "published"),
    "publ. naive",
)


def name_of(path: Path) -> str:
    """hospital_dataset.tsf, nn5_daily_dataset_without_missing_values.tsf -> hospital, nn5_daily"""
    stem = path.name.split(".")[0].lower().split("_dataset")[0]
    return ALIASES.get(stem, stem)


def read(path: Path) -> tuple[list[Series], int]:
    """Return a set and its horizon. DataError when neither HORIZONS nor the file knows it."""
    if is_tsf(path):
        file = read_tsf(path)
        series, horizon = file.series, file.horizon
    else:
        series, horizon = read_series(path), None
    horizon = HORIZONS.get(name_of(path), horizon)
    if horizon is None:
        raise DataError("no horizon is known", where=path.name, fix="add the set to HORIZONS")
    return series, horizon


def row_of(path: Path, forecaster: Forecaster | None, batch: int, context: int | None) -> tuple[str, ...]:
    """Evaluate one file; return its row of the table."""
    series, horizon = read(path)
    frequency = series[0].frequency
    row = zero_shot(series, horizon, frequency.season, forecaster, batch=batch, context=context)
    paper, paper_naive = PUBLISHED.get(name_of(path), (None, None))
    return (
        name_of(path),
        str(row.series),
        str(frequency),
        str(row.horizon),
        str(row.season),
        "-" if row.denominator is None else f"{row.denominator:.6g}",
        number(row.naive, 6),
        number(row.model, 6),
        str(row.undefined),
        number(paper, 3),
        number(paper_naive, 3),
    )


def number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows as text: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def load(path: Path) -> Forecaster:
    """Return the forecaster of a saved Mamba4Cast."""
    from neuronet.models.mamba4cast import Mamba4Cast

    return Mamba4Cast.load(path).forecast_many


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--model", type=Path, metavar="FILE", help="a saved Mamba4Cast; without: seasonal naive only"
    )
    parser.add_argument(
        "--context", type=int, help="MASE's denominator takes only the last N values; default: all"
    )
    parser.add_argument(
        "--batch", type=int, default=BATCH, help="series that the model gets at once; default: 64"
    )
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    paths = sorted(p for p in options.folder.rglob("*") if p.suffix.lower() in (".tsf", ".csv"))
    if not paths:
        parser.error(f"no .tsf or .csv file in {options.folder}")
    forecaster = load(options.model) if options.model else None
    rows: list[tuple[str, ...]] = []
    for path in paths:
        try:
            rows.append(row_of(path, forecaster, options.batch, options.context))
        except NeuronetError as error:
            print(f"{path.name} left out: {error}", file=sys.stderr)
    if rows:
        print(aligned([HEADER, *rows]))
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
