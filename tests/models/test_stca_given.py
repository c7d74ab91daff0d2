"""STCA with scenarios that the user gives: answers depend on them, also bar by bar; bad ones are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, ShapeError, SpecError
from neuronet.models.stca import STCA

HOUR = 3_600_000_000_000
START = 1_700_000_000_000_000_000
Floats = np.ndarray


def small(**changes: object) -> STCA:
    fields = {"features": 2, "context": 24, "width": 12, "heads": 2, "recent": 4, "scenarios": 2}
    return STCA(**{**fields, "given": True, **changes})  # type: ignore[arg-type]


def bars(n: int, seed: int = 0, scenarios: int = 2) -> tuple[Floats, Floats, Floats]:
    """Rows, times and scenarios of each bar."""
    rng = np.random.default_rng(seed)
    rows, asked = rng.standard_normal((n, 2)), rng.standard_normal((n, scenarios, 2))
    return rows, START + np.arange(n) * HOUR, asked


def fitted(device: Device, **changes: object) -> STCA:
    rows, times, asked = bars(60)
    model = small(**changes)
    model.fit(rows, rows[:, :1], times, scenarios=asked, epochs=1, lr=3e-3, device=device)
    for attention in next(one.found for one in model.net.layers if hasattr(one, "found")):
        attention.slope.value.write([3.0, 30.0])  # ages count
    return model


def test_the_answer_is_that_to_the_scenario() -> None:
    """The target is the sign of the scenario times the one bar of the history that is marked.

    So neither says anything alone: the answer has to change its sign with the scenario's.
    """
    rng = np.random.default_rng(0)
    samples, history = 500, 12
    rows = 0.1 * rng.standard_normal((samples * history, 2))
    marked = np.arange(samples) * history + rng.integers(history, size=samples)
    signs = rng.choice([-1.0, 1.0], (2, samples))
    rows[marked] += np.stack([2.0 * signs[0], np.full(samples, 3.0)], axis=1)
    ends = np.arange(samples) * history + history - 1
    asked, targets = np.full((len(rows), 1, 2), np.nan), np.zeros((len(rows), 1))
    asked[ends] = np.stack([signs[1], 0.0 * signs[1]], axis=1)[:, None]
    targets[ends, 0] = signs.prod(axis=0)
    times = START + np.arange(len(rows)) * HOUR
    model = STCA(features=2, context=history, width=24, depth=1, heads=2, scenarios=1, recent=4, given=True)
    parts = {"ends": ends[100:], "validation": ends[:100]}
    state = model.fit(
        rows,
        targets,
        times,
        scenarios=asked,
        **parts,
        epochs=25,
        lr=5e-3,
        patience=None,
        device=nn.find_device(),
    )
    right, other = [], []
    for end, sign in zip(ends[:100], signs[0, :100], strict=True):
        part = slice(end - history + 1, end + 1)
        said = [model.answer(rows[part], times[part], [[way, 0.0]])[0] for way in (1.0, -1.0)]
        right.append(said[0] * sign > 0)
        other.append(said[1] * sign < 0)
    assert min(np.mean(right), np.mean(other)) >= 0.95
    assert state.best_score is not None
    assert state.best_score < 0.1  # of 0.5, which saying 0 costs


def test_bar_by_bar_is_the_answer_of_the_shifted_history(device: Device) -> None:
    model = fitted(device)
    rows, times, asked = bars(60, seed=1)
    said = model.start(rows[:24], times[:24], asked[23])
    np.testing.assert_allclose(said, model.answer(rows[:24], times[:24], asked[23]), atol=1e-6)
    for t in range(24, 60):  # past twice the memory
        said = model.append(rows[t], times[t], asked[t])
        part = slice(t - 23, t + 1)
        np.testing.assert_allclose(said, model.answer(rows[part], times[part], asked[t]), atol=1e-5)


def test_in_training_it_sees_what_it_is_asked(exact: NumpyDevice) -> None:
    """The loss of an epoch that changes nothing is that of the answers, validation's too."""
    rows, times, asked = bars(60)
    ends, device, model = np.array([23, 30, 41, 59]), exact, small(loss="mse")
    targets = np.random.default_rng(3).standard_normal((60, 1))
    how = {"ends": ends, "validation": ends[1:], "epochs": 1, "lr": 1e-12, "batch": 3}
    state = model.fit(rows, targets, times, scenarios=asked, **how, device=device)
    said = [model.answer(rows[e - 23 : e + 1], times[e - 23 : e + 1], asked[e])[0] for e in ends]
    errors = (np.array(said) - targets[ends, 0]) ** 2
    assert state.history[0]["loss"] == pytest.approx(errors.mean(), rel=1e-6)
    assert state.history[0]["validation"] == pytest.approx(errors[1:].mean(), rel=1e-6)


