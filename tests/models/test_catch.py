"""Catch: exact gradients, a broken correlation is found, honest thresholds, the same scores everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neuronet as nn
from neuronet.anomaly.baselines import WindowPca
from neuronet.anomaly.metrics import auc_roc
from neuronet.anomaly.scores import total
from neuronet.anomaly.synthetic import make_planted
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, FileFormatError, ShapeError, SpecError
from neuronet.fitting import checkpoint
from neuronet.fitting import fit as fit_module
from neuronet.fitting.state import TrainingState
from neuronet.layers import CNeuronCATCH
from neuronet.models.catch import Catch
from neuronet.storage.hdf5 import read_model, write_model
from neuronet.storage.model import ModelFile
from neuronet.testing.gradcheck import gradcheck

TINY: dict[str, Any] = {
    "context": 16, "patch": 4, "step": 2, "width": 8, "hidden": 8, "heads": 2, "dimension": 2, "blocks": 1,
    "features": 6,
}  # fmt: skip


def tiny(**changes: Any) -> Catch:
    return Catch(**TINY | changes)


def waves(rows: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    """Sines of common and of their own periods, and a little noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(rows)[:, None]
    phase = np.arange(channels)
    clean = np.sin(2 * np.pi * t / 12 + phase) + 0.5 * np.sin(2 * np.pi * t / (17 + phase))
    return np.asarray(5.0 + 2.0 * clean + 0.1 * rng.standard_normal((rows, channels)))


@pytest.fixture(scope="module")
def fitted() -> Catch:
    model = tiny()
    model.fit(waves(600), epochs=12, lr=1e-2, device=NumpyDevice(), seed=1)
    return model


# --- the net ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{}, {"reference": True}, {"hidden_share": 0.3, "blocks": 2}])
def test_gradients_of_the_whole_net(changes: dict[str, Any]) -> None:
    """Both normalisations, spectrum, mask, attention, heads and the way back, with both penalties."""
    small = {"context": 6, "patch": 2, "step": 1, "width": 4, "hidden": 4, "dimension": 1, "features": 4}
    net = tiny(**small | {"frequency": 0.2, "correlation": 0.3} | changes).declare(2)
    body = net.layers[1]
    assert isinstance(body, CNeuronCATCH)
    body.evaluation, body.temperature = "expected", 0.5  # a mask with finite differences
    gradcheck(net.layers, net.input_shape, batch=2, training=False)


def test_the_reference_switch_keeps_its_choices() -> None:
    own, theirs = (tiny(reference=flag, hidden_share=0.3).declare(3).layers[1] for flag in (False, True))
    assert isinstance(own, CNeuronCATCH)
    assert isinstance(theirs, CNeuronCATCH)
    assert (own.half, own.residual_heads, own.mask_mode, own.hidden_share) == (True, False, "hard", 0.3)
    assert (theirs.half, theirs.residual_heads, theirs.mask_mode) == (False, True, "reference")
    assert theirs.hidden_share == 0.0


def test_rates_by_hand() -> None:
    """20 batches of 64 windows an epoch; own: warm-up of 2 of 40 steps, then half a cosine."""
    seen: dict[bool, Any] = {}
    rows = waves(1_615)  # 1,292 to train: 1,277 windows, every one of them

    for flag in (False, True):
        model = tiny(reference=flag)
        model.fit(
            rows, epochs=2, stride=1, lr=1e-3, mask_lr=1e-4, device=NumpyDevice(), stop=lambda: True,
            on_start=lambda net, flag=flag: seen.update({flag: net.optimizer}),
        )  # fmt: skip
    own, theirs = seen[False], seen[True]
    assert (own.every, own.slow_first, own.slow_lr) == (2, False, 1e-4)
    assert [float(own.rate(k)) for k in (0, 1, 2)] == pytest.approx([5e-4, 1e-3, 1e-3])
    assert float(own.rate(21)) == pytest.approx(1e-3 * 0.5 * (1 + np.cos(np.pi * 19 / 38)))
    # a OneCycleLR that is made and never stepped: a 25th in epoch 1; then the body's rate for both
    assert (theirs.every, theirs.slow_first, theirs.beta1) == (2, True, 0.95)
    at = (0, 19, 20, 39, 40, 60)
    assert [theirs.lr(k) for k in at] == pytest.approx([4e-5, 4e-5, 1e-3, 1e-3, 5e-4, 2.5e-4])
    assert [theirs.slow_lr(k) for k in at] == pytest.approx([4e-6, 4e-6, 1e-3, 1e-3, 5e-4, 2.5e-4])


