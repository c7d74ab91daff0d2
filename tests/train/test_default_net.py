"""The nets that --model names fit every history and task, and stay small."""

from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.numpy import NumpyDevice
from neuronet.errors import SpecError
from neuronet.train.default_net import default_net
from neuronet.train.settings import Settings


@pytest.mark.parametrize("history", [1, 2, 3, 4, 5, 19, 20, 21, 120, 1000])
@pytest.mark.parametrize("task", ["forecast", "direction", "action"])
def test_any_history_builds(history: int, task: str) -> None:
    settings = Settings(history=history, task=task, horizon=7, batch=3)
    net = default_net(settings, 5).build(NumpyDevice(), seed=0)
    assert net.input_shape == (history, 5)
    assert net.output_shape == (settings.outputs,)


def test_settings_reach_the_optimiser_and_the_loss() -> None:
    spec = default_net(Settings(lr=0.5, l2=0.25, clip_norm=2.0, batch=9, task="direction"), 5).spec()
    assert (spec["optimizer"]["lr"], spec["optimizer"]["l2"], spec["optimizer"]["clip_norm"]) == (
        0.5,
        0.25,
        2.0,
    )
    assert (spec["batch"], spec["loss"]["class"]) == (9, "CrossEntropy")


@pytest.mark.parametrize("history", [1, 2, 3, 7, 64, 65])
@pytest.mark.parametrize("task", ["forecast", "direction", "action"])
@pytest.mark.parametrize("batch", [1, 3])
def test_mamba4cast_trains_on_any_history_and_batch(history: int, task: str, batch: int) -> None:
    settings = Settings(history=history, task=task, horizon=7, batch=batch, model="mamba4cast")
    net = default_net(settings, 5).build(NumpyDevice(), seed=0)
    assert net.input_shape == (history, 5)
    assert net.second_shape is not None
    assert net.second_shape[0] == history
    assert net.output_shape == (settings.outputs,)
    rng = np.random.default_rng(0)
    net.feedForward(rng.standard_normal((batch, history, 5)), rng.random((batch, *net.second_shape)))
    width = {"forecast": 7, "action": 3, "direction": 1}[task]
    target = rng.integers(0, 3, (batch, width)) if width < 7 else rng.standard_normal((batch, 7))
    before = net.pool.values.read()
    assert np.isfinite(net.backProp(target.reshape(batch, *net.target_shape)))
    after = net.pool.values.read()
    assert np.isfinite(after).all()
    assert not np.array_equal(before, after)


def test_mamba4cast_takes_the_settings_of_every_net() -> None:
    settings = Settings(lr=0.5, l2=0.25, clip_norm=2.0, batch=9, task="direction", model="mamba4cast")
    spec, conv = (
        default_net(settings, 5).spec(),
        default_net(Settings.from_dict(settings.to_dict() | {"model": "conv"}), 5).spec(),
    )
    assert {k: spec[k] for k in ("batch", "loss", "optimizer")} == {
        k: conv[k] for k in ("batch", "loss", "optimizer")
    }
    assert conv["second_shape"] is None
    assert spec["layers"][0]["class"] == "CMamba4CastEmbeding"


def test_its_answer_comes_from_the_last_bar_that_has_seen_all() -> None:
    """Every bar and its time reaches every output."""
    net = default_net(Settings(history=20, horizon=3, batch=41, model="mamba4cast"), 2).build(
        NumpyDevice(np.float64), seed=1
    )
    assert net.second_shape is not None
    rng = np.random.default_rng(1)
    x, phases = (
        np.repeat(rng.random((1, *shape)), 41, axis=0) for shape in (net.input_shape, net.second_shape)
    )
    for bar in range(20):
        x[1 + bar, bar] += 1.0
        phases[21 + bar, bar] += 0.25
    found = net.predict(x, phases)
    assert np.all(np.abs(found[1:] - found[0]) > 1e-9)


@pytest.mark.parametrize("history", [1, 3, 4, 7, 19, 20, 21, 24, 39, 120, 133])
def test_the_newest_bar_is_always_seen(history: int) -> None:
    """Windows that do not divide the history leave out the oldest bars: 24 bars were read as the first 20."""
    net = default_net(Settings(history=history, batch=2), 5).build(NumpyDevice(), seed=0)
    x = np.zeros((2, history, 5))
    x[1, -1] = 1.0
    outputs = net.predict(x)
    assert np.abs(outputs[1] - outputs[0]).max() > 1e-6


@pytest.mark.parametrize("history", [1, 2, 7, 24])
@pytest.mark.parametrize("task", ["forecast", "direction", "policy", "action"])
def test_dfft_fits_every_history_and_task(history: int, task: str) -> None:
    settings = Settings(history=history, task=task, horizon=7, batch=2, model="dfft")
    net = default_net(settings, 5).build(NumpyDevice(), seed=0)
    assert net.output_shape == (settings.outputs,)
    x = np.random.default_rng(0).standard_normal((2, history, 5))
    x[1] = x[0]
    x[1, -1] += 1.0
    outputs = net.predict(x)
    assert np.abs(outputs[1] - outputs[0]).max() > 1e-4, "the newest bar is seen"


def test_too_large_a_batch_of_stca_names_one_that_fits() -> None:
    """A training has at most a batch of its windows, so this many bars are needed to see it."""
    with pytest.raises(
        SpecError, match=r"--batch: 90000 histories of 40 bars need .*\nFix: choose --batch \d"
    ):
        default_net(Settings(model="stca", history=40, batch=90_000), 5)
