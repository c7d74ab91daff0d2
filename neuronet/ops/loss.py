"""Losses: value and gradient in one launch. Kernels: kernels/loss.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import cpu_form
from neuronet.reference.loss import HUBER, MAE, MSE

MANY, STRETCH, MOST_PARTS = 2**15, 2**12, 512  # values: from here on in parts, of so many or more; parts
KINDS = {"mse": MSE, "mae": MAE, "huber": HUBER}


def parts(values: int) -> int:
    """Into how many stretches ``elementwise`` cuts so many values; 1: a single launch does it all."""
    return 1 if values < MANY else min(MOST_PARTS, -(-values // STRETCH))


def elementwise(
    y: DeviceArray,
    target: DeviceArray,
    dy: DeviceArray,
    loss: DeviceArray,
    hyper: DeviceArray,
    step: DeviceArray,
    sums: DeviceArray | None = None,
    *,
    kind: str,
    delta: float = 1.0,
) -> None:
    """Mean squared, absolute or Huber loss over [batch, ...]; adds to loss[0], writes loss[1] and dy.

    sums  [parts(values)] scratch or more, where that is more than 1
    """
    batch, kernel = y.shape[0], y.device.kernel
    counters = {"loss": loss, "hyper": hyper, "step": step}
    count = parts(y.size)
    if count == 1 or sums is None:
        n = y.size // batch
        arrays = {"y": y.view(batch, n), "target": target.view(batch, n), "dy": dy.view(batch, n)}
        kernel("CalcOutputGradient")(**arrays, **counters, kind=KINDS[kind], delta=float(delta))
        return
    flat = {name: a.view(y.size) for name, a in (("y", y), ("target", target), ("dy", dy))}
    found = sums.rows(count)
    launch = kernel(f"OutputGradientParts{cpu_form(y.device)}")
    launch(**flat, sums=found, kind=KINDS[kind], delta=float(delta))
    kernel("FinishLoss")(sums=found, **counters, count=y.size, rows=batch)


def add_penalty(penalty: DeviceArray, loss: DeviceArray, hyper: DeviceArray, step: DeviceArray) -> None:
    """Add a layer's own term of the loss, ``penalty`` [batch]: its sum to loss[0], its mean to loss[1]."""
    penalty.device.kernel("AddPenalty")(penalty=penalty, loss=loss, hyper=hyper, step=step)


def quantile(
    y: DeviceArray,
    target: DeviceArray,
    levels: DeviceArray,
    dy: DeviceArray,
    loss: DeviceArray,
    hyper: DeviceArray,
    step: DeviceArray,
) -> None:
    """Pinball loss. y and dy [batch, ..., quantiles] with the levels fastest, target [batch, ...]."""
    batch, q = y.shape[0], levels.size
    n = y.size // (batch * q)
    y.device.kernel("CalcOutputGradientQuantile")(
        y=y.view(batch, n, q),
        target=target.view(batch, n),
        levels=levels,
        dy=dy.view(batch, n, q),
        loss=loss,
        hyper=hyper,
        step=step,
    )


def cross_entropy(
    y: DeviceArray,
    target: DeviceArray,
    dy: DeviceArray,
    loss: DeviceArray,
    hyper: DeviceArray,
    step: DeviceArray,
) -> None:
    """Cross entropy of softmax(y) [batch, classes] against int32 class numbers [batch]."""
    batch = y.shape[0]
    classes = y.size // batch
    y.device.kernel("CalcOutputGradientCrossEntropy")(
        y=y.view(batch, classes),
        target=target.view(batch),
        dy=dy.view(batch, classes),
        loss=loss,
        hyper=hyper,
        step=step,
    )


def policy(
    y: DeviceArray,
    target: DeviceArray,
    dy: DeviceArray,
    loss: DeviceArray,
    hyper: DeviceArray,
    step: DeviceArray,
) -> None:
    """Costs of turnover minus gains of the positions tanh(y) [batch], rows in the order of time.

    target [batch, 3]: return of holding 1, cost of changing the position by 1, and 1 where the row follows
    the one before it, else 0: a change into such a row costs nothing.
    """
    batch = y.shape[0]
    y.device.kernel("CalcOutputGradientPolicy")(
        y=y.view(batch), target=target.view(batch, 3), dy=dy.view(batch), loss=loss, hyper=hyper, step=step
    )


def action(
    y: DeviceArray,
    target: DeviceArray,
    dy: DeviceArray,
    loss: DeviceArray,
    hyper: DeviceArray,
    step: DeviceArray,
    *,
    weight: float = 1.0,
    delta: float = 1.0,
) -> None:
    """Cross entropy of y[:, :3] + weight * mean Huber loss of y[:, 3:], y [batch, 5].

    target [batch, 3]: the class 0, 1 or 2 as a float, and the two quantities.
    """
    batch = y.shape[0]
    y.device.kernel("CalcOutputGradientAction")(
        y=y.view(batch, 5),
        target=target.view(batch, 3),
        dy=dy.view(batch, 5),
        loss=loss,
        hyper=hyper,
        step=step,
        weight=float(weight),
        delta=float(delta),
    )
