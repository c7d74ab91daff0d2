"""Errata E16, E18 and E20: who owns memory, and what building or deleting a net does to others."""

from __future__ import annotations

import gc

import numpy as np

from neuronet.device.base import Device
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.layer_norm import CNeuronLayerNormOCL
from neuronet.net import CNet


def _net(device: Device) -> CNet:
    layers = [CNeuronDenseOCL(neurons=3), CNeuronLayerNormOCL()]
    return CNet(input_shape=(4,), layers=layers, batch=2).build(device, seed=1)


def test_e16_building_again_starts_afresh(device: Device) -> None:
    """Published: Init on a layer that has weights appends to them, so their number doubles."""
    net = _net(device)
    first, count = net.arrays(), net.pool.count
    net.feedForward(np.ones((2, 4)))
    net.backProp(np.zeros((2, 3)))
    net.build(device, seed=1)
    assert net.pool.count == count == 3 * 4 + 3 + 2 * 3
    assert [p.name for p in net.layers[0].parameters] == ["w", "b"]
    for name, values in net.arrays().items():
        np.testing.assert_array_equal(values, first[name], err_msg=name)


def test_e18_shared_memory_outlives_the_layer_that_made_it(device: Device) -> None:
    """Published: BufferSet frees and adopts without counting owners, so the second free hits the first."""
    dense, norm = _net(device).layers
    norm.gradient.fill(7.0)
    dense.SetGradient(norm.gradient)
    del norm
    gc.collect()
    device.array((2, 3)).fill(-1.0)  # would reuse memory that was freed
    np.testing.assert_array_equal(dense.gradient.read(), np.full((2, 3), 7.0))


def test_e20_deleting_a_net_leaves_the_others_alone(device: Device) -> None:
    """Published: the destructor shuts the shared OpenCL context down."""
    x, kept, other = np.ones((2, 4)), _net(device), _net(device)
    before = kept.predict(x)
    del other
    gc.collect()
    np.testing.assert_array_equal(kept.predict(x), before)
