"""``neuronet backtest``: a model or a file of positions; table, JSON, files, picture, refusals."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuronet.bars.read import read_bars
from neuronet.device.numpy import NumpyDevice
from neuronet.market.backtest import DAY, backtest
from neuronet.storage.hdf5 import read_model
from neuronet.train.contract import Contract
from neuronet.train.positions import positions_of

COSTS = ("--spread", 0.0001, "--commission", 2e-5, "--slippage", 1e-5)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def test_a_table_with_definitions_and_every_file(
    run: Any, model_file: Path, bars_file: Path, tmp_path: Path
) -> None:
    trades, equity, plot = (tmp_path / name for name in ("trades ü.csv", "equity.csv", "plot.png"))
    files = ("-o", trades, "--equity", equity, "--plot", plot)
    result = run("backtest", model_file, bars_file, *COSTS, *files)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    for words in ("strategy   buy and hold", "\nSharpe ", "\nmax drawdown ", "x sqrt(252)", "profit factor"):
        assert words in result.stdout
    bars = read_bars(bars_file)
    begins = Contract.from_dict(read_model(model_file).bars).test_begins
    row = int(np.searchsorted(bars.time, begins))
    costs = {"spread": 0.0001, "commission": 2e-5, "slippage": 1e-5}
    positions = positions_of(model_file, bars, NumpyDevice())[row:]
    want = backtest(bars[row:], positions, **costs, max_gap=4 * DAY)
    assert len(want.trades) > 3
    found = rows(trades)
    assert [float(one["net"]) for one in found] == pytest.approx(want.trades.net, rel=1e-8)
    assert {one["side"] for one in found} == {"long", "short"}
    found = rows(equity)
    assert len(found) == len(bars) - row
    assert list(found[0]) == ["time", "close", "units", "equity", "drawdown", "buy_and_hold"]
    assert [float(one["equity"]) for one in found] == pytest.approx(want.equity, rel=1e-8)
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_json(run: Any, model_file: Path, bars_file: Path) -> None:
    found = json.loads(run("backtest", model_file, bars_file, *COSTS, "--json", "--cash", 500).stdout)
    assert found["symbol"]
    assert (found["spread"], found["commission"], found["max_gap_ns"]) == (0.0001, 2e-5, 4 * DAY)
    for column in ("strategy", "buy_and_hold"):
        one = found[column]
        assert one["factor"] == 252
        assert one["final"] - one["profit"] == pytest.approx(500)
        assert one["costs"] > 0
    assert found["buy_and_hold"]["trades"] == 1


def test_seen_bars_are_traded_with_a_warning(run: Any, model_file: Path, bars_file: Path) -> None:
    result = run("backtest", model_file, bars_file, *COSTS, "--json", "--from", "2023-01-10")
    assert "what is earned before that is not honest" in result.stderr
    assert json.loads(result.stdout)["strategy"]["first"] == "2023-01-10 00:00:00"


def test_costs_are_not_zero_silently(run: Any, model_file: Path, bars_file: Path) -> None:
    assert "no costs are counted" in run("backtest", model_file, bars_file).stderr
    assert run("backtest", model_file, bars_file, "--spread", 0).stderr == ""


def signals(path: Path, bars_file: Path) -> Path:
    lines = ["time,position"]
    for i, time in enumerate(read_bars(bars_file).time[:60]):
        if i not in (20, 21, 40):
            lines.append(f"{np.datetime64(int(time), 'ns').astype('datetime64[s]')},{0.5 if i < 30 else -1}")
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


def test_positions_from_a_file(run: Any, bars_file: Path, tmp_path: Path) -> None:
    file, trades = signals(tmp_path / "signals.csv", bars_file), tmp_path / "trades.csv"
    result = run("backtest", bars_file, "--signals", file, *COSTS, "-o", trades)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    time = read_bars(bars_file).time
    # long from bar 1, flat for 21 and 22, long from 23, a flip at 31, flat for 41, short to 60
    assert [one["side"] for one in rows(trades)] == ["long", "long", "short", "short"]
    assert [int(one["bars"]) for one in rows(trades)] == [20, 8, 10, 19]
    first = np.datetime64(int(time[1]), "ns").astype("datetime64[s]")
    assert rows(trades)[0]["entry_time"] == str(first).replace("T", " ")
    later = run("backtest", bars_file, "--signals", file, *COSTS, "--from", "2023-01-03", "--json")
    assert json.loads(later.stdout)["strategy"]["trades"] == 3


def test_gaps(run: Any, bars_file: Path, tmp_path: Path) -> None:
    lines = bars_file.read_bytes().splitlines(keepends=True)
    holed = tmp_path / "HOLE_H1.csv"
    holed.write_bytes(b"".join(lines[:30] + lines[40:]))  # 11 hours apart
    file = signals(tmp_path / "signals.csv", bars_file)

    def exits(*options: object) -> int:
        asked = run("backtest", holed, "--signals", file, *COSTS, "--json", *options)
        return int(json.loads(asked.stdout)["strategy"]["exits"]["gap"])

    assert (exits(), exits("--max-gap", "6h"), exits("--max-gap", "6h", "--carry-gaps")) == (0, 1, 0)


def test_wrong_input(run: Any, model_file: Path, bars_file: Path, tmp_path: Path) -> None:
    for arguments, message in {
        (bars_file,): "got 1 file, need 2: give MODEL BARS, or BARS with --signals FILE",
        (model_file, bars_file, "--signals", bars_file): "got 2 files, need 1",
        (model_file, bars_file, "--spread", 3): "--spread: the spread would be",
        (model_file, bars_file, "--spread", "nan"): "--spread: spread cannot be nan",
        (model_file, bars_file, "--max-gap", "long"): "--max-gap",
        (model_file, bars_file, "--from", "2050-01-01"): "no bar is of 2050-01-01",
        (model_file, bars_file, "--from", "soon"): "'soon' is no date",
        (bars_file, "--signals", tmp_path / "none.csv"): "none.csv",
        (bars_file, "--signals", bars_file): "position",
        (bars_file, bars_file): "bars",
        (model_file, bars_file, "-o", tmp_path / "none" / "t.csv"): "there is no folder",
    }.items():
        result = run("backtest", *arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert result.stdout == ""
        assert message in result.stderr


@pytest.mark.parametrize("option", ["-o", "--equity", "--plot"])
def test_bars_and_signals_are_never_the_output(
    run: Any, bars_file: Path, tmp_path: Path, option: str
) -> None:
    signals = tmp_path / "signals.csv"
    signals.write_text("time,position\n2024-01-01,1\n", encoding="utf-8")
    for target in (bars_file, signals):
        before = target.read_bytes()
        result = run("backtest", bars_file, "--signals", signals, option, target)
        assert result.exit_code == 2
        assert "is a file to read" in result.stderr
        assert target.read_bytes() == before


def test_a_random_agent_is_beside_it(run: Any, model_file: Path, bars_file: Path) -> None:
    found = json.loads(run("backtest", model_file, bars_file, *COSTS, "--json").stdout)
    assert found["random"]["exposure"] == pytest.approx(found["strategy"]["exposure"], abs=0.02)
    assert found["random_agents"] == 99
    assert 0.0 <= found["random_beaten"] <= 1.0
    assert found["strategy"]["winners"] <= found["strategy"]["trades"]
    text = run("backtest", model_file, bars_file, *COSTS).stdout
    assert "strategy   buy and hold" in text
    assert "random      99 agents that do the same at other times" in text


def test_exactly_one_window_has_no_next_open(
    run: Any, model_file: Path, bars_file: Path, tmp_path: Path
) -> None:
    """24 bars of history after one of warm-up: the one decision is at the last close."""
    few = tmp_path / "FEW_H1.csv"
    lines = bars_file.read_bytes().splitlines(keepends=True)
    few.write_bytes(b"".join([lines[0], *lines[-25:]]))
    for options in ((), ("--lots", 0.1)):
        result = run("backtest", model_file, few, "--spread", 0.0001, *options)
        assert result.exit_code == 0, result.output
        assert "none here: the only decision that was not flat is the last bar's" in result.stdout
        assert "random      agents that do the same at other times: none, as the strategy" in result.stdout
        assert result.stdout.splitlines()[2].split() == ["strategy", "buy", "and", "hold"]  # no random agents
        found = json.loads(run("backtest", model_file, few, "--spread", 0.0001, *options, "--json").stdout)
        assert (found["random_agents"], found["random_beaten"]) == (0, None)
        assert found["strategy"]["idle"].startswith("the only decision")
        assert found["buy_and_hold"]["idle"] is None


def test_lots_of_a_broker(run: Any, model_file: Path, bars_file: Path, tmp_path: Path) -> None:
    options = ("--lots", 0.1, "--spread", 0.0001, "--commission-lot", 3.5, "--swap-long", -7)
    trades = tmp_path / "trades.csv"
    result = run("backtest", model_file, bars_file, *options, "--json", "-o", trades)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert (found["lots"], found["rules"]["spread"], found["rules"]["commission"]) == (0.1, 10, 3.5)
    assert found["strategy"]["trades"] == len(rows(trades)) > 3
    profit = sum(float(one["net"]) for one in rows(trades))
    assert found["strategy"]["profit"] == pytest.approx(profit, abs=1e-6)
    assert {float(one["size"]) for one in rows(trades)} == {10_000.0}
    assert found["buy_and_hold"]["trades"] == 1
    shares = json.loads(
        run("backtest", model_file, bars_file, "--spread", 0.0001, "--json", "--carry-gaps").stdout
    )
    assert found["strategy"]["trades"] == shares["strategy"]["trades"]  # the same decisions, sized otherwise
    signal = signals(tmp_path / "signals.csv", bars_file)
    result = run("backtest", bars_file, "--signals", signal, *options, "--json")
    assert json.loads(result.stdout)["strategy"]["trades"] == 4


def test_options_of_shares_and_of_lots_do_not_mix(run: Any, model_file: Path, bars_file: Path) -> None:
    for options, message in (
        (("--leverage", 30), "--leverage is for --lots"),
        (("--lots", 1, "--slippage", 0.1), "do not go with --lots"),
        (("--lots", 1, "--carry-gaps"), "do not go with --lots"),
    ):
        result = run("backtest", model_file, bars_file, *options)
        assert result.exit_code == 2
        assert message in result.stderr
