from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.numpy import NumpyDevice
from neuronet.errors import SpecError
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dfft_encoder import CNeuronDFFTEncoder
from neuronet.layers.sae import CNeuronSAE
from neuronet.net import CNet
from neuronet.testing.gradcheck import gradcheck


def encoder(**changes: object) -> CNeuronDFFTEncoder:
    fields = {"windows": (6, 5, 7), "window_out": 6, "heads": 2, "dimension": 3, "layers": 1, **changes}
    return CNeuronDFFTEncoder(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("units", "changes"),
    [
        (7, {"windows": (4, 4, 4), "window_out": 4, "heads": 1, "dimension": 2}),
        (4, {"windows": (4, 4), "window_out": 4, "heads": 2, "dimension": 1, "layers": 2, "radius": 2}),
    ],
)
@pytest.mark.parametrize("first", [False, True])
def test_gradients(units: int, changes: dict[str, object], first: bool) -> None:
    below = [] if first else [CNeuronConvOCL(window=3, step=3, window_out=4, activation="TANH")]
    gradcheck([*below, encoder(**changes)], (units, 3), rows=2)


def test_it_is_its_parts_one_behind_the_other(exact: NumpyDevice) -> None:
    """The stages run alone, and their maps packed for a CNeuronSAE of the same weights."""
    net = CNet(input_shape=(7, 3), layers=[encoder()], batch=2).build(exact, seed=1)
    x = np.random.default_rng(0).standard_normal((2, 7, 3))
    expected = net.predict(x)
    assert expected.shape == (2, 4, 6)
    arrays, whole = net.arrays(), net.layers[0]
    maps = [stage.output.read() for stage in whole.stages]  # type: ignore[attr-defined]
    assert [m.shape for m in maps] == [(2, 7, 6), (2, 4, 5), (2, 2, 7)]
    packed = np.concatenate([m.reshape(2, -1) for m in maps], axis=1)
    sae = CNeuronSAE(units=7, windows=(6, 5, 7), window_out=6, heads=2, dimension=3)
    alone = CNet(input_shape=(packed.shape[1],), layers=[sae], batch=2).build(exact)
    mine = {k.replace("/0/sae/", "/0/"): v for k, v in arrays.items() if "/0/sae/" in k}
    alone.set_arrays(mine | {"optimizer/step": np.array([0])})
    np.testing.assert_allclose(alone.predict(packed), expected, rtol=1e-12, atol=1e-12)


def test_every_unit_reaches_the_newest_output(device: Device) -> None:
    net = CNet(input_shape=(16, 3), layers=[encoder()], batch=2).build(device, seed=1)
    x = np.random.default_rng(0).standard_normal((2, 16, 3))
    whole = net.predict(x)[:, -1]
    for unit in (0, 8, 15):
        moved = x.copy()
        moved[:, unit] += 1.0
        assert np.abs(net.predict(moved)[:, -1] - whole).max() > 1e-4


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"windows": (4,)}, r"windows=\(4,\) is not two or more widths"),
        ({"layers": 0}, "layers=0 is not positive"),
        ({"heads": 0}, "heads=0 is"),
    ],
)
def test_impossible_declarations_are_refused(
    changes: dict[str, object], what: str, exact: NumpyDevice
) -> None:
    with pytest.raises(SpecError, match=what):
        CNet(input_shape=(6, 3), layers=[encoder(**changes)]).build(exact)
