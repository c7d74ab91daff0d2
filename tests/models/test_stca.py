"""STCA: learns, answers the same bar by bar and after loading, at other lengths; finds what lies far back."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, FileFormatError, ShapeError, SpecError
from neuronet.models.stca import STCA
from neuronet.models.stca_stream import STCAStream, encoder_of

HOUR = 3_600_000_000_000
START = 1_700_000_000_000_000_000


def _episodes() -> ModuleType:
    spec = importlib.util.spec_from_file_location("episodes", Path(__file__).with_name("episodes.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["episodes"] = module  # where its dataclass looks up its names
    spec.loader.exec_module(module)
    return module


EPISODES = _episodes()


def small(**changes: object) -> STCA:
    fields = {"features": 2, "context": 40, "width": 12, "heads": 2, "recent": 4, "scenarios": 2}
    return STCA(**{**fields, **changes})  # type: ignore[arg-type]


def bars(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, targets and times: the answer is the sum of feature 0 over the last 3 bars."""
    rows = np.random.default_rng(seed).standard_normal((n, 2))
    sums = np.cumsum(np.concatenate([np.zeros(3), rows[:, 0]]))
    return rows, (sums[3:] - sums[:-3])[:, None], START + np.arange(n) * HOUR


def fitted(device: Device, **how: object) -> STCA:
    model = small()
    model.fit(*bars(120), epochs=1, lr=3e-3, device=device, **how)  # type: ignore[arg-type]
    for attention in next(one.found for one in model.net.layers if hasattr(one, "found")):
        attention.slope.value.write([3.0, 30.0])  # ages count
    return model


def test_it_learns_and_keeps_the_best_epoch() -> None:
    rows, targets, times = bars(700)
    model = small()
    state = model.fit(
        *(rows, targets, times),
        ends=np.arange(39, 600),
        validation=np.arange(640, 700),
        epochs=5,
        lr=5e-3,
        device=nn.find_device(),
    )
    said = np.array([model.answer(rows[e - 39 : e + 1], times[e - 39 : e + 1])[0] for e in range(640, 700)])
    assert np.corrcoef(said, targets[640:, 0])[0, 1] > 0.9
    error = np.abs(said - targets[640:, 0])
    huber = np.where(error < 1.0, 0.5 * error**2, error - 0.5).mean()
    assert huber == pytest.approx(min(epoch["validation"] for epoch in state.history), rel=1e-3)


def test_bar_by_bar_is_the_answer_of_the_shifted_history(device: Device) -> None:
    model = fitted(device)
    rows, _, times = bars(130, seed=1)
    np.testing.assert_allclose(
        model.start(rows[:40], times[:40]), model.answer(rows[:40], times[:40]), atol=1e-6
    )
    for t in range(40, 130):  # past twice the memory
        said = model.append(rows[t], times[t])
        if t % 7 == 0 or t > 120:
            part = slice(t - 39, t + 1)
            np.testing.assert_allclose(said, model.answer(rows[part], times[part]), atol=1e-5)
    model.start(rows[:60], times[:60])  # another length, and from new
    np.testing.assert_allclose(
        model.append(rows[60], times[60]), model.answer(rows[1:61], times[1:61]), atol=1e-5
    )


def test_scores_grow_with_the_logarithm_of_the_bars_beyond_the_context(exact: NumpyDevice) -> None:
    model = fitted(exact)
    for history, wanted in ((20, 1.0), (40, 1.0), (1_600, 2.0)):
        net = model.declare(history).build(exact)
        for one in (net, STCAStream(net).net):
            found = encoder_of(one).found[0]
            assert found.sharpen == pytest.approx(wanted)
            assert found._scale == pytest.approx(wanted / np.sqrt(6))


def test_saved_and_on_numpy_it_says_the_same(device: Device, tmp_path: Path) -> None:
    model = fitted(device)
    rows, _, times = bars(90, seed=1)
    model.save(tmp_path / "m.h5")
    again, other = STCA.load(tmp_path / "m.h5", device), STCA.load(tmp_path / "m.h5", NumpyDevice())
    assert again.spec() == model.spec()
    np.testing.assert_array_equal(again.answer(rows, times), model.answer(rows, times))
    np.testing.assert_allclose(other.answer(rows, times), model.answer(rows, times), atol=1e-4)
    model.start(rows[:50], times[:50])
    other.start(rows[:50], times[:50])
    for t in range(50, 90):
        theirs = other.append(rows[t], times[t])
        np.testing.assert_allclose(model.append(rows[t], times[t]), theirs, atol=1e-4)


