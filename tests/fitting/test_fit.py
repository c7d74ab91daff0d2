from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.fitting import checkpoint
from neuronet.fitting import fit as fit_module
from neuronet.fitting.fit import fit, predict_source
from neuronet.fitting.source import Source
from neuronet.fitting.state import TrainingState
from neuronet.storage.hdf5 import read_model, write_model

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((150, 3)).astype(np.float32)
TARGETS = np.stack([ROWS[:, 0] * 0.5, ROWS[:, 1] - ROWS[:, 2]], axis=1).astype(np.float32)
STARTS = np.arange(0, 140)
TRAIN = Source.windows(ROWS, TARGETS, STARTS[:101], 4)
TOTAL = 12  # epochs of the trainings that are resumed
VALID = Source.windows(ROWS, TARGETS, STARTS[110:], 4)


def make_net(device: Device, seed: int = 0, **options: object) -> nn.CNet:
    layers = [nn.CNeuronDenseOCL(neurons=6, activation="TANH"), nn.CNeuronDenseOCL(neurons=2)]
    options = {"optimizer": nn.Adam(lr=0.01)} | options
    return nn.CNet(input_shape=(4, 3), layers=layers, batch=16, **options).build(device, seed=seed)  # type: ignore[arg-type]


def weights(net: nn.CNet) -> np.ndarray:
    return net.pool.values.read()


def test_windows_are_the_rows_they_name(device: Device) -> None:
    net = make_net(device)
    x = np.stack([ROWS[s : s + 4] for s in STARTS])
    np.testing.assert_allclose(
        predict_source(net, Source.windows(ROWS, None, STARTS, 4)), net.predict(x), rtol=1e-6, atol=1e-7
    )


def test_every_sample_counts_in_the_loss(device: Device) -> None:
    """101 samples in batches of 16: the last batch has 5. The epoch's loss is the mean over all 101."""
    net = make_net(device, optimizer=nn.SGD(lr=1e-12, momentum=0.0))
    x = np.stack([ROWS[s : s + 4] for s in TRAIN.starts])
    expected = float(((net.predict(x) - TARGETS[TRAIN.starts + 3]) ** 2).mean())
    state = fit(net, TRAIN, epochs=1)
    assert state.history[0]["loss"] == pytest.approx(expected, rel=1e-5)


def test_arrays_and_windows_train_alike(device: Device) -> None:
    x = np.stack([ROWS[s : s + 4] for s in TRAIN.starts])
    nets = [make_net(device), make_net(device)]
    fit(nets[0], TRAIN, epochs=2, seed=3)
    fit(nets[1], x, TARGETS[TRAIN.starts + 3], epochs=2, seed=3)
    np.testing.assert_array_equal(weights(nets[0]), weights(nets[1]))


