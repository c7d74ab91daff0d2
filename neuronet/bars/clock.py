"""From a file's clock to UTC: a zone with its clock changes, or a fixed offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from neuronet.bars.bars import Times
from neuronet.bars.findings import Findings, rows_of
from neuronet.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

DAY = 86_400 * 10**9
HOUR = 3_600 * 10**9


def to_utc(
    time: Times, tz: str | None, utc_offset: float | None, has_zone: bool, findings: Findings
) -> Times:
    """Return ns in UTC; as they are when neither a zone nor an offset is given. [rows] in file order."""
    if tz is None and utc_offset is None:
        return time
    if has_zone or (tz is not None and utc_offset is not None):
        raise DataError(
            "the times carry their own offset" if has_zone else "both a time zone and an offset are given",
            where=findings.where,
            fix="leave out --tz and --utc-offset" if has_zone else "give --tz or --utc-offset, not both",
        )
    if utc_offset is not None:
        return time - round(utc_offset * 3_600) * 10**9
    return _from_zone(time, str(tz), findings)


def autumn_night(time: Times) -> bool:
    """Whether all times lie in the small hours of a Sunday, when clocks are set back."""
    return bool(np.all((time // DAY + 3) % 7 == 6) and np.all(time % DAY < 4 * HOUR))


def _from_zone(time: Times, tz: str, findings: Findings) -> Times:
    """Turn the local times of a zone into UTC; the first pass of an hour that occurs twice is summer time."""
    import pandas as pd

    local = pd.DatetimeIndex(time.view("datetime64[ns]"))
    try:
        early = local.tz_localize(tz, ambiguous=np.full(len(time), True), nonexistent="shift_forward")
        late = local.tz_localize(tz, ambiguous=np.full(len(time), False), nonexistent="shift_forward")
    except (KeyError, ValueError, OSError):
        raise DataError(
            f"unknown time zone {tz!r}", where=findings.where, fix="name it as in --tz America/New_York"
        ) from None
    gone = np.asarray(early.tz_localize(None) != local)
    if findings.count("not_in_time_zone", gone):
        findings.warn(f"{rows_of(gone)} with a time that the clock change in {tz} skips were moved on")
    again = pd.Series(time).duplicated(keep="first" if time[-1] >= time[0] else "last").to_numpy()
    return np.where(again, _utc(late), _utc(early))


def _utc(local: pd.DatetimeIndex) -> Times:
    return np.asarray(local.tz_convert("UTC").tz_localize(None), "datetime64[ns]").astype(np.int64)
