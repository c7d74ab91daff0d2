"""States of a selective scan in front of every chunk, and their gradients. Kernels: kernels/scan_states.cl.

Shapes, in all ops of the scan: xbc [batch, length, heads * head_dim + 2 state], a row is x | B | C; delta
and decay [batch, length, heads]; states and dstates [batch, chunks + 1, heads, state, head_dim], where
``chunks(length)`` counts stretches of 64 steps; span [batch, chunks, heads]; y and dy
[batch, length, heads, head_dim]; a_log and d [heads].
"""

from __future__ import annotations

from neuronet.device.array import DeviceArray
from neuronet.ops.forms import form_for

CHUNK = 64  # as in the kernels


def chunks(length: int) -> int:
    """How many stretches of at most 64 steps cover ``length`` steps."""
    return -(-length // CHUNK)


def forward(
    xbc: DeviceArray,
    delta: DeviceArray,
    decay: DeviceArray,
    initial: DeviceArray,
    states: DeviceArray,
    span: DeviceArray,
) -> None:
    """h in front of every chunk and behind the last, with h[t] = decay[t] h[t-1] + delta[t] B[t] x[t]'.

    ``initial`` [batch, heads, state, head_dim] is h in front of the first step. ``span`` gets the decay
    over each chunk.
    """
    kernel = states.device.kernel
    kernel(f"ScanChunkStates{form_for(states.device)}")(
        xbc=xbc, delta=delta, decay=decay, states=states, span=span
    )
    kernel("ScanCarry")(initial=_cells(initial), span=span, states=_cells(states))


def backward(
    xbc: DeviceArray, decay: DeviceArray, span: DeviceArray, dy: DeviceArray, dstates: DeviceArray
) -> None:
    """dstates = dL/dstates from dy = dL/dy; the last entry, behind which nothing is, gets 0."""
    kernel = dstates.device.kernel
    kernel(f"ScanChunkGradients{form_for(dstates.device)}")(xbc=xbc, decay=decay, dy=dy, dstates=dstates)
    kernel("ScanCarryBack")(span=span, dstates=_cells(dstates))


def final(states: DeviceArray, out: DeviceArray) -> None:
    """out [batch, heads, state, head_dim] = h behind the last step, where another call may begin."""
    out.device.kernel("ScanFinal")(states=states, final=out)


def _cells(states: DeviceArray) -> DeviceArray:
    """[..., state, head_dim] as [..., cells]."""
    return states.view(*states.shape[:-2], states.shape[-2] * states.shape[-1])