def test_answers_follow_the_weights(device: Device, tmp_path: Path) -> None:
    rows, targets, times = bars(120)
    model = small()
    during: list[float] = []

    def ask(_: object) -> None:
        during.append(float(model.answer(rows[:40], times[:40])[0]))
        model.start(rows[:40], times[:40])

    model.fit(rows, targets, times, epochs=2, lr=3e-3, patience=None, device=device, on_epoch=ask)
    assert during[0] != during[1]
    model.save(tmp_path / "m.h5")
    loaded = STCA.load(tmp_path / "m.h5", device)
    np.testing.assert_array_equal(model.answer(rows[:40], times[:40]), loaded.answer(rows[:40], times[:40]))
    for one in (model, loaded):
        one.start(rows[:40], times[:40])
    np.testing.assert_array_equal(model.append(rows[40], times[40]), loaded.append(rows[40], times[40]))


def test_a_wrong_fit_keeps_the_weights(device: Device) -> None:
    model = fitted(device)
    rows, targets, times = bars(120)
    before = model.answer(rows, times)
    with pytest.raises(DataError, match="ends"):
        model.fit(rows, targets, times, ends=[3], device=device)
    np.testing.assert_array_equal(model.answer(rows, times), before)


def test_attention_of_a_history_of_any_length(device: Device) -> None:
    model = fitted(device)
    for n in (4, 40, 300):
        rows, _, times = bars(n, seed=1)
        found = model.attention(rows, times)
        assert found.shape == (2, 2, 2, n)
        np.testing.assert_allclose(found.sum(axis=3), 1.0, atol=1e-5)


def test_lengths_train_on_the_newest_bars_of_the_context() -> None:
    """With lengths=(8, 8) what lies further back changes no weight; without, it does."""
    rows, targets, times = bars(40)
    moved = rows.copy()
    moved[:30] += 1.0
    for lengths, same in (((8, 8), True), (None, False)):
        made = []
        for given in (rows, moved):
            model = small()
            model.fit(given, targets, times, lengths=lengths, epochs=2, batch=1, device=NumpyDevice())
            made.append(model.answer(rows, times))
        assert np.array_equal(*made) is same


def test_lengths_are_drawn_for_each_epoch_and_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    of = nn.CNeuronSTCAEncoder.see_newest
    monkeypatch.setattr(nn.CNeuronSTCAEncoder, "see_newest", lambda self, n: (seen.append(n), of(self, n))[1])
    small().fit(*bars(44), lengths=(8, 40), epochs=12, patience=None, device=NumpyDevice())
    assert seen[-1] == 40
    assert min(seen) == 8
    assert all(8 <= n <= 40 and n % 8 == 0 for n in seen)
    assert len(set(seen)) > 2


def test_it_finds_an_episode_far_back_and_a_window_of_120_bars_does_not() -> None:
    """A smaller form of episodes.py: trained on 300 bars, asked at 1,500."""
    device = nn.find_device()
    made = EPISODES.make(400, 300, seed=1, near=130)
    model = STCA(features=3, context=300, width=24, depth=1, scenarios=1, recent=4)
    parts = {"ends": made.ends[40:], "validation": made.ends[:40]}
    model.fit(made.rows, made.targets, made.times, **parts, epochs=5, lr=2e-3, batch=8, device=device)
    unseen = EPISODES.make(100, 1_500, seed=2)
    assert EPISODES.right(model, unseen, 1_500) >= 0.9
    assert 0.35 < EPISODES.right_of_a_window(made, unseen, device, epochs=4) < 0.65


def test_bad_input_is_named(tmp_path: Path) -> None:
    model = small()
    rows, targets, times = bars(60)
    device = NumpyDevice()
    with pytest.raises(SpecError, match="STCA: has no weights yet\nFix: call fit"):
        model.answer(rows, times)
    with pytest.raises(ShapeError, match=r"rows \(60, 1\) and times \(60,\), expected \[bars, 2\]"):
        model.fit(rows[:, :1], targets, times, device=device)
    with pytest.raises(ShapeError, match=r"targets have shape \[60, 2\], expected \[60, 1\]"):
        model.fit(rows, rows, times, device=device)
    with pytest.raises(DataError, match=r"STCA.fit: 1 training samples.*\nFix: give ends from 39 to 59"):
        model.fit(rows, targets, times, ends=[38], device=device)
    with pytest.raises(DataError, match="1 validation samples"):
        model.fit(rows, targets, times, validation=[60], device=device)
    with pytest.raises(SpecError, match=r"lengths=\(2, 40\) are not between recent=4 and context=40"):
        model.fit(rows, targets, times, lengths=(2, 40), device=device)
    model.fit(rows, targets, times, epochs=1, device=device)
    with pytest.raises(ShapeError, match="give 4 bars or more"):
        model.answer(rows[:3], times[:3])
    with pytest.raises(SpecError, match="there is no history yet\nFix: call start"):
        model.append(rows[0], times[0])
    rows[7, 1] = np.nan
    with pytest.raises(
        DataError, match=r"STCA.answer: bar 7 has nan in column 1\nFix: correct it, or leave it out"
    ):
        model.answer(rows, times)
    for fields, what in (
        ({"width": 20}, "width=20 is no multiple of twice the 3 periods\nFix: try width=18"),
        ({"context": 3}, "context=3 is shorter than recent=4"),
        ({"heads": 0}, "heads=0 is not positive"),
    ):
        with pytest.raises(SpecError, match=what):
            small(**fields)
    net = nn.CNet(input_shape=(2,), layers=[nn.CNeuronDenseOCL(neurons=1)])
    net.build(device).save(tmp_path / "net.h5")
    with pytest.raises(FileFormatError, match="holds no STCA"):
        STCA.load(tmp_path / "net.h5")


