"""Online: it catches a change of the market, stops and resumes bit for bit, and never looks ahead."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from neuronet.bars.bars import Bars, stamp
from neuronet.bars.synthetic import random_walk
from neuronet.bars.targets import policy_targets
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import FileFormatError, SpecError
from neuronet.market.rules import Rules
from neuronet.storage import hdf5
from neuronet.storage.hdf5 import read_model
from neuronet.study.file import Studied
from neuronet.study.online import OnlineSettings, Pass, online
from neuronet.study.study import study
from neuronet.train.policy import policy_scores
from neuronet.train.predict import predict

DEVICE = NumpyDevice()
FEW = OnlineSettings(shadows=4, memory=60)
NAMES = ("forecast", "error", "said", "position", "balance", "equity")


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory, tools: SimpleNamespace) -> SimpleNamespace:
    """A model that has seen the first 900 of ``bars``, and is trusted."""
    bars = tools.rounded(random_walk(1_300, seed=1))
    model = tmp_path_factory.mktemp("quick") / "m.h5"
    settings = tools.small(horizon=3, steps=30, every=30, epochs=2, batch=32)
    found, _ = study(tools.agents_on(bars[:900], 4), model, settings, device=DEVICE)
    found.contract = replace(found.contract, blend=1.0)
    found.write(model)
    return SimpleNamespace(model=model, bars=bars)


def run(quick: SimpleNamespace, output: Path, rules: Rules, bars: Bars | None = None, **extra: Any) -> Pass:
    given = {"settings": FEW, "device": DEVICE, **extra}
    return online(quick.model, quick.bars if bars is None else bars, output, rules, **given)


def same(a: Pass, b: Pass) -> None:
    for name in NAMES:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def test_it_catches_a_change_of_the_market(
    studied: SimpleNamespace, tools: SimpleNamespace, tmp_path: Path
) -> None:
    """400 bars as studied, then the pattern's sign flips: it loses, stands aside, learns, and earns again."""
    bars, begin, cost = studied.bars, tools.known, tools.planted.COST
    settings = OnlineSettings(shadows=15, memory=300)
    found = online(studied.model, bars, tmp_path / "o.h5", tools.rules, settings, device=DEVICE)
    assert len(found.bars) == len(bars) - begin
    returns = policy_targets(bars)[:, 0]

    def net(first: int, last: int, positions: np.ndarray) -> float:
        part = slice(first, last)
        after = np.arange(last - first) > 0
        return float(policy_scores(positions, returns[part], cost, after)["net"])

    flip, late, end = begin + tools.unseen, len(bars) - 800, len(bars) - 2
    assert net(begin, flip, found.position[: flip - begin]) > 0.02
    oracle = tools.planted.oracle_net(studied.expected[late:end], returns[late:end], cost)
    assert net(late, end, found.position[late - begin : end - begin]) > 0.4 * oracle
    frozen = predict(studied.model, bars, device=DEVICE)
    at = np.searchsorted(frozen.time, bars.time[late:end])
    assert net(late, end, frozen.columns["position"][at]) < -0.05
    equity = found.equity
    assert equity[-1] > equity[: flip - begin].max() > equity[0]  # it has recovered, and more
    moves = np.diff(np.log(bars.close[begin:]))
    late_errors = found.error[late - begin :]
    assert np.abs(late_errors).mean() < 0.96 * np.abs(moves[late - begin - 1 :]).mean()
    stored = Studied.read(tmp_path / "o.h5", DEVICE)
    assert stored.contract.test_begins == bars.time[-1] + 1


def test_a_random_walk_earns_nothing(quick: SimpleNamespace, tools: SimpleNamespace, tmp_path: Path) -> None:
    found = run(quick, tmp_path / "o.h5", tools.rules)
    returns = policy_targets(quick.bars)[-len(found.bars) : -2, 0]
    scores = policy_scores(found.said[:-2], returns, 0.0, np.arange(len(returns)) > 0)
    assert abs(scores["t"]) < 2.6
    assert found.summary()["mae"] > 0.97 * found.summary()["mae_no_change"]


