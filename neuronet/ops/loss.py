"""Losses: value and gradient in one launch. Kernels: kernels/loss.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.reference.loss import HUBER, MAE, MSE

KINDS = {"mse": MSE, "mae": MAE, "huber": HUBER}


def elementwise(
    y: DeviceArray,
    target: DeviceArray,
    dy: DeviceArray,
    loss: DeviceArray,
    hyper: DeviceArray,
    step: DeviceArray,
    *,
    kind: str,
    delta: float = 1.0,
) -> None:
    """Mean squared, absolute or Huber loss over [batch, ...]; adds to loss[0], writes loss[1] and dy."""
    batch = y.shape[0]
    n = y.size // batch
    y.device.kernel("CalcOutputGradient")(
        y=y.view(batch, n),
        target=target.view(batch, n),
        dy=dy.view(batch, n),
        loss=loss,
        hyper=hyper,
        step=step,
        kind=KINDS[kind],
        delta=float(delta),
    )


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