def test_two_runs_tape_or_none_fused_or_split_give_the_same_bits(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    for tape in ("1", "0"):
        for split in (False, True, False):
            monkeypatch.setenv("NEURONET_TAPE", tape)
            net = make_net(device)
            net.split_updates = split
            fit(net, TRAIN, epochs=3, validation=VALID)
            found[tape, split] = weights(net)
    first = found.pop(("1", False))
    for key, values in found.items():
        np.testing.assert_array_equal(first, values, err_msg=str(key))


def test_best_weights_are_kept_and_patience_ends(device: Device) -> None:
    net = make_net(device, optimizer=nn.Adam(lr=0.3))
    state = fit(net, TRAIN, epochs=200, validation=VALID, patience=3)
    scores = [row["validation"] for row in state.history]
    assert state.stopped == "patience"
    assert state.best_epoch == int(np.argmin(scores)) + 1 == len(scores) - 3
    x = np.stack([ROWS[s : s + 4] for s in VALID.starts])
    score = float(((net.predict(x) - TARGETS[VALID.starts + 3]) ** 2).mean())
    assert score == pytest.approx(min(scores), rel=1e-5)


@pytest.mark.parametrize("at_batch", [None, 3], ids=["between epochs", "within an epoch"])
def test_resumed_training_gives_the_same_bits(device: Device, tmp_path: Path, at_batch: int | None) -> None:
    whole = make_net(device, optimizer=nn.Adam(lr=0.1))
    expected = fit(whole, TRAIN, epochs=TOTAL, validation=VALID, patience=None, seed=9)

    net = make_net(device, optimizer=nn.Adam(lr=0.1))
    if at_batch is None:
        scores = [row["validation"] for row in expected.history]
        first = next(e for e in range(2, TOTAL) if np.argmin(scores[:e]) < e - 1)  # the last is not the best
        state = fit(net, TRAIN, epochs=first, validation=VALID, patience=None, seed=9)
        assert state.best_epoch < first
        write_model(tmp_path / "m.h5", checkpoint.to_file(net, state, {}))
    else:
        state = interrupted(net, after_epochs=2, after_batches=at_batch)
        assert (state.stopped, state.epoch, state.batch) == ("interrupted", 2, at_batch)
        write_model(tmp_path / "m.h5", checkpoint.to_file(net, state, {}))

    resumed, state = checkpoint.from_file(read_model(tmp_path / "m.h5"), device)
    state = fit(resumed, TRAIN, epochs=TOTAL, validation=VALID, patience=None, state=state)
    np.testing.assert_array_equal(weights(whole), weights(resumed))
    assert [r["loss"] for r in state.history] == [r["loss"] for r in expected.history]
    assert [r["validation"] for r in state.history] == [r["validation"] for r in expected.history]
    assert (state.best_epoch, state.stopped) == (expected.best_epoch, "epochs")


def interrupted(net: nn.CNet, *, after_epochs: int, after_batches: int) -> TrainingState:
    """Stop between two batches: ``stop`` is asked at every batch when the clock is made to jump."""
    import neuronet.fitting.fit as module

    def asks() -> Iterator[bool]:
        for _ in range(after_epochs * 7):  # after each of 7 batches; after the last, once validation is done
            yield False
        for _ in range(after_batches - 1):
            yield False
        yield True

    answers = asks()
    saved, module.SYNC_SECONDS = module.SYNC_SECONDS, 0.0
    try:
        return fit(
            net, TRAIN, epochs=TOTAL, validation=VALID, patience=None, seed=9, stop=lambda: next(answers)
        )
    finally:
        module.SYNC_SECONDS = saved


def test_data_may_be_new_in_each_epoch(device: Device) -> None:
    """A function epoch -> Source: stopped in the second epoch and resumed, it meets the same data."""
    asked: list[int] = []

    def source(epoch: int) -> Source:
        asked.append(epoch)
        rng = np.random.default_rng(epoch)
        return Source.windows(rng.standard_normal((150, 3)), TARGETS, STARTS[:101], 4)

    whole, cut = make_net(device), make_net(device)
    expected = fit(whole, source, epochs=4, patience=None)
    assert asked == [0, 1, 2, 3]
    state = fit(cut, source, epochs=4, patience=None, stop=lambda: len(asked) == 6)
    assert (state.stopped, state.epoch, state.batch) == ("interrupted", 1, 1)
    state = fit(cut, source, epochs=4, patience=None, state=state)
    np.testing.assert_array_equal(weights(cut), weights(whole))
    assert [r["loss"] for r in state.history] == [r["loss"] for r in expected.history]


def test_a_second_input_is_cut_like_the_rows(device: Device) -> None:
    x = np.stack([ROWS[s : s + 4] for s in STARTS])
    phases = np.random.default_rng(1).random((150, 1)).astype(np.float32)
    layers = [nn.CNeuronTSPositionEncoder(periods=(60,), freqs=2)]
    net = nn.CNet(input_shape=(4, 3), second_shape=(4, 1), layers=layers, batch=16).build(device)
    expected = net.predict(x, np.stack([phases[s : s + 4] for s in STARTS]))
    source = Source.windows(ROWS, None, STARTS, 4, second=phases)
    np.testing.assert_array_equal(predict_source(net, source), expected)
    with pytest.raises(nn.ShapeError, match="samples use 143 rows, second input has 142"):
        Source.windows(ROWS, None, STARTS, 4, second=phases[:142])
    with pytest.raises(nn.ShapeError, match=r"have shape \(4, 2\) a sample, the net takes \(4, 1\)"):
        predict_source(net, Source.windows(ROWS, None, STARTS, 4, second=np.ones((150, 2))))


@pytest.mark.parametrize("count", [5, 16, 37, 48])
def test_runs_are_shuffled_whole(count: int) -> None:
    source = Source.windows(ROWS, TARGETS, STARTS[:count], 4)
    orders = [replace(source, runs=True).order(np.random.default_rng(i), 16) for i in range(20)]
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), np.arange(count))
        for batch in np.split(order, range(16, count, 16)):
            assert set(np.diff(batch) % count) <= {1}, "in the order of time, the end going on with the start"
    assert len({tuple(order) for order in orders}) > 1 or count == 1
    plain = source.order(np.random.default_rng(0), 16)
    assert set(np.diff(plain) % count) != {1}


