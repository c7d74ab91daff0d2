"""Finite differences against hand-written backward passes, in float64 on the NumPy device."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import DeviceArray
from neuronet.device.numpy import NumpyDevice
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.net import CNet

EPS = 1e-5  # step of the differences
TOLERANCE = 1e-6


def gradcheck(
    layers: Sequence[CNeuronBaseOCL],
    input_shape: Sequence[int],
    *,
    second_shape: Sequence[int] | None = None,
    batch: int = 3,
    rows: int | None = None,
    seed: int = 0,
    training: bool = True,
) -> None:
    """AssertionError unless the gradients of parameters, input and second input are right.

    The loss is the mean squared distance to random targets plus the layers' penalties, in float64;
    every element is compared with a central difference, to 1e-6 of its array's largest gradient. ``rows``
    below ``batch`` checks a partial batch. ``training`` False takes the mode of evaluation, where layers that
    draw random numbers draw none.
    """
    rng = np.random.default_rng(seed)
    net = CNet(input_shape=input_shape, layers=layers, batch=batch, second_shape=second_shape)
    net.build(NumpyDevice(np.float64), seed=seed)
    net.TrainMode(training)
    inputs = [net.input] + ([net.second] if net.second is not None else [])
    for layer in inputs:
        layer.needs_gradient = True  # type: ignore[misc]  # an instance may say otherwise than its class
    for p in net.pool.parameters:  # away from zero, where gradients of kinks and of zero biases hide
        p.value.write(p.value.read() + 0.1 * rng.standard_normal(p.shape))
    n = rows or batch
    x = [rng.standard_normal((n, *layer.output.shape[1:])) for layer in inputs]
    target = rng.standard_normal((n, *net.target_shape))

    states = {key: array.read() for layer in net.layers for key, array in _states(layer)}

    def loss() -> float:
        for layer in net.layers:
            for key, array in _states(layer):
                array.write(states[key])
        net.feedForward(*x)
        terms = [layer.penalty.read().mean() for layer in net.layers if layer.penalty is not None]
        return float(((net.getResults() - target) ** 2).mean() + sum(terms))

    loss()
    net.calcGradients(target)
    checked = [(f"{layer.path} gradient", _assign(x, i), layer.gradient) for i, layer in enumerate(inputs)]
    checked += [
        (f"layer {i} ({type(layer).__name__}) {p.name}", _write(p.value), p.gradient)
        for i, layer in enumerate(net.layers)
        for p in layer.parameters
    ]
    analytic = [(name, setter, gradient.rows(gradient.shape[0]).read()) for name, setter, gradient in checked]
    for (name, setter, gradient), values in zip(
        analytic, [*x, *[p.value.read() for p in net.pool.parameters]], strict=True
    ):
        _compare(name, values, gradient, setter, loss)


def _states(layer: CNeuronBaseOCL) -> list[tuple[str, DeviceArray]]:
    return [(f"{layer.path}/{name}", array) for name, array in layer.states.items()]


def _assign(x: list[NDArray[np.float64]], index: int) -> Callable[[NDArray[np.float64]], None]:
    def setter(values: NDArray[np.float64]) -> None:
        x[index] = values

    return setter


def _write(array: DeviceArray) -> Callable[[NDArray[np.float64]], None]:
    def setter(values: NDArray[np.float64]) -> None:
        array.write(values)

    return setter


def _compare(
    name: str,
    values: NDArray[np.float64],
    gradient: NDArray[np.float64],
    setter: Callable[[NDArray[np.float64]], None],
    loss: Callable[[], float],
) -> None:
    numeric = np.empty(values.size)
    for i in range(values.size):
        ends = []
        for sign in (1, -1):
            moved = values.copy()
            moved.flat[i] += sign * EPS
            setter(moved)
            ends.append(loss())
        numeric[i] = (ends[0] - ends[1]) / (2 * EPS)
    setter(values)
    scale = max(float(np.abs(numeric).max(initial=0.0)), 1e-3)
    error = np.abs(numeric - gradient.ravel()) / scale
    worst = int(error.argmax()) if error.size else 0
    assert error.max(initial=0.0) <= TOLERANCE, (
        f"{name}[{worst}]: backward says {gradient.flat[worst]:.8g}, finite differences say "
        f"{numeric[worst]:.8g} (largest |gradient| {scale:.3g})"
    )
