from __future__ import annotations

import numpy as np
import pytest

from neuronet.ops.multi_windows_conv import causal, centred, output_units
from neuronet.reference.multi_windows_conv import (
    CalcHiddenGradientMultWinConvWPad,
    FeedForwardMultWinConvWPad,
)
from neuronet.reference.multi_windows_weights import WeightGradientMultWinConvWPad

WINDOWS = [(1,), (2,), (3, 5), (5, 3), (1, 3, 5, 7)]
SIZES = [(windows, step, step % 2 == 0) for windows in WINDOWS for step in (1, 2, 3, 5)]


def _arrays(windows: tuple[int, ...], step: int, late: bool) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = {"x": (2, 11, 2), "w": (2 * sum(windows), 3), "b": (len(windows), 3)}
    starts = (causal if late else centred)(windows)
    arrays = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    arrays["dz"] = rng.standard_normal((2, output_units(11, step), len(windows), 3))
    return arrays | {"windows_in": np.array(windows), "starts": np.array(starts)}


@pytest.mark.parametrize(("windows", "step", "late"), SIZES)
def test_forward_is_the_sum_over_each_window(windows: tuple[int, ...], step: int, late: bool) -> None:
    arrays = _arrays(windows, step, late)
    dz = arrays.pop("dz")
    y = np.full_like(dz, np.nan)
    FeedForwardMultWinConvWPad(**arrays, y=y, step=step, activation=-1)
    x, w, b = arrays["x"], arrays["w"], arrays["b"]
    for n, u, q, f in np.ndindex(*y.shape):
        expected, before = b[q, f], 2 * sum(windows[:q])
        for k in range(windows[q]):
            i = u * step + k - (windows[q] - 1 if late else (windows[q] - 1) // 2)
            for d in range(2):
                if 0 <= i < 11:
                    expected += x[n, i, d] * w[before + 2 * k + d, f]
        np.testing.assert_allclose(y[n, u, q, f], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("windows", "step", "late"), SIZES)
def test_backward_is_the_derivative_of_forward(windows: tuple[int, ...], step: int, late: bool) -> None:
    rng, arrays = np.random.default_rng(1), _arrays(windows, step, late)
    dz, geometry = arrays.pop("dz"), {name: arrays.pop(name) for name in ("windows_in", "starts")}
    gradients = {name: np.zeros_like(value) for name, value in arrays.items()}
    CalcHiddenGradientMultWinConvWPad(dz=dz, w=arrays["w"], **geometry, dx=gradients["x"], step=step)
    WeightGradientMultWinConvWPad(
        x=arrays["x"], dz=dz, **geometry, dw=gradients["w"], db=gradients["b"], step=step
    )

    def loss(**values: np.ndarray) -> float:
        y = np.empty_like(dz)
        FeedForwardMultWinConvWPad(**values, **geometry, y=y, step=step, activation=-1)
        return float((y * dz).sum())

    for name, gradient in gradients.items():
        direction, eps = rng.standard_normal(gradient.shape), 1e-5
        up = loss(**(arrays | {name: arrays[name] + eps * direction}))
        down = loss(**(arrays | {name: arrays[name] - eps * direction}))
        np.testing.assert_allclose(
            (up - down) / (2 * eps), (gradient * direction).sum(), rtol=1e-7, atol=1e-8, err_msg=name
        )