def test_stop_is_asked_after_every_epoch_too(device: Device) -> None:
    """Epochs of 7 small batches are shorter than the time between two looks at the clock."""
    asked: list[int] = []
    state = fit(
        make_net(device),
        TRAIN,
        epochs=500,
        stop=lambda: len(asked) >= 3,
        on_epoch=lambda s: asked.append(s.epoch),
    )
    assert (state.stopped, state.epoch, state.batch) == ("interrupted", 3, 0)


def test_gradients_by_hand_are_no_part_of_the_next_step(device: Device) -> None:
    """calcGradients before the training and in on_epoch: the weights are those of a training without."""
    plain, looked_at = (make_net(device, optimizer=nn.Adam(lr=0.01, clip_norm=1.0)) for _ in range(2))

    def look(_: TrainingState | None = None) -> None:
        looked_at.feedForward(np.ones((2, 4, 3)))
        looked_at.calcGradients(np.full((2, 2), 5.0))

    fit(plain, TRAIN, epochs=3)
    look()
    fit(looked_at, TRAIN, epochs=3, on_epoch=look)
    np.testing.assert_array_equal(weights(looked_at), weights(plain))


def test_an_overflow_on_numpy_is_no_warning() -> None:
    with pytest.raises(nn.TrainingError, match="the loss is not finite"):
        fit(make_net(nn.NumpyDevice(), optimizer=nn.SGD(lr=1e30)), TRAIN, epochs=2)


def test_a_loss_that_is_not_finite_names_the_layer_and_keeps_the_weights(device: Device) -> None:
    net = make_net(device, optimizer=nn.SGD(lr=1e30))
    with pytest.raises(nn.TrainingError, match=r"not finite in epoch 1, batch [23]: .*layer [01]"):
        fit(net, TRAIN, epochs=2)
    assert np.isfinite(weights(net)).all()
    net.predict(np.zeros((1, 4, 3)))


def test_a_sound_training_follows_a_failed_one(device: Device) -> None:
    net = make_net(device, optimizer=nn.SGD(lr=1e30))
    with pytest.raises(nn.TrainingError):
        fit(net, TRAIN, epochs=1)
    before = weights(net)
    net.optimizer.lr = 1e-3
    fit(net, TRAIN, epochs=1)
    assert np.isfinite(weights(net)).all()
    assert not np.array_equal(before, weights(net))


def test_class_targets(device: Device) -> None:
    labels = (ROWS[:, 0] > 0).astype(np.int32)
    layers = [nn.CNeuronDenseOCL(neurons=2)]
    net = nn.CNet(
        input_shape=(4, 3), layers=layers, batch=16, loss="cross_entropy", optimizer=nn.Adam(lr=0.05)
    ).build(device)
    fit(net, Source.windows(ROWS, labels, STARTS, 4), epochs=30)
    x = np.stack([ROWS[s : s + 4] for s in STARTS])
    assert (net.predict(x).argmax(1) == labels[STARTS + 3]).mean() > 0.97


def test_wrong_data_is_refused_before_training() -> None:
    device = nn.NumpyDevice()
    bad = ROWS.copy()
    bad[20, 1] = np.nan
    with pytest.raises(nn.DataError, match="input row 20 holds a value that is not finite"):
        fit(make_net(device), Source.windows(bad, TARGETS, STARTS, 4))
    unused = ROWS.copy()
    unused[149] = np.inf  # no window reaches it
    fit(make_net(device), Source.windows(unused, TARGETS, STARTS, 4), epochs=1)
    with pytest.raises(nn.ShapeError, match="samples are 5 x 3 values, the net takes"):
        fit(make_net(device), Source.windows(ROWS, TARGETS, STARTS, 5))
    with pytest.raises(nn.ShapeError, match="the net's loss takes"):
        fit(make_net(device), Source.windows(ROWS, TARGETS[:, :1], STARTS, 4))
    with pytest.raises(nn.ShapeError, match="start from 0 to 146"):
        Source.windows(ROWS, TARGETS, [147], 4)
    classes = nn.CNet(input_shape=(4, 3), layers=[nn.CNeuronDenseOCL(neurons=2)], loss="cross_entropy")
    with pytest.raises(nn.DataError, match="from 0 to 1; got 2 to 2"):
        fit(classes.build(device), Source.windows(ROWS, np.full(150, 2), STARTS, 4))


