"""Batch normalisation, over a batch or over time. Kernels: kernels/batch_norm.cl.

x, y, dz, dx are [batch, ...] of n values a sample; mean, variance, count, gamma, beta and their
gradients have n values, sums has 2 n. ``eps`` is added to the variance.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def batch_statistics(
    x: DeviceArray,
    mean: DeviceArray,
    variance: DeviceArray,
    running_mean: DeviceArray,
    running_variance: DeviceArray,
    count: DeviceArray,
    *,
    batch_size: int,
) -> None:
    """Write mean and biased variance of two or more rows, and move the running ones by them."""
    x.device.kernel("BatchStatistics")(
        x=_rows(x),
        mean=mean,
        variance=variance,
        running_mean=running_mean,
        running_variance=running_variance,
        count=count,
        batch_size=batch_size,
    )


def running_statistics(
    x: DeviceArray, mean: DeviceArray, variance: DeviceArray, count: DeviceArray, *, batch_size: int
) -> None:
    """Move mean and variance by one sample, of weight 1 / min(count + 1, batch_size): NeuroNet's form."""
    x.device.kernel("RunningStatistics")(
        x=x.view(x.size), mean=mean, variance=variance, count=count, batch_size=batch_size
    )


def forward(
    x: DeviceArray,
    mean: DeviceArray,
    variance: DeviceArray,
    gamma: DeviceArray,
    beta: DeviceArray,
    y: DeviceArray,
    *,
    eps: float,
    activation: int,
) -> None:
    """y = act(gamma * (x - mean) / sqrt(variance + eps) + beta)."""
    y.device.kernel("BatchFeedForward")(
        x=_rows(x),
        mean=mean,
        variance=variance,
        gamma=gamma,
        beta=beta,
        y=_rows(y),
        eps=eps,
        activation=activation,
    )


def gradient_sums(
    x: DeviceArray,
    dz: DeviceArray,
    mean: DeviceArray,
    variance: DeviceArray,
    sums: DeviceArray,
    *,
    eps: float,
) -> None:
    """sums [2, n] = sum of dz and of dz * nx over the batch, for the gradients below."""
    x.device.kernel("BatchGradientSums")(
        x=_rows(x), dz=_rows(dz), mean=mean, variance=variance, sums=sums, eps=eps
    )


def backward_input(
    x: DeviceArray,
    dz: DeviceArray,
    mean: DeviceArray,
    variance: DeviceArray,
    gamma: DeviceArray,
    sums: DeviceArray,
    dx: DeviceArray,
    *,
    eps: float,
    frozen: bool,
) -> None:
    """dx = dL/dx from dz = dL/d(pre-activation). ``frozen``: statistics that do not depend on x."""
    dx.device.kernel("CalcHiddenGradientBatch")(
        x=_rows(x),
        dz=_rows(dz),
        mean=mean,
        variance=variance,
        gamma=gamma,
        sums=sums,
        dx=_rows(dx),
        eps=eps,
        share=0.0 if frozen else 1.0 / x.shape[0],
    )


def backward_input_running(
    x: DeviceArray,
    dz: DeviceArray,
    mean: DeviceArray,
    variance: DeviceArray,
    gamma: DeviceArray,
    count: DeviceArray,
    dx: DeviceArray,
    *,
    eps: float,
) -> None:
    """dx of one sample whose statistics come from ``running_statistics``."""
    n = dx.size
    dx.device.kernel("CalcHiddenGradientRunning")(
        x=x.view(n),
        dz=dz.view(n),
        mean=mean,
        variance=variance,
        gamma=gamma,
        count=count,
        dx=dx.view(n),
        eps=eps,
    )


def backward_weights(sums: DeviceArray, dgamma: DeviceArray, dbeta: DeviceArray) -> None:
    """Add the gradients of gamma and beta, from ``gradient_sums``."""
    sums.device.kernel("WeightGradientBatch")(sums=sums, dgamma=dgamma, dbeta=dbeta)


def _rows(array: DeviceArray) -> DeviceArray:
    batch = array.shape[0]
    return array.view(batch, array.size // batch)