def test_the_reference_trains(device: Device) -> None:
    model = tiny(reference=True)
    state = model.fit(waves(400), epochs=3, lr=3e-3, device=device)
    losses = [row["loss"] for row in state.history]
    assert losses[2] < losses[1] < losses[0]
    assert np.isfinite(model.score(waves(100, seed=3))).all()


# --- what it finds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_a_break_of_the_correlation_is_found(seed: int) -> None:
    """Two return series, each of which looks as ever; PCA of one of them sees nothing."""
    made = make_planted(4_000, seed=seed, clean=2_500, correlation=0.98)
    train, test, labels = made.returns[:2_500], made.returns[2_500:], made.labels[2_500:]
    sizes = {"context": 16, "patch": 5, "width": 24, "hidden": 16, "features": 24}
    model = Catch.for_changes(**sizes, blocks=1, heads=1, dimension=4, correlation=0.0)
    model.fit(train, epochs=24, lr=1e-2, device=NumpyDevice())
    found, smooth = auc_roc(model.score(test), labels), auc_roc(model.score(test, stride=4), labels)
    alone = [
        auc_roc(total(WindowPca.fit(train[:, [i]]).scores(test[:, [i]])), labels) or 0.0 for i in range(2)
    ]
    assert found is not None
    assert smooth is not None
    assert found > 0.85
    assert smooth > 0.93
    assert max(alone) < 0.65


def test_levels_may_hide_a_break(fitted: Catch) -> None:
    """What for_changes is for: with nothing hidden the other channel is of no use."""
    assert fitted.hidden_share == 0.0
    made = make_planted(4_000, seed=1, clean=2_500, correlation=0.98)
    model = tiny(frequency=0.0, width=24, features=24)
    model.fit(made.returns[:2_500], epochs=24, lr=1e-2, device=NumpyDevice())
    found = auc_roc(model.score(made.returns[2_500:]), made.labels[2_500:])
    assert found is not None
    assert found < 0.8


def test_contributions_name_the_channel_that_is_off(fitted: Catch) -> None:
    rows = waves(160, seed=5)
    rows[64:80, 2] = 5.0 + 2.0 * np.sin(np.arange(16.0) * 2.2)
    made = fitted.contributions(rows)
    assert made.shape == (160, 3)
    inside = made[64:80].mean(axis=0)
    assert int(inside.argmax()) == 2
    assert inside[2] > 2.0 * made[:64, 2].mean()
    np.testing.assert_allclose(fitted.score(rows), made.mean(axis=1), rtol=1e-12)


def test_false_alarms_on_a_clean_series_stay_within_twice_the_rate(device: Device) -> None:
    """6,000 held-back rows, 20,000 further ones, without a planted episode; 1 in 100."""
    made = make_planted(50_000, seed=3, episodes=0)
    model = tiny(context=32, patch=8, step=4)
    model.fit(made.returns[:30_000], epochs=1, stride=16, device=device)
    assert len(model.normal) == 6_000
    scores = model.score(made.returns[30_000:])
    for method in ("pot", "quantile"):
        threshold = model.threshold(0.01, method)
        assert 0.0 < np.mean(scores > threshold.value) < 0.02, method


# --- scores -------------------------------------------------------------------------------------------


def test_a_window_alone_has_the_score_that_it_has_among_others(fitted: Catch, device: Device) -> None:
    model = Catch.from_file(fitted.file(), device, where="file")
    rows = waves(16 * 70 + 5, seed=2)  # two batches, and a tail of 5
    whole = model.score(rows)
    assert whole.shape == (len(rows),)
    for first in (0, 16, 16 * 63, 16 * 69):
        alone = model.score(rows[first : first + 16])
        np.testing.assert_allclose(alone, whole[first : first + 16], rtol=1e-6)
    tail = model.score(rows[-16:])  # the last window is slid back; its new rows are scored by it
    np.testing.assert_allclose(tail[-5:], whole[-5:], rtol=1e-6)


