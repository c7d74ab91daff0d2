"""Attention of each unit to the units around it. Kernels: kernels/dot.cl.

Shapes: qkv and dqkv [batch, units, 3, heads, dimension], queries, keys and values of each unit; score and
dscore [batch, units, heads, width]; out and dout [batch, units, heads, dimension]; rpb [1, heads, width] for
all units or [units, heads, width]. Slot j is unit u + j - radius; width is 2 radius + 1, or radius + 1 to
look back only.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError
from neuronet.ops.forms import form_for


def slots(radius: int, causal: bool) -> int:
    """How many units one unit looks at, itself included."""
    return radius + 1 if causal else 2 * radius + 1


def forward(qkv: DeviceArray, rpb: DeviceArray, score: DeviceArray, out: DeviceArray, *, radius: int) -> None:
    """score = softmax of Q·K / sqrt(dimension) + rpb over the slots, and out = score·V."""
    units = qkv.shape[1]
    if rpb.shape[0] not in (1, units):
        raise ShapeError(
            f"rpb {list(rpb.shape)} is neither for all units nor for each of {units}", where="ops/dot.py"
        )
    _check(score, radius)
    out.device.kernel(f"DOTFeedForward{form_for(out.device)}")(
        qkv=qkv, rpb=rpb, score=score, out=out, radius=radius, scale=_scale(qkv)
    )


def backward(
    qkv: DeviceArray,
    score: DeviceArray,
    dout: DeviceArray,
    dscore: DeviceArray,
    dqkv: DeviceArray,
    *,
    radius: int,
) -> None:
    """dqkv = dL/dqkv from dout = dL/dout; dscore = dL/d(score before softmax), which rpb's gradient sums."""
    _check(score, radius)
    form = form_for(dqkv.device)
    given = {"qkv": qkv, "score": score, "dout": dout, "dscore": dscore, "dqkv": dqkv}
    dqkv.device.kernel(f"DOTScoreGradients{form}")(**given, radius=radius, scale=_scale(qkv))
    inside = "CPU" if form == "CPU" else ""
    dqkv.device.kernel(f"DOTInsideGradients{inside}")(**given, radius=radius, scale=_scale(qkv))


def _scale(qkv: DeviceArray) -> float:
    return float(qkv.shape[-1] ** -0.5)


def _check(score: DeviceArray, radius: int) -> None:
    width = score.shape[-1]
    if radius < 0 or width not in (radius + 1, 2 * radius + 1):
        raise ShapeError(
            f"{width} slots do not go with radius {radius}",
            where="ops/dot.py",
            fix="choose 2 * radius + 1 slots, or radius + 1 to look back only",
        )
