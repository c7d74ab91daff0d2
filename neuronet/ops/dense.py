"""The fully connected layer. Kernels: kernels/dense.cl, and conv.cl and matmul.cl where the maths is theirs.

A dense layer is a convolution whose one window is the whole input, and its hidden gradient is a product of
matrices: the CPU and GPU forms written for those serve it too.
"""

from __future__ import annotations

from typing import Any

from neuronet.device.array import DeviceArray
from neuronet.ops import matmul, matmul_gpu, split_weights
from neuronet.ops.forms import Form, form_for

SHORT, LESS_SHORT, ROWS = 32, 64, 256  # on a CPU lanes go across outputs for few inputs: FeedForwardConvCPU
SPLIT = 512  # rows from which on a GPU sums gradients of weights with split_weights
OUTGROWN = 2**19  # values of x and dz from which on a CPU does, as they outgrow its second-level cache
MANY = 2**17  # from this many results on, tiles of matmul_gpu keep a GPU busy


def forward(x: DeviceArray, w: DeviceArray, b: DeviceArray, y: DeviceArray, *, activation: int) -> None:
    """y = act(x·wᵀ + b).  x [batch, inputs], w [outputs, inputs], b [outputs], y [batch, outputs]."""
    form = form_for(y.device)
    inputs, many_rows = w.shape[-1], x.shape[0] >= ROWS
    few = inputs < SHORT or (many_rows and inputs <= LESS_SHORT)  # measured: up to 2.1 times as fast
    if form == "GPU" and y.size >= MANY:
        matmul_gpu.dense(x, w, b, y, activation=activation)
    elif form == "CPU" and few:
        arrays: dict[str, Any] = {"x": _one_window(x), "w": w.view(1, *w.shape), "b": b.view(1, b.size)}
        y.device.kernel("FeedForwardConvCPU")(
            **arrays, y=_one_unit(y), step=w.shape[-1], activation=activation
        )
    else:
        y.device.kernel(f"FeedForward{form}")(x=x, w=w, b=b, y=y, activation=activation)


def backward_input(dz: DeviceArray, w: DeviceArray, dx: DeviceArray) -> None:
    """dx = dz·w = dL/dx, overwritten, from dz = dL/dz [batch, outputs]."""
    form = form_for(dx.device)
    if form == "CPU" or (form == "GPU" and dx.size >= MANY):
        matmul.matmul(*(array.view(1, *array.shape) for array in (dz, w, dx)))
    else:
        dx.device.kernel("CalcHiddenGradient")(dz=dz, w=w, dx=dx)


def backward_weights(x: DeviceArray, dz: DeviceArray, dw: DeviceArray, db: DeviceArray) -> None:
    """Add dzᵀ·x = dL/dw to dw, and the sum of dz over the batch to db."""
    form = form_for(dw.device)
    if _is_split(x, dz, form):
        split_weights.backward(x, dz, dw, db)
    elif form:
        dw.device.kernel(f"WeightGradientConv{form}")(
            x=_one_window(x),
            dz=_one_unit(dz),
            dw=dw.view(1, *dw.shape),
            db=db.view(1, db.size),
            step=x.shape[-1],
        )
    else:
        dw.device.kernel("WeightGradient")(x=x, dz=dz, dw=dw, db=db)


def update(
    x: DeviceArray,
    dz: DeviceArray,
    w: DeviceArray,
    b: DeviceArray,
    w_m: DeviceArray,
    w_v: DeviceArray,
    b_m: DeviceArray,
    b_v: DeviceArray,
    hyper: DeviceArray,
) -> None:
    """One Adam step for w and b from the gradients of ``backward_weights``, which are not stored.

    ``hyper`` [9]: see common.cl. Gives the same bits as backward_weights and ops.adam.step.
    """
    form = form_for(w.device)
    if _is_split(x, dz, form):
        split_weights.update(x, dz, w, b, w_m, w_v, b_m, b_v, hyper)
    elif form:
        weights = {"w": w, "w_m": w_m, "w_v": w_v}
        biases = {"b": b, "b_m": b_m, "b_v": b_v}
        w.device.kernel(f"UpdateWeightsConvAdam{form}")(
            x=_one_window(x),
            dz=_one_unit(dz),
            **{name: array.view(1, *array.shape) for name, array in (weights | biases).items()},
            hyper=hyper,
            step=x.shape[-1],
        )
    else:
        w.device.kernel("UpdateWeightsAdam")(
            x=x, dz=dz, w=w, b=b, w_m=w_m, w_v=w_v, b_m=b_m, b_v=b_v, hyper=hyper
        )


def _is_split(x: DeviceArray, dz: DeviceArray, form: Form) -> bool:
    return bool(form) and x.shape[0] >= SPLIT and (form == "GPU" or x.size + dz.size >= OUTGROWN)


def _one_window(x: DeviceArray) -> DeviceArray:
    """[batch, inputs] as [batch, variables, length]."""
    return x.view(x.shape[0], 1, x.shape[1])


def _one_unit(y: DeviceArray) -> DeviceArray:
    """[batch, outputs] as [batch, variables, units, window_out]."""
    return y.view(y.shape[0], 1, 1, y.shape[1])
