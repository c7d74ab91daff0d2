from __future__ import annotations

import numpy as np
import pytest

from neuronet.reference import scan_bc, scan_gradient, scan_states, selective_scan

LENGTHS = (1, 2, 63, 64, 65, 130)
EPS = 1e-5


def scan(
    xbc: np.ndarray, delta: np.ndarray, decay: np.ndarray, d: np.ndarray, initial: np.ndarray
) -> dict[str, np.ndarray]:
    """The twins, one after the other, on arrays filled with NaN."""
    (batch, length, _), (_, heads, state, head_dim) = xbc.shape, initial.shape
    chunks = -(-length // 64)
    shapes = {
        "states": (batch, chunks + 1, heads, state, head_dim),
        "span": (batch, chunks, heads),
        "y": (batch, length, heads, head_dim),
    }
    made = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
    states, span, y = made.values()
    scan_states.ScanChunkStates(xbc=xbc, delta=delta, decay=decay, states=states, span=span)
    cells = states.reshape(*states.shape[:3], -1)
    scan_states.ScanCarry(initial=initial.reshape(batch, heads, -1), span=span, states=cells)
    selective_scan.ScanOutputs(xbc=xbc, delta=delta, decay=decay, d=d, states=states, y=y)
    return made


def inputs(length: int, batch: int = 2, heads: int = 2, head_dim: int = 3, state: int = 4) -> dict:
    rng = np.random.default_rng(length)
    delta = rng.uniform(0.01, 0.5, (batch, length, heads))
    return {
        "xbc": rng.standard_normal((batch, length, heads * head_dim + 2 * state)),
        "delta": delta,
        "decay": np.exp(-np.array([0.05, 4.0])[:heads] * delta),
        "d": rng.standard_normal(heads),
        "initial": rng.standard_normal((batch, heads, state, head_dim)),
    }


def test_steps() -> None:
    rows, a_log = np.array([[[9.0, -1.0, 40.0]]]), np.log([0.5, 2.0])
    delta, decay = np.empty((1, 1, 2)), np.empty((1, 1, 2))
    selective_scan.ScanSteps(rows=rows, a_log=a_log, delta=delta, decay=decay)
    np.testing.assert_allclose(delta[0, 0], [np.log1p(np.exp(-1)), 40], rtol=1e-15)
    np.testing.assert_allclose(decay[0, 0], [np.exp(-0.5 * np.log1p(np.exp(-1))), np.exp(-80)], rtol=1e-12)


@pytest.mark.parametrize("length", LENGTHS)
def test_chunks_give_the_recurrence(length: int) -> None:
    given = inputs(length)
    made = scan(**given)
    for n in range(2):
        for head in range(2):
            h = given["initial"][n, head].copy()
            for t in range(length):
                if t % 64 == 0:
                    np.testing.assert_allclose(made["states"][n, t // 64, head], h, rtol=1e-10, atol=1e-12)
                row = given["xbc"][n, t]
                x, b, c = row[3 * head : 3 * head + 3], row[6:10], row[10:]
                h = given["decay"][n, t, head] * h + given["delta"][n, t, head] * np.outer(b, x)
                expected = c @ h + given["d"][head] * x
                np.testing.assert_allclose(made["y"][n, t, head], expected, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(made["states"][n, -1, head], h, rtol=1e-10, atol=1e-12)


def _forward(rows: np.ndarray, a_log: np.ndarray, **given: np.ndarray) -> dict[str, np.ndarray]:
    steps = {name: np.empty_like(rows[:, :, 1:]) for name in ("delta", "decay")}
    selective_scan.ScanSteps(rows=rows, a_log=a_log, **steps)
    return steps | scan(**steps, **given)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("groups", [1, 2])
def test_backward_is_the_derivative_of_forward(length: int, groups: int) -> None:
    rng = np.random.default_rng(0)
    given = {name: values for name, values in inputs(length).items() if name not in ("delta", "decay")}
    given["rows"] = rng.standard_normal((2, length, 3)) - 1
    given["a_log"] = np.array([-3.0, 0.5])
    made = _forward(**given)
    states, span, y = made["states"], made["span"], made["y"]
    dy = rng.standard_normal(y.shape)
    gradients = {name: np.zeros_like(given[name]) for name in ("xbc", "rows", "a_log", "d")}
    dxbc, drows, dstates = gradients["xbc"], gradients["rows"], np.full_like(states, np.nan)
    parts, a_parts, d_parts = np.empty((2, length, groups, 8)), np.empty(span.shape), np.empty(span.shape)
    steps = {"delta": made["delta"], "decay": made["decay"]}
    back = {"xbc": given["xbc"], "decay": made["decay"], "dstates": dstates, "dy": dy}
    scan_states.ScanChunkGradients(**back)
    scan_states.ScanCarryBack(span=span, dstates=dstates.reshape(*dstates.shape[:3], -1))
    scan_gradient.ScanInputGradients(**back, dxbc=dxbc)
    scan_gradient.ScanStepGradients(
        xbc=given["xbc"], delta=steps["delta"], a_log=given["a_log"], d=given["d"], states=states,
        dstates=dstates, y=y, dy=dy, dxbc=dxbc, drows=drows, a_parts=a_parts, d_parts=d_parts,
    )  # fmt: skip
    selective_scan.ScanStepsGradient(delta=steps["delta"], drows=drows)
    scan_bc.ScanBCGradients(xbc=given["xbc"], **steps, states=states, dstates=dstates, dy=dy, parts=parts)
    scan_bc.ScanSumGroups(parts=parts, dxbc=dxbc)
    gradients["a_log"], gradients["d"] = a_parts.sum((0, 1)), d_parts.sum((0, 1))
    gradients["initial"] = dstates[:, 0]
    assert not drows[:, :, 0].any()  # not a step's column
    for name, gradient in gradients.items():
        direction = rng.standard_normal(gradient.shape)
        ends = [
            (_forward(**(given | {name: given[name] + s * EPS * direction}))["y"] * dy).sum() for s in (1, -1)
        ]
        expected = (ends[0] - ends[1]) / (2 * EPS)
        np.testing.assert_allclose((gradient * direction).sum(), expected, rtol=1e-7, err_msg=name)
