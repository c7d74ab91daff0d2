"""The gradient of a relative-position bias, and its Adam step. Kernels: kernels/rpb.cl.

w, its gradient dw and its moments have the same shape; dscore is [..., *w.shape], whose leading axes share
the bias.
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for


def backward(dscore: DeviceArray, dw: DeviceArray) -> None:
    """dw += the sum of dscore over its leading axes."""
    dw.device.kernel(f"RPBGradient{form_for(dw.device)}")(dscore=_rows(dscore, dw), dw=dw.view(dw.size))


def update(dscore: DeviceArray, w: DeviceArray, m: DeviceArray, v: DeviceArray, hyper: DeviceArray) -> None:
    """One Adam step for w from the gradient of ``backward``, which is not stored.

    ``hyper`` [9]: see common.cl. Gives the same bits as ``backward`` and ops.adam.step.
    """
    w.device.kernel(f"RPBUpdateAdam{form_for(w.device)}")(
        dscore=_rows(dscore, w), w=w.view(w.size), m=m.view(m.size), v=v.view(v.size), hyper=hyper
    )


def _rows(dscore: DeviceArray, w: DeviceArray) -> DeviceArray:
    return dscore.view(dscore.size // w.size, w.size)
