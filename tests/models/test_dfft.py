"""DFFT: exact gradients, finds a pattern, answers the same after loading, and says what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import neuronet as nn
from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import DataError, FileFormatError, ShapeError, SpecError
from neuronet.models.dfft import DFFT, OUTPUTS, Actions, layers
from neuronet.testing.gradcheck import gradcheck


def samples(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Windows [n, 8, 2]; the side is the sign of what the last two bars say together, 0 for a third."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 8, 2))
    said = x[:, -1, 0] + x[:, -2, 1]
    side = np.where(np.abs(said) < 0.6, 0, np.sign(said)).astype(int)
    moves = 0.01 * np.stack([np.maximum(0.0, said), np.maximum(0.0, -said)], axis=1)
    return 100.0 + 5.0 * x, side, moves


def test_gradients_of_the_whole_net() -> None:
    gradcheck(layers(1, OUTPUTS, width=4, heads=2), (4, 1), batch=2)


def test_finds_a_pattern_and_keeps_it(device: Device, tmp_path: Path) -> None:
    x, side, moves = samples(1024, 0)
    model = DFFT(history=8, features=2, width=8, heads=2)
    model.fit(x, side, moves, epochs=8, batch=32, lr=5e-3, device=device)
    unseen, wanted, far = samples(512, 1)
    actions = model.act(unseen)
    assert np.mean(actions.side == wanted) > 0.85
    buys = (wanted == 1) & (actions.side == 1)
    assert np.corrcoef(actions.take_profit[buys], far[buys, 0])[0, 1] > 0.6
    assert np.isnan(actions.stop_loss[actions.side == 0]).all()
    model.save(tmp_path / "m.h5")
    again = DFFT.load(tmp_path / "m.h5", device)
    assert again.spec() == model.spec()
    np.testing.assert_array_equal(again.act(unseen).p, actions.p)
    on_numpy = DFFT.load(tmp_path / "m.h5", NumpyDevice(np.float64)).act(unseen)
    np.testing.assert_allclose(on_numpy.p, actions.p, atol=1e-4)
    np.testing.assert_allclose(on_numpy.up, actions.up, atol=1e-5)


def test_sizes_and_stops_by_hand() -> None:
    p = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.3, 0.4, 0.3]])
    actions = Actions(p, up=np.array([2.0, 3.0, 4.0]), down=np.array([5.0, 6.0, 7.0]))
    assert actions.side.tolist() == [1, -1, 0]
    assert actions.size == pytest.approx([0.6, 0.5, 0.0])
    assert actions.take_profit == pytest.approx([2.0, 6.0, np.nan], nan_ok=True)
    assert actions.stop_loss == pytest.approx([5.0, 3.0, np.nan], nan_ok=True)


def test_a_window_without_an_answer_is_no_sell() -> None:
    x, side, moves = samples(16, 0)
    model = DFFT(history=8, features=2, width=8)
    model.fit(x, side, moves, epochs=1, device=NumpyDevice())
    x[3, 5, 1] = np.nan
    with pytest.raises(DataError, match=r"DFFT\.act: window 3 has nan in column 1"):
        model.act(x)
    x[3, 5, 1] = 1e39  # finite, but not in float32
    with pytest.raises(DataError, match=r"DFFT\.act: window 3 has 1e\+39 in column 1"):
        model.act(x)
    x[3, 5, 1] = 0.0
    for wrong in (np.full(8, np.nan), np.full((8, 2), np.inf), [["a"]], [[None]]):
        with pytest.raises(ShapeError, match=r"x (has shape|are not numbers)"):
            model.act(wrong)
    model.net.layers[-1].parameters[0].value.fill(np.inf)
    with pytest.raises(DataError, match="the answer for window 0 is not finite"):
        model.act(x)


def test_bad_input_is_named(tmp_path: Path) -> None:
    model = DFFT(history=8, features=2)
    x, side, moves = samples(16, 0)
    with pytest.raises(SpecError, match="DFFT: has no weights yet\nFix: call fit"):
        model.act(x)
    with pytest.raises(ShapeError, match=r"DFFT.fit, training: moves has shape \(16,\), expected \(16, 2\)"):
        model.fit(x, side, moves[:, 0])
    with pytest.raises(SpecError, match="side holds other values than -1, 0, 1"):
        model.fit(x, side + 1, moves)
    with pytest.raises(SpecError, match="not all finite and at least 0"):
        model.fit(x, side, -moves)
    with pytest.raises(SpecError, match="width=20 is no multiple of twice the 4 heads\nFix: choose width=24"):
        DFFT(history=8, features=2, width=20)
    net = nn.CNet(input_shape=(2,), layers=[nn.CNeuronDenseOCL(neurons=1)])
    net.build(NumpyDevice()).save(tmp_path / "net.h5")
    with pytest.raises(FileFormatError, match="holds no DFFT"):
        DFFT.load(tmp_path / "net.h5")