def test_answers_follow_weights_set_by_hand_or_trained_on(device: Device) -> None:
    model = fitted(device)
    rows, _, times = bars(120)
    before = model.answer(rows[:40], times[:40])
    model.start(rows[:40], times[:40])
    arrays = model.net.arrays()
    model.net.set_arrays({k: v * (0.0 if "parameters/3" in k else 1.0) for k, v in arrays.items()})
    assert model.answer(rows[:40], times[:40]) == 0.0 != before
    with pytest.raises(SpecError, match="the weights are others than at start"):
        model.append(rows[40], times[40])
    model.net.set_arrays(arrays)
    np.testing.assert_array_equal(model.answer(rows[:40], times[:40]), before)
    model.start(rows[:40], times[:40])
    model.answer(rows[:60], times[:60])  # of another length: the stream goes on
    model.append(rows[40], times[40])


def test_targets_and_ends_of_another_form_are_named() -> None:
    rows, targets, times = bars(120)
    two = np.stack([targets[:, 0], targets[:, 0]])
    for given, outputs in ((two, 2), (two.ravel(), 2), (targets[:-3], 1)):
        with pytest.raises(ShapeError, match=r"targets have shape .* expected \[120, "):
            small(outputs=outputs).fit(rows, given, times)
    for ends in ([60.5, 70.2], np.ones(120, bool), []):
        with pytest.raises(DataError, match="expected whole numbers"):
            small().fit(rows, targets, times, ends=ends)
    with pytest.raises(DataError, match="120 bars are fewer than context=400"):
        small(context=400).fit(rows, targets, times)
    with pytest.raises(ShapeError, match="rows are not numbers"):
        small().fit([["a", "b"]] * 120, targets, times)
    with pytest.raises(SpecError, match="given must be True or False"):
        small(given="no")


def test_an_answer_that_overflows_is_no_answer(device: Device) -> None:
    model = fitted(device)
    rows, _, times = bars(40)
    rows[7, 1] = 1e30
    with pytest.raises(DataError, match=r"not finite; the largest number is 1e\+30 in column 1 of bar 7"):
        model.answer(rows, times)


def test_a_bad_bar_is_refused_and_leaves_no_trace(device: Device) -> None:
    """The answers that follow are bit for bit those without it, whatever was wrong and wherever it failed."""
    rows, _, times = bars(90, seed=1)
    bad = {
        "nan": "the bar has nan in column 1",
        "-inf": "the bar has -inf in column 1",
        "1e39": r"the bar has 1e\+39 in column 1",  # float32 has no such number
        "1e30": r"the answer is not finite; the largest number is 1e\+30 in column 1 of the bar",
    }
    model = fitted(device)
    model.start(rows[:40], times[:40])
    wanted = [model.append(rows[t], times[t]) for t in range(40, 90)]
    model.start(rows[:40], times[:40])
    for t in range(40, 90):
        for value, what in bad.items():
            with pytest.raises(DataError, match=f"STCA.append: {what}"):
                model.append([rows[t, 0], float(value)], times[t])
        with pytest.raises(DataError, match="time 0 is NaT"):
            model.append(rows[t], np.datetime64("NaT", "s"))
        np.testing.assert_array_equal(model.append(rows[t], times[t]), wanted[t - 40])


def test_a_start_that_fails_leaves_the_history_of_before(device: Device) -> None:
    rows, _, times = bars(90, seed=1)
    model = fitted(device)
    model.start(rows[:40], times[:40])
    wanted = model.append(rows[40], times[40])
    model.start(rows[:40], times[:40])
    for value in (np.nan, 1e30):
        wrong = rows.copy()
        wrong[45, 0] = value
        for length in (40, 50):  # as many bars as before, and others
            with pytest.raises(DataError, match=r"STCA.start: "):
                model.start(wrong[10 : 10 + length], times[10 : 10 + length])
    np.testing.assert_array_equal(model.append(rows[40], times[40]), wanted)
    first = fitted(device)
    with pytest.raises(DataError, match=r"STCA.start: bar 35 has nan in column 0"):
        first.start(np.where(rows == rows[45, 0], np.nan, rows)[10:50], times[10:50])
    with pytest.raises(SpecError, match="there is no history yet"):
        first.append(rows[40], times[40])
