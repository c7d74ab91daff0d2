"""Batch normalisation, over a batch or over time. Kernels: kernels/batch_norm.cl.

x, y, dz, dx are [batch, ...] of n values a sample; mean, variance, count, gamma, beta, their gradients
and scale = 1 / sqrt(variance + eps) have n values, sums has 2 n.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def batch_statistics(
    x: DeviceArray,
    mean: DeviceArray,
    scale: DeviceArray,
    running_mean: DeviceArray,
    running_variance: DeviceArray,
    count: DeviceArray,
    *,
    batch_size: int,
    eps: float,
) -> None:
    """Write mean and scale of a batch of two or more rows, and move the running statistics by it."""
    x.device.kernel("BatchStatistics")(
        x=_rows(x),
        mean=mean,
        scale=scale,
        running_mean=running_mean,
        running_variance=running_variance,
        count=count,
        batch_size=batch_size,
        eps=eps,
    )


def running_statistics(
    x: DeviceArray,
    mean: DeviceArray,
    variance: DeviceArray,
    count: DeviceArray,
    scale: DeviceArray,
    *,
    batch_size: int,
    eps: float,
) -> None:
    """Move mean and variance by one sample of weight 1 / min(count + 1, batch_size), and write scale."""
    x.device.kernel("RunningStatistics")(
        x=x.view(x.size),
        mean=mean,
        variance=variance,
        count=count,
        scale=scale,
        batch_size=batch_size,
        eps=eps,
    )


def known_statistics(variance: DeviceArray, scale: DeviceArray, *, eps: float) -> None:
    """Write scale = 1 / sqrt(variance + eps)."""
    scale.device.kernel("BatchScale")(variance=variance, scale=scale, eps=eps)


def forward(
    x: DeviceArray,
    mean: DeviceArray,
    scale: DeviceArray,
    gamma: DeviceArray,
    beta: DeviceArray,
    y: DeviceArray,
    *,
    activation: int,
) -> None:
    """y = act(gamma * (x - mean) * scale + beta)."""
    y.device.kernel("BatchFeedForward")(
        x=_rows(x), mean=mean, scale=scale, gamma=gamma, beta=beta, y=_rows(y), activation=activation
    )


def gradient_sums(
    x: DeviceArray, dz: DeviceArray, mean: DeviceArray, scale: DeviceArray, sums: DeviceArray
) -> None:
    """sums [2, n] = sum of dz and of dz * nx over the batch, for the gradients below."""
    x.device.kernel("BatchGradientSums")(x=_rows(x), dz=_rows(dz), mean=mean, scale=scale, sums=sums)


def backward_input(
    x: DeviceArray,
    dz: DeviceArray,
    mean: DeviceArray,
    scale: DeviceArray,
    gamma: DeviceArray,
    sums: DeviceArray,
    dx: DeviceArray,
    *,
    frozen: bool,
) -> None:
    """dx = dL/dx from dz = dL/d(pre-activation). ``frozen``: statistics that do not depend on x."""
    dx.device.kernel("CalcHiddenGradientBatch")(
        x=_rows(x),
        dz=_rows(dz),
        mean=mean,
        scale=scale,
        gamma=gamma,
        sums=sums,
        dx=_rows(dx),
        share=0.0 if frozen else 1.0 / x.shape[0],
    )


def backward_input_running(
    x: DeviceArray,
    dz: DeviceArray,
    mean: DeviceArray,
    scale: DeviceArray,
    gamma: DeviceArray,
    count: DeviceArray,
    dx: DeviceArray,
) -> None:
    """dx of one sample whose statistics come from ``running_statistics``."""
    n = dx.size
    dx.device.kernel("CalcHiddenGradientRunning")(
        x=x.view(n), dz=dz.view(n), mean=mean, scale=scale, gamma=gamma, count=count, dx=dx.view(n)
    )


def backward_weights(sums: DeviceArray, dgamma: DeviceArray, dbeta: DeviceArray) -> None:
    """Add the gradients of gamma and beta, from ``gradient_sums``."""
    sums.device.kernel("WeightGradientBatch")(sums=sums, dgamma=dgamma, dbeta=dbeta)


def _rows(array: DeviceArray) -> DeviceArray:
    batch = array.shape[0]
    return array.view(batch, array.size // batch)