def test_it_says_first_and_learns_then(
    quick: SimpleNamespace, tools: SimpleNamespace, tmp_path: Path
) -> None:
    """The first words are those of the model as it was; with no updates all are, and nothing changes."""
    found = run(quick, tmp_path / "o.h5", tools.rules)
    still = run(quick, tmp_path / "s.h5", tools.rules, settings=replace(FEW, updates=0))
    k = len(quick.bars) - len(found.bars)
    frozen = predict(quick.model, quick.bars, device=DEVICE)
    at = np.searchsorted(frozen.time, quick.bars.time[k:])
    np.testing.assert_allclose(still.said, frozen.columns["position"][at], atol=1e-6)
    horizon = 3
    first = horizon + 2  # at horizon + 1 bar 0 is known, and is learned from after the word of that bar
    np.testing.assert_array_equal(found.said[:first], still.said[:first])
    assert np.abs(found.said - still.said)[first:].min() > 0.0
    before, after = Studied.read(quick.model, DEVICE), Studied.read(tmp_path / "s.h5", DEVICE)
    for name, array in before.networks.arrays().items():
        np.testing.assert_array_equal(after.networks.arrays()[name], array, err_msg=name)
    moves = np.diff(np.log(found.bars.close))
    np.testing.assert_allclose(found.error[1:], found.forecast[:-1] - moves, rtol=1e-12)


