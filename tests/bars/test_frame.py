"""DataFrames give the same bars as files."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from neuronet.bars.bars import Bars
from neuronet.bars.read import read_bars
from neuronet.errors import DataError

Same = Callable[..., None]


def test_data_frames(bars: Bars, same: Same) -> None:
    frame = bars.to_frame()
    same(read_bars(frame), bars)
    same(read_bars(frame.tz_localize(None).rename(columns=str.upper)), bars)
    same(read_bars(frame.tz_convert("America/New_York")), bars)
    same(read_bars(frame.reset_index()), bars)
    shuffled = read_bars(frame.sample(frac=1.0, random_state=0))
    same(shuffled, bars)
    assert "not in order of time" in shuffled.source["warnings"][0]
    wide = frame.copy()
    wide.columns = pd.MultiIndex.from_product([[c.title() for c in frame.columns], ["X"]])
    same(read_bars(wide), bars)
    text = frame.reset_index()
    text["time"] = text["time"].dt.strftime("%d.%m.%Y %H:%M")
    same(read_bars(text), bars)
    with pytest.raises(DataError, match="no column for high among open, low, close, volume"):
        read_bars(frame.drop(columns="high"))
    with pytest.raises(DataError, match="no bars in the DataFrame"):
        read_bars(frame.iloc[:0])
    with pytest.raises(DataError, match="no times: the index holds 0"):
        read_bars(frame.reset_index(drop=True))


def test_a_time_beyond_nanoseconds_is_none(caplog: pytest.LogCaptureFixture) -> None:
    times = np.array(["2020-01-01", "2020-01-02", "2500-01-03", "2020-01-06"], "datetime64[s]")
    prices = {name: [1.0, 1.1, 1.2, 1.3] for name in ("open", "high", "low", "close")}
    bars = read_bars(pd.DataFrame(prices, index=pd.DatetimeIndex(times)))
    assert bars.time.tolist() == (times[[0, 1, 3]].astype(np.int64) * 10**9).tolist()
    assert "1 row without a readable time dropped: line 3" in caplog.text