def test_a_stride_is_the_mean_of_the_windows_over_a_row(fitted: Catch) -> None:
    rows = waves(24, seed=4)
    first, second = fitted._errors(rows[:16]), fitted._errors(rows[8:])
    want = [np.concatenate([a[:8], (a[8:] + b[:8]) / 2, b[8:]]) for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(fitted.score(rows, stride=8), total(fitted.scale.combine(*want)), rtol=1e-6)


def test_scores_are_deterministic_also_with_dropout_and_a_drawn_mask() -> None:
    model = tiny(probability=0.3, hidden_share=0.5)
    model.fit(waves(300), epochs=1, device=NumpyDevice())
    rows = waves(64, seed=6)
    np.testing.assert_array_equal(model.score(rows), model.score(rows))


def test_saved_and_loaded_it_scores_the_same(fitted: Catch, tmp_path: Path, device: Device) -> None:
    path, rows = tmp_path / "m.h5", waves(100, seed=7)
    fitted.save(path)
    same = nn.models.Catch.load(path, NumpyDevice())
    assert same.spec() == fitted.spec()
    np.testing.assert_array_equal(same.score(rows), fitted.score(rows))
    assert same.threshold(0.05, "quantile") == fitted.threshold(0.05, "quantile")
    other = Catch.load(path, device)
    np.testing.assert_allclose(other.score(rows), fitted.score(rows), rtol=1e-4)
    assert not [name for name in read_model(path).arrays if name.startswith("optimizer/")]


def test_a_seed_names_the_model() -> None:
    scores = []
    for seed in (3, 3, 4):
        model = tiny()
        model.fit(waves(300), epochs=1, seed=seed, device=NumpyDevice())
        scores.append(model.score(waves(32, seed=1)))
    np.testing.assert_array_equal(scores[0], scores[1])
    assert np.abs(scores[0] - scores[2]).max() > 1e-6


# --- an interrupted training --------------------------------------------------------------------------


@pytest.mark.parametrize("calls", [2, 4, 9])
def test_interrupted_and_resumed_gives_the_same_bits(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_module, "SYNC_SECONDS", 0.0)
    rows = waves(640)  # 4 batches an epoch: the mask's sums of gradients are kept over the break, too
    how: dict[str, Any] = {"epochs": 3, "lr": 3e-3, "device": NumpyDevice(), "seed": 2}
    whole = tiny(hidden_share=0.2)
    whole.fit(rows, **how)
    first, asked = tiny(hidden_share=0.2), iter(range(1_000))
    state = first.fit(rows, **how, stop=lambda: next(asked) >= calls)
    assert state.stopped == "interrupted"
    file = checkpoint.to_file(first.net, state, {})
    second = Catch(**{k: v for k, v in file.spec["builder"].items() if k != "class"})
    second.net, kept = checkpoint.from_file(file, NumpyDevice())
    second.fit(rows, **how, state=kept)
    for name, values in whole.file().arrays.items():
        np.testing.assert_array_equal(second.file().arrays[name], values, err_msg=name)


def test_an_unfinished_file_gives_no_scores(tmp_path: Path) -> None:
    model = tiny()
    state = model.fit(waves(300), epochs=2, device=NumpyDevice(), stop=lambda: True)
    write_model(tmp_path / "m.h5", checkpoint.to_file(model.net, state, {}))
    with pytest.raises(FileFormatError, match=r"its training has not ended\nFix: go on with"):
        Catch.load(tmp_path / "m.h5", NumpyDevice())


# --- odd data -----------------------------------------------------------------------------------------


def test_one_channel() -> None:
    model = tiny()
    model.fit(waves(400, channels=1), epochs=12, lr=1e-2, device=NumpyDevice())
    rows = waves(64, channels=1, seed=1)
    rows[32:36] += 4.0
    scores = model.score(rows)
    assert scores.shape == (64,)
    assert scores[32:36].mean() > 2.0 * scores[:32].mean()


@pytest.mark.parametrize("level", [0.0, 0.1, -1e9])
def test_a_constant_channel_is_learned_and_raises_when_it_moves(level: float) -> None:
    rows = waves(400)
    rows[:, 1] = level
    model = tiny()
    model.fit(rows, epochs=2, lr=3e-3, device=NumpyDevice())
    assert model.deviation[1] == 1.0
    quiet = model.contributions(rows[:64])
    assert np.isfinite(quiet).all()
    moved = rows[:64].copy()
    moved[40, 1] += 10.0
    made = model.contributions(moved)
    assert made[40, 1] > 3.0 * quiet[40].max()
    assert int(made[40].argmax()) == 1


def test_only_constant_channels_have_finite_scores() -> None:
    model = tiny()
    model.fit(np.full((400, 2), 3.0), epochs=1, device=NumpyDevice())
    quiet = model.score(np.full((32, 2), 3.0))
    moved = np.full((32, 2), 3.0)
    moved[20] = 3.5
    assert np.isfinite(quiet).all()
    assert model.score(moved)[20] > 10.0 * quiet.max()


Wrong = Callable[[np.ndarray], np.ndarray]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda x: x[:15], DataError, r"15 rows are fewer than a window of 16\nFix: give more rows"),
        (lambda x: x[:, :2], ShapeError, r"rows have shape \(64, 2\), expected \[time, 3\]"),
        (lambda x: x[:, 0], ShapeError, r"rows have shape \(64,\), expected \[time, 3\]"),
        (lambda x: x[:0], ShapeError, r"rows have shape \(0, 3\)"),
        (lambda x: np.where(x == x[7, 1], np.nan, x), DataError, "1 row is not finite, the first is 7, ch"),
        (lambda x: np.where(x == x[9, 2], np.inf, x), DataError, "the first is 9, channel 2\nFix: correct"),
    ],
)
def test_rows_that_cannot_be_scored(
    fitted: Catch, change: Wrong, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        fitted.score(change(waves(64)))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [1e30, 1e300, -1.7e308])
