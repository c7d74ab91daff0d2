from __future__ import annotations

import numpy as np
import pytest

from neuronet.device.base import Device
from neuronet.device.pool import Parameter, ParameterPool

SHAPES = [(3, 5), (1,), (33,), (2, 2)]


@pytest.fixture
def pool(any_device: Device) -> ParameterPool:
    parameters = [Parameter(f"p{i}", np.full(shape, i + 1.0)) for i, shape in enumerate(SHAPES)]
    return ParameterPool(any_device, parameters)


def test_parameters_hold_their_initial_values_and_zero_gradients_and_moments(pool: ParameterPool) -> None:
    for i, p in enumerate(pool.parameters):
        np.testing.assert_array_equal(p.value.read(), np.full(SHAPES[i], i + 1.0))
        for array in (p.gradient, p.m, p.v):
            np.testing.assert_array_equal(array.read(), np.zeros(SHAPES[i]))
    assert pool.count == 15 + 1 + 33 + 4
    assert repr(pool.parameters[0]) == "<parameter p0 [3, 5]>"


def test_each_starts_aligned_and_the_padding_is_zero(pool: ParameterPool) -> None:
    flat, step = pool.values.read(), max(1, pool.device.alignment // 4)
    assert flat.sum() == 15 * 1 + 1 * 2 + 33 * 3 + 4 * 4
    starts = [int(np.flatnonzero(flat == i + 1)[0]) for i in range(4)]
    assert [start % step for start in starts] == [0, 0, 0, 0]
    assert len(flat) == pool.size


def test_parameters_share_the_flat_buffers(pool: ParameterPool) -> None:
    pool.gradients.fill(2)
    for p in pool.parameters:
        assert (p.gradient.read() == 2).all()
    pool.parameters[2].value.fill(-1)
    assert (pool.values.read() == -1).sum() == 33


def test_a_span_covers_neighbours_and_no_others(pool: ParameterPool) -> None:
    span = pool.span(pool.parameters[1:3])
    span.value.fill(9)
    means = [p.value.read().mean() for p in pool.parameters]
    assert means == [1, 9, 9, 4]
    assert {array.size for array in (span.value, span.gradient, span.m, span.v)} == {span.value.size}
    assert pool.fast.value.size == pool.size
    assert pool.slow is None


def test_a_net_without_parameters_has_an_empty_pool(any_device: Device) -> None:
    pool = ParameterPool(any_device, [])
    assert (pool.size, pool.count) == (0, 0)