def test_a_net_that_reconstructs_needs_no_targets(device: Device) -> None:
    """Source(itself=True) trains as the same windows given as targets do."""
    starts = np.arange(101, dtype=np.int32)
    ready = np.stack([ROWS[s : s + 4] for s in starts])
    nets, states = [], []
    for source in (Source(ROWS, starts, 4, itself=True), Source.arrays(ready, ready)):
        layers = [nn.CNeuronTransposeOCL(), nn.CNeuronConvOCL(window=4, step=4, window_out=4)]
        layers += [nn.CNeuronTransposeOCL()]
        net = nn.CNet(input_shape=(4, 3), layers=layers, batch=16, optimizer=nn.Adam(lr=0.01))
        if not source.itself:
            source = Source.arrays(ready, ready)
        net.build(device, seed=0)
        states.append(fit(net, source, epochs=3, validation=source, seed=2))
        nets.append(net)
    np.testing.assert_array_equal(weights(nets[0]), weights(nets[1]))
    assert states[0].history[2]["loss"] < states[0].history[0]["loss"]
    assert [s.best_score for s in states[:1]] == [states[1].best_score]
    with pytest.raises(nn.ShapeError, match="let the net give back what it gets"):
        fit(make_net(device), Source(ROWS, starts, 4, itself=True), epochs=1)


def test_answers_of_the_validation_data_give_the_same_epochs(device: Device) -> None:
    """Another way to the outputs; with a penalty, which outputs do not hold, it is not taken."""
    asked: list[int] = []

    def answers(net: nn.CNet, source: Source) -> np.ndarray:
        asked.append(len(source))
        return net.predict(np.stack([ROWS[s : s + 4] for s in source.starts]))

    histories = []
    for given in (None, answers):
        state = fit(make_net(device), TRAIN, validation=VALID, answers=given, epochs=3, patience=None)
        histories.append([(h["loss"], h["validation"]) for h in state.history])
    np.testing.assert_allclose(*histories, rtol=1e-6)
    assert asked == [30, 30, 30]
    net = make_net(device)
    net.layers[0].set_penalty()
    net.layers[0].penalty.fill(2.0)
    state = fit(net, TRAIN, validation=VALID, answers=answers, epochs=1)
    assert state.history[0]["validation"] == pytest.approx(histories[0][0][1] + 2.0, rel=1e-5)
    assert len(asked) == 3


def test_a_slow_device_is_asked_after_each_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches only enter a queue: without waits one would hear of a stop after as many as fit into 0.1 s."""
    clock, queued, asked = [0.0], [0], []
    monkeypatch.setattr(fit_module.time, "perf_counter", lambda: clock[0])
    pace = fit_module.Pace()
    for batch in range(12):
        queued[0] += 1
        clock[0] += 0.001  # to enter the queue
        if pace.is_due():
            clock[0] += 0.25 * queued[0]  # to do the work
            queued[0] = 0
            asked.append(batch)
            pace.waited()
    assert asked == list(range(12))


def test_a_fast_device_is_asked_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(fit_module.time, "perf_counter", lambda: clock[0])
    pace, waits = fit_module.Pace(), 0
    for _ in range(10_000):
        clock[0] += 0.0001
        if pace.is_due():
            waits += 1
            pace.waited()
    assert waits in (10, 11)


def test_whole_numbers_are_rows_and_targets_too(device: Device) -> None:
    rows, targets = np.arange(30).reshape(10, 3) % 7, np.arange(10)[:, None] % 3
    losses = []
    for kind in (np.int64, np.float64):
        net = nn.CNet(input_shape=(3,), layers=[nn.CNeuronDenseOCL(neurons=1)], batch=4).build(device, seed=0)
        history = nn.fit(net, rows.astype(kind), targets.astype(kind), epochs=2).history
        losses.append([epoch["loss"] for epoch in history])
    assert losses[0] == losses[1]


def test_what_is_said_of_a_sample_are_the_same_bits_whatever_follows(device: Device) -> None:
    """A product of few rows may take another kernel: a short last batch would have other rounding."""
    layers = [
        nn.CNeuronConvOCL(window=3, step=3, window_out=40),
        nn.CNeuronConvOCL(window=40, step=40, window_out=40),
        nn.CNeuronLayerNormOCL(),
        nn.CNeuronDenseOCL(neurons=5),
    ]
    net = nn.CNet(input_shape=(4, 3), layers=layers, batch=64).build(device, seed=0)
    whole = predict_source(net, Source.windows(ROWS, None, STARTS, 4))
    for count in (1, 2, 15, 63, 64, 65, 130):
        found = predict_source(net, Source.windows(ROWS, None, STARTS[:count], 4))
        np.testing.assert_array_equal(found, whole[:count])