def test_one_bar_is_a_history(exact: NumpyDevice) -> None:
    """No scenario is made from recent bars, so none are needed; of one bar all heads see that one."""
    model = fitted(exact)
    rows, times, asked = bars(3, seed=1)
    np.testing.assert_allclose(model.attention(rows[:1], times[:1], asked[0]), 1.0, rtol=1e-12)
    model.start(rows[:1], times[:1], asked[0])
    said = model.append(rows[1], times[1], asked[1])
    np.testing.assert_allclose(said, model.answer(rows[1:2], times[1:2], asked[1]), rtol=1e-12)
    assert small(context=2).context == 2  # fewer than recent
    with pytest.raises(SpecError, match=r"lengths=\(0, 2\) are not between 1 and context=24"):
        small().fit(rows, rows[:, :1], times, scenarios=asked, lengths=(0, 2), device=exact)


def test_each_scenario_has_its_attention(device: Device) -> None:
    model = fitted(device)
    rows, times, asked = bars(50, seed=1)
    before = model.attention(rows, times, asked[-1])
    assert before.shape == (2, 2, 2, 50)
    np.testing.assert_allclose(before.sum(axis=3), 1.0, atol=1e-5)
    after = model.attention(rows, times, np.stack([asked[-1, 0], asked[-1, 1] + 1.0]))
    np.testing.assert_array_equal(after[:, 0], before[:, 0])
    assert np.abs(after[:, 1] - before[:, 1]).max() > 1e-4


def test_saved_and_on_numpy_it_says_the_same(device: Device, tmp_path: Path) -> None:
    model = fitted(device)
    rows, times, asked = bars(50, seed=1)
    model.save(tmp_path / "m.h5")
    again, other = STCA.load(tmp_path / "m.h5", device), STCA.load(tmp_path / "m.h5", NumpyDevice())
    assert again.given
    said = model.answer(rows, times, asked[-1])
    np.testing.assert_array_equal(again.answer(rows, times, asked[-1]), said)
    np.testing.assert_allclose(other.answer(rows, times, asked[-1]), said, atol=1e-4)


def test_bad_scenarios_are_named() -> None:
    rows, times, asked = bars(60)
    device, targets, model = NumpyDevice(), rows[:, :1], small()
    with pytest.raises(
        SpecError, match=r"STCA.fit: there are no scenarios\nFix: give scenarios=\[60, 2, 2\]"
    ):
        model.fit(rows, targets, times, device=device)
    with pytest.raises(
        ShapeError, match=r"shape \[60, 1, 2\], expected \[60, 2, 2\]\nFix: give each the numbers"
    ):
        model.fit(rows, targets, times, scenarios=asked[:, :1], device=device)
    asked[40, 1, 0] = np.nan
    with pytest.raises(
        DataError, match=r"STCA.fit: scenario 1 of bar 40 has nan in column 0\nFix: correct it"
    ):
        model.fit(rows, targets, times, scenarios=asked, device=device)
    with pytest.raises(DataError, match="scenario 1 of bar 40"):
        model.fit(rows, targets, times, scenarios=asked, ends=[59], validation=[40], epochs=1, device=device)
    asked[40, 1, 0] = 1e39  # finite, but not in float32
    with pytest.raises(DataError, match=r"STCA.fit: scenario 1 of bar 40 has 1e\+39 in column 0"):
        model.fit(rows, targets, times, scenarios=asked, device=device)
    asked[40, 1, 0] = np.nan
    model.fit(rows, targets, times, scenarios=asked, ends=[30, 59], epochs=1, device=device)
    now = asked[-1]
    with pytest.raises(SpecError, match=r"STCA.answer: there are no scenarios\nFix: give scenarios=\[2, 2\]"):
        model.answer(rows, times)
    with pytest.raises(DataError, match=r"STCA.attention: scenario 1 has inf in column 1"):
        model.attention(rows, times, np.stack([now[0], [0.0, np.inf]]))
    with pytest.raises(ShapeError, match=r"STCA.start: scenarios have shape \[2\], expected \[2, 2\]"):
        model.start(rows, times, now[0])
    model.start(rows, times, now)
    with pytest.raises(DataError, match=r"STCA.append: scenario 0 has nan in column 1"):
        model.append(rows[0], times[-1] + HOUR, [[0.0, np.nan], now[1]])
    huge = r"STCA.append: the answer is not finite; the largest number is 1e\+30 in column 0 of scenario 1"
    with pytest.raises(DataError, match=huge):
        model.append(rows[0], times[-1] + HOUR, [now[0], [1e30, 0.0]])
    with pytest.raises(SpecError, match=r"STCA.append: there are no scenarios"):
        model.append(rows[0], times[-1] + HOUR)
    learned = small(given=False)
    with pytest.raises(SpecError, match="the scenarios are learned, and some are given\nFix: leave them out"):
        learned.fit(rows, targets, times, scenarios=asked, device=device)
