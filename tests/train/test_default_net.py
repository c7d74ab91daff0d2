"""The default net fits every history and task, and stays small."""

from __future__ import annotations

import pytest

from neuronet.device.numpy import NumpyDevice
from neuronet.train.default_net import default_net
from neuronet.train.settings import Settings


@pytest.mark.parametrize("history", [1, 2, 3, 4, 5, 19, 20, 21, 120, 1000])
@pytest.mark.parametrize("task", ["forecast", "direction"])
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