def test_a_value_that_float32_cannot_square_is_named(fitted: Catch, value: float) -> None:
    rows = waves(64)
    rows[40, 1] = value
    with pytest.raises(DataError, match=r"1 row is over 1e\+15 deviations .* first is 40, channel 1"):
        fitted.score(rows)
    rows[40, 1] = 1e15  # as far as allowed, deviations here are above 1: this is an anomaly and no error
    scores = fitted.score(rows)
    assert np.isfinite(scores).all()
    assert scores.argmax() == 40


def test_a_batch_larger_than_the_windows_takes_no_more_memory() -> None:
    """Of 100 rows 80 are trained on: 33 windows of 16, every second row."""
    model = tiny()
    model.fit(waves(100), epochs=1, batch=10**9, device=NumpyDevice())
    assert model.net.batch == 33


def test_rows_that_cannot_be_learned() -> None:
    with pytest.raises(DataError, match=r"47 rows are too few for windows of 16\nFix: give 48 rows or more"):
        tiny().fit(waves(47), device=NumpyDevice())
    broken = waves(100)
    broken[30, 0] = np.nan
    with pytest.raises(DataError, match=r"Catch.fit: 1 row is not finite, the first is 30, channel 0"):
        tiny().fit(broken, device=NumpyDevice())
    for name in ("epochs", "stride", "batch"):
        with pytest.raises(SpecError, match=f"{name}=0 is not positive"):
            tiny().fit(waves(100), device=NumpyDevice(), **{name: 0})
    assert len(tiny_fit_on(48)) == 16


def tiny_fit_on(rows: int) -> np.ndarray:
    model = tiny()
    model.fit(waves(rows), epochs=1, device=NumpyDevice())
    return model.normal


def test_before_fit() -> None:
    for call in (tiny().score, tiny().contributions):
        with pytest.raises(SpecError, match=r"Catch: has no weights yet\nFix: call fit, or take Catch.load"):
            call(waves(64))
    with pytest.raises(SpecError, match="has no weights yet"):
        tiny().threshold()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"context": 3}, "context=3 is below 4"),
        ({"score_weight": -1.0}, "score_weight=-1.0"),
        ({"heads": 1.5}, "heads must be a whole number"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, Any], what: str) -> None:
    with pytest.raises(SpecError, match=what):
        tiny(**change)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"patch": 10}, "window=10 is longer than the spectrum, 9 bins of 16 times"),
        ({"hidden_share": 1.0}, "hidden_share=1.0"),
        ({"features": 0}, "features=0 is not positive"),
    ],
)
def test_what_only_the_net_can_refuse(change: dict[str, Any], what: str) -> None:
    with pytest.raises((SpecError, ShapeError), match=what):
        tiny(**change).fit(waves(100), device=NumpyDevice())


def test_methods_of_thresholds(fitted: Catch) -> None:
    assert fitted.threshold(0.05, "quantile").method == "quantile"
    with pytest.raises(SpecError, match=r"method='median'\nFix: choose pot or quantile"):
        fitted.threshold(0.05, "median")
    with pytest.raises(DataError, match="the rate is 0"):
        fitted.threshold(0.0)


def test_another_model_s_file_is_refused(tmp_path: Path, fitted: Catch) -> None:
    net = nn.CNet(input_shape=(4, 2), layers=[nn.CNeuronDenseOCL(neurons=2)]).build(NumpyDevice())
    net.save(tmp_path / "net.h5")
    with pytest.raises(FileFormatError, match=r"net.h5: holds no Catch\nFix: give a file that 'neuronet tra"):
        Catch.load(tmp_path / "net.h5", NumpyDevice())
    spec = {**fitted.net.spec(), "builder": {**fitted.spec(), "gears": 5}}
    write_model(tmp_path / "new.h5", ModelFile(spec=spec, arrays=fitted.file().arrays))
    with pytest.raises(SpecError, match="unknown field gears"):
        Catch.load(tmp_path / "new.h5", NumpyDevice())


def test_epochs_are_told_of() -> None:
    told: list[int] = []

    def tell(state: TrainingState) -> None:
        told.append(state.epoch)

    tiny().fit(waves(200), epochs=3, device=NumpyDevice(), on_epoch=tell)
    assert told == [1, 2, 3]
