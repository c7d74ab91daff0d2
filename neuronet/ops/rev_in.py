"""Reversible instance normalisation and its reverse. Kernels: kernels/rev_in.cl.

RevIN: x, y, dy, dx are [batch, units, window]; mean, deviation, dmean, ddeviation [batch, window];
gamma, beta and their gradients [window]; sums [batch, 2, window].
RevINDenorm: y, x, dx, dy are [batch, units, columns], column c belongs to feature ``feature`` + c.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray


def forward(
    x: DeviceArray,
    gamma: DeviceArray,
    beta: DeviceArray,
    mean: DeviceArray,
    deviation: DeviceArray,
    y: DeviceArray,
    *,
    eps: float,
) -> None:
    """y = gamma * (x - mean) / deviation + beta; mean and deviation over the units are written too."""
    y.device.kernel("RevInStatistics")(x=x, mean=mean, deviation=deviation, eps=eps)
    y.device.kernel("RevInNormalize")(x=x, mean=mean, deviation=deviation, gamma=gamma, beta=beta, y=y)


def gradient_sums(
    x: DeviceArray, dy: DeviceArray, mean: DeviceArray, deviation: DeviceArray, sums: DeviceArray
) -> None:
    """sums = sum of dy and of dy * nx over the units, for the two gradients below."""
    x.device.kernel("RevInGradientSums")(x=x, dy=dy, mean=mean, deviation=deviation, sums=sums)


def backward_input(
    x: DeviceArray,
    dy: DeviceArray,
    mean: DeviceArray,
    deviation: DeviceArray,
    gamma: DeviceArray,
    sums: DeviceArray,
    dmean: DeviceArray,
    ddeviation: DeviceArray,
    dx: DeviceArray,
) -> None:
    """dx = dL/dx from dy, and from the gradients of mean and deviation that their other users wrote."""
    dx.device.kernel("RevInNormalizeGradient")(
        x=x,
        dy=dy,
        mean=mean,
        deviation=deviation,
        gamma=gamma,
        sums=sums,
        dmean=dmean,
        ddeviation=ddeviation,
        dx=dx,
    )


def backward_weights(sums: DeviceArray, dgamma: DeviceArray, dbeta: DeviceArray) -> None:
    """Add the gradients of gamma and beta, from ``gradient_sums``."""
    sums.device.kernel("RevInWeightGradient")(sums=sums, dgamma=dgamma, dbeta=dbeta)


def denorm_forward(
    y: DeviceArray,
    mean: DeviceArray,
    deviation: DeviceArray,
    gamma: DeviceArray,
    beta: DeviceArray,
    x: DeviceArray,
    *,
    feature: int = 0,
) -> None:
    """x = (y - beta) / gamma * deviation + mean."""
    x.device.kernel("RevInFeedForward")(
        y=y, mean=mean, deviation=deviation, gamma=gamma, beta=beta, x=x, feature=feature
    )


def denorm_backward_input(
    dx: DeviceArray, deviation: DeviceArray, gamma: DeviceArray, dy: DeviceArray, *, feature: int = 0
) -> None:
    """dy = dL/dy from dx = dL/dx."""
    dx.device.kernel("RevInHiddenGradient")(dx=dx, deviation=deviation, gamma=gamma, dy=dy, feature=feature)


def denorm_backward_statistics(
    y: DeviceArray,
    dx: DeviceArray,
    gamma: DeviceArray,
    beta: DeviceArray,
    dmean: DeviceArray,
    ddeviation: DeviceArray,
    *,
    feature: int = 0,
) -> None:
    """dL/d(mean) and dL/d(deviation) of the forecast features; other columns stay as they are."""
    dx.device.kernel("RevInStatisticsGradient")(
        y=y, dx=dx, gamma=gamma, beta=beta, dmean=dmean, ddeviation=ddeviation, feature=feature
    )


def denorm_backward_weights(
    deviation: DeviceArray,
    gamma: DeviceArray,
    dmean: DeviceArray,
    ddeviation: DeviceArray,
    dgamma: DeviceArray,
    dbeta: DeviceArray,
    *,
    columns: int,
    feature: int = 0,
) -> None:
    """Add the gradients of gamma and beta, from ``denorm_backward_statistics``."""
    dgamma.device.kernel("RevInDenormWeightGradient")(
        deviation=deviation,
        gamma=gamma,
        dmean=dmean,
        ddeviation=ddeviation,
        dgamma=dgamma,
        dbeta=dbeta,
        columns=columns,
        feature=feature,
    )
