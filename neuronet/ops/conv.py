"""One-dimensional convolution without padding, its own filters per variable. Kernels: kernels/conv.cl.

Shapes: x [batch, variables, length], w [variables, window_out, window], b [variables, window_out],
y and dz [batch, variables, units, window_out], with units = (length - window) // step + 1.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError
from neuronet.ops import dense
from neuronet.ops.forms import cpu_form, form_for


def output_units(length: int, window: int, step: int) -> int:
    """How many windows of ``window`` inputs, ``step`` apart, fit into ``length`` inputs."""
    return (length - window) // step + 1


def forward(
    x: DeviceArray, w: DeviceArray, b: DeviceArray, y: DeviceArray, *, step: int, activation: int
) -> None:
    """y = act(b + sum over the window of x * w)."""
    _check(x, w, y, step)
    if _is_dense(x, w, y, step):
        dense.forward(_rows(x, w), _matrix(w), b.view(b.size), _units(y), activation=activation)
    else:
        y.device.kernel(f"FeedForwardConv{form_for(y.device)}")(
            x=x, w=w, b=b, y=y, step=step, activation=activation
        )


def backward_input(dz: DeviceArray, w: DeviceArray, dx: DeviceArray, *, step: int) -> None:
    """dx = dL/dx from dz = dL/dz; overwritten, with 0 where no window reaches."""
    _check(dx, w, dz, step)
    if _is_dense(dx, w, dz, step):
        dense.backward_input(_units(dz), _matrix(w), _rows(dx, w))
    else:
        form = cpu_form(dx.device)
        dx.device.kernel(f"CalcHiddenGradientConv{form}")(dz=dz, w=w, dx=dx, step=step)


def backward_weights(x: DeviceArray, dz: DeviceArray, dw: DeviceArray, db: DeviceArray, *, step: int) -> None:
    """Add dL/dw to dw and dL/db to db."""
    _check(x, dw, dz, step)
    if _is_dense(x, dw, dz, step):
        dense.backward_weights(_rows(x, dw), _units(dz), _matrix(dw), db.view(db.size))
    else:
        dw.device.kernel(f"WeightGradientConv{form_for(dw.device)}")(x=x, dz=dz, dw=dw, db=db, step=step)


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
    *,
    step: int,
) -> None:
    """One Adam step for w and b from the gradients of ``backward_weights``, which are not stored.

    ``hyper`` [9]: see common.cl. Gives the same bits as backward_weights and ops.adam.step.
    """
    _check(x, w, dz, step)
    if _is_dense(x, w, dz, step):
        matrices = (_matrix(array) for array in (w, w_m, w_v))
        vectors = (array.view(array.size) for array in (b, b_m, b_v))
        (w, w_m, w_v), (b, b_m, b_v) = matrices, vectors
        dense.update(_rows(x, w), _units(dz), w, b, w_m, w_v, b_m, b_v, hyper)
    else:
        w.device.kernel(f"UpdateWeightsConvAdam{form_for(w.device)}")(
            x=x, dz=dz, w=w, b=b, w_m=w_m, w_v=w_v, b_m=b_m, b_v=b_v, hyper=hyper, step=step
        )


def _check(x: DeviceArray, w: DeviceArray, y: DeviceArray, step: int) -> None:
    length, window, units = x.shape[-1], w.shape[-1], y.shape[-2]
    if step < 1 or not 1 <= window <= length or units != output_units(length, window, step):
        raise ShapeError(
            f"{units} units do not go with length {length}, window {window}, step {step}",
            where="ops/conv.py",
            fix="choose 1 <= window <= length, step >= 1 and units = (length - window) // step + 1",
        )


def _is_dense(x: DeviceArray, w: DeviceArray, y: DeviceArray, step: int) -> bool:
    """Whether windows lie side by side without a rest, so that they are the rows of a matrix."""
    return x.shape[1] == 1 and w.shape[-1] == step and x.shape[-1] == y.shape[-2] * step


def _rows(x: DeviceArray, w: DeviceArray) -> DeviceArray:
    window = w.shape[-1]
    return x.view(x.size // window, window)


def _matrix(w: DeviceArray) -> DeviceArray:
    return w.view(w.shape[-2], w.shape[-1])


def _units(y: DeviceArray) -> DeviceArray:
    return y.view(y.size // y.shape[-1], y.shape[-1])
