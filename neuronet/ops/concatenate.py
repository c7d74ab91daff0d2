"""Rows of two matrices side by side. Kernels: kernels/concatenate.cl."""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.errors import ShapeError
from neuronet.ops.forms import form_for

MANY_ROWS = 64


def forward(a: DeviceArray, b: DeviceArray, out: DeviceArray) -> None:
    """out [rows, n1 + n2] = [a | b] of a [rows, n1] and b [rows, n2]."""
    _check(out, a, b)
    out.device.kernel(f"ConcatenateBuffers{_form(out)}")(input1=a, input2=b, output=out)


def backward(dout: DeviceArray, da: DeviceArray, db: DeviceArray) -> None:
    """da [rows, n1] and db [rows, n2] = the two parts of dout [rows, n1 + n2]."""
    _check(dout, da, db)
    dout.device.kernel(f"DeconcatenateBuffers{_form(dout)}")(input=dout, output1=da, output2=db)


def backward_one(dout: DeviceArray, part: DeviceArray, *, offset: int) -> None:
    """part [rows, n] = columns offset ... offset + n - 1 of dout [rows, n1 + n2]."""
    if not 0 <= offset <= dout.shape[1] - part.shape[1]:
        raise ShapeError(f"{part!r} at column {offset} is not a part of {dout!r}", where="concatenate")
    dout.device.kernel("DeconcatenateOne")(input=dout, output=part, offset=offset)


def pad(part: DeviceArray, out: DeviceArray) -> None:
    """out [rows, n1 + n2] = [0 | part] of part [rows, n2]."""
    if part.shape[1] > out.shape[1]:
        raise ShapeError(f"{part!r} does not fit into {out!r}", where="concatenate")
    out.device.kernel(f"PadBuffer{_form(out)}")(input=part, output=out)


def _check(both: DeviceArray, a: DeviceArray, b: DeviceArray) -> None:
    if both.shape[1] != a.shape[1] + b.shape[1]:
        raise ShapeError(f"{a!r} and {b!r} side by side are not {both!r}", where="concatenate")


def _form(array: DeviceArray) -> str:
    """A CPU copies whole rows, if there are many; a GPU single values."""
    return "CPU" if form_for(array.device) == "CPU" and array.shape[0] >= MANY_ROWS else ""