@pytest.mark.parametrize("stops", [(1,), (77, 78, 300)])
def test_resuming_is_as_never_stopped(
    quick: SimpleNamespace, tools: SimpleNamespace, tmp_path: Path, stops: tuple[int, ...]
) -> None:
    """Bit for bit: words, accounts, log, and every array of the file."""
    whole = run(quick, tmp_path / "whole.h5", tools.rules, log_file=tmp_path / "whole.csv", every=100)
    files = {"output": tmp_path / "o.h5", "log_file": tmp_path / "o.csv"}
    resume, done = False, 0
    for stop in (*stops, None):
        count = iter(range(done + 1, 10_000))
        found = run(
            quick, rules=tools.rules, resume=resume, every=50, **files,
            stop=lambda stop=stop, count=count: next(count) == stop,
        )  # fmt: skip
        assert found.stopped is (stop is not None)
        resume, done = True, len(found.bars)
        assert stop is None or done == stop
    same(found, whole)
    assert (tmp_path / "o.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert (tmp_path / "o.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()


def test_a_cut_changes_nothing_and_new_bars_go_on(
    quick: SimpleNamespace, tools: SimpleNamespace, tmp_path: Path
) -> None:
    """What is said before the cut is the same; a pass over the first bars goes on when more have come."""
    whole = run(quick, tmp_path / "whole.h5", tools.rules)
    part = run(quick, tmp_path / "part.h5", tools.rules, quick.bars[:1_150])
    for name in NAMES:
        np.testing.assert_array_equal(
            getattr(part, name), getattr(whole, name)[: len(part.bars)], err_msg=name
        )
    grown = run(quick, tmp_path / "part.h5", tools.rules, resume=True)
    same(grown, whole)
    assert (tmp_path / "part.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()


def test_other_bars_later_change_nothing_before(
    quick: SimpleNamespace, tools: SimpleNamespace, tmp_path: Path
) -> None:
    bars, k = quick.bars, 1_200
    prices = {}
    for name in ("open", "high", "low", "close"):
        prices[name] = getattr(bars, name).copy()
        prices[name][k:] = np.round(prices[name][k:] * 1.02, 5)
    whole = run(quick, tmp_path / "a.h5", tools.rules)
    other = run(quick, tmp_path / "b.h5", tools.rules, replace(bars, **prices))
    n = k - (len(bars) - len(whole.bars))
    for name in NAMES:
        np.testing.assert_array_equal(getattr(whole, name)[:n], getattr(other, name)[:n], err_msg=name)
    assert not np.array_equal(whole.said[n + 1 :], other.said[n + 1 :])


def test_another_pass_is_not_resumed(quick: SimpleNamespace, tools: SimpleNamespace, tmp_path: Path) -> None:
    path, rules = tmp_path / "o.h5", tools.rules
    with pytest.raises(FileFormatError, match="no such file"):
        run(quick, path, rules, resume=True)
    path.write_bytes(quick.model.read_bytes())
    with pytest.raises(SpecError, match="holds no online pass"):
        run(quick, path, rules, resume=True)
    run(quick, path, rules, quick.bars[:950])
    for change, message in (
        (
            {"settings": replace(FEW, seed=1, lots=0.1)},
            "is another pass: it had --seed 0 (now 1), --lots none (now 0.1)\n",
        ),
        (
            {"rules": replace(rules, spread=7, commission=3.5)},
            f"it had --spread {rules.spread * rules.point:.10g} (now 7e-05), --commission-lot 0 (now 3.5)\n",
        ),
        ({"bars": quick.bars[:940]}, "pass: its 50 bars cannot be found in the bars that are given\n"),
        (
            {"since": stamp(quick.bars.time[800])},
            "pass: it began at another bar than --from says\nFix: give the options and the bars of then "
            "(bars may follow, --from may be left out)",
        ),
    ):
        with pytest.raises(SpecError, match=re.escape(message)):
            online(quick.model, **{
                "bars": quick.bars, "output": path, "rules": rules, "settings": FEW, "device": DEVICE,
                "resume": True, **change,
            })  # fmt: skip


def test_the_pass_of_another_model_is_not_resumed(
    quick: SimpleNamespace, tools: SimpleNamespace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Both are named; a copy is the same model, and older files do not say which it was."""
    path, rules, bars = tmp_path / "o.h5", tools.rules, quick.bars[:910]
    other, copy, namesake = tmp_path / "other.h5", tmp_path / "copy.h5", tmp_path / "sub" / "m.h5"
    studied = Studied.read(quick.model, DEVICE)
    studied.networks.actor.pool.values.fill(0.5)
    namesake.parent.mkdir()
    for target in (other, namesake):
        studied.write(target)
    copy.write_bytes(quick.model.read_bytes())
    whole = run(quick, path, rules, bars)
    before, how = path.read_bytes(), {"settings": FEW, "device": DEVICE, "resume": True}
    for model, message in (
        (other, "began with m.h5, not with the other.h5 that is given\nFix: give the m.h5 of then"),
        (namesake, "began with m.h5, not with one of the same name"),
    ):
        with pytest.raises(SpecError, match=message):
            online(model, bars, path, rules, **how)
        assert path.read_bytes() == before
    same(online(copy, bars, path, rules, **how), whole)
    assert not caplog.records
    old = Studied.read(path, DEVICE)
    del old.progress["model"]
    old.write(path)
    same(online(other, bars, path, rules, **how), whole)
    assert "does not say which model its pass began with: is it other.h5?" in caplog.text


def test_each_file_is_read_once(
    quick: SimpleNamespace, tools: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    check = hdf5.check_bytes
    monkeypatch.setattr(
        hdf5, "check_bytes", lambda file, where: (read.append(Path(where).name), check(file, where))
    )
    run(quick, tmp_path / "o.h5", tools.rules, quick.bars[:903])
    assert read == ["m.h5"]
    run(quick, tmp_path / "o.h5", tools.rules, quick.bars[:905], resume=True)
    assert read == ["m.h5", "m.h5", "o.h5"]
    since = stamp(quick.bars.time[902])
    run(quick, tmp_path / "s.h5", tools.rules, quick.bars[:905], since=since)
    assert read[3:] == ["m.h5"]


def test_the_log(quick: SimpleNamespace, tools: SimpleNamespace, tmp_path: Path) -> None:
    found = run(quick, tmp_path / "o.h5", tools.rules, quick.bars[:1_000], log_file=tmp_path / "o.csv")
    lines = (tmp_path / "o.csv").read_text().splitlines()
    assert lines[0] == "time,close,forecast,error,said,position,balance,equity"
    assert len(lines) == 1 + len(found.bars)
    assert lines[1].split(",")[3] == ""  # nothing was said before it
    last = [float(cell) for cell in lines[-1].split(",")[1:]]
    np.testing.assert_allclose(
        last, [found.bars.close[-1], *(getattr(found, n)[-1] for n in NAMES)], rtol=1e-9
    )
    assert read_model(tmp_path / "o.h5").training["progress"]["done"] == len(found.bars)


@pytest.mark.parametrize("change", [{"shadows": 0}, {"memory": 1}, {"updates": -1}, {"lots": 0.0}])
def test_settings_that_cannot_be(change: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=f"--{next(iter(change))}"):
        OnlineSettings(**change)
