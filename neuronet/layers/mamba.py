"""CNeuronMambaOCL: Mamba-2. Ops: selective_scan, scan_states, scan_gradient, causal_conv, gated_norm …"""

from __future__ import annotations

import math

import numpy as np

from neuronet.activations import Activation
from neuronet.device.array import DeviceArray, Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.port import CNeuronPort
from neuronet.ops import (
    causal_conv,
    gated_norm,
    row_sums,
    scan_bc,
    scan_gradient,
    scan_states,
    selective_scan,
)

EPS = 1e-5  # added to the mean square of each gated unit
STEPS = 1e-3, 0.1  # initial delta of a head, and
RATES = 1.0, 16.0  # initial -a: Dao & Gu's ranges
ROWS_PER_CHUNK, MOST_CHUNKS = 16, 512  # how the norm's weight gradient is cut


@layer
class CNeuronMambaOCL(CNeuronBaseOCL):
    """Mamba-2: a state for each head that forgets and takes in as the input says (arXiv:2405.21060).

    input, output  [batch, units, window], the units in the order of time

    in_project makes [z | x | B | C | delta] of each unit: x and the gate z of ``window_key`` values, B and C
    of ``state_size``, delta of ``heads``. A causal convolution of four units and SiLU go over x | B | C. Then
    for each head, with delta = softplus(...), a = -exp(a_log), h [state_size, window_key / heads] from 0:

        h[t] = exp(delta[t] a) h[t-1] + delta[t] B[t] x[t]'         y[t] = C[t]' h[t] + d x[t]

    Gated, y silu(z) / rms(y silu(z)) * norm_w, and out_project takes it back to ``window`` values. No output
    depends on a later unit. The scan runs in chunks of 64 units at once; only the states between them are
    kept for the backward pass, so memory grows linearly with the units.

    window_key  inner width, usually 2 * window (NeuroNet's name)
    heads       that share it; window_key / 64 is usual
    state_size  values that the state holds for each inner value

    ``stream`` goes on from the state that the last ``stream`` left; ``Clear`` forgets it. Weights do not
    depend on the number of units: a net with one unit runs bar by bar with the weights of one with many.
    Not NeuroNet's layer of this name, which has no scan: its recurrence is CNeuronSSMOCL.
    """

    window_key: int
    heads: int = 1
    state_size: int = 64

    def output_shape(self, input_shape: Shape) -> Shape:
        for name in ("window_key", "heads", "state_size"):
            if getattr(self, name) < 1:
                raise SpecError(
                    f"{name}={getattr(self, name)} is not positive",
                    where="CNeuronMambaOCL",
                    fix=f"choose {name} >= 1",
                )
        if self.window_key % self.heads:
            raise SpecError(
                f"window_key={self.window_key} does not divide into {self.heads} heads",
                where="CNeuronMambaOCL",
                fix="choose heads so that it divides window_key",
            )
        if len(input_shape) != 2:
            raise ShapeError(
                f"input {list(input_shape)} is not [units, window]",
                where="CNeuronMambaOCL",
                fix="put it where a sample has two axes",
            )
        return input_shape

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, window = input_shape
        inner, heads, state = self.window_key, self.heads, self.state_size
        channels = inner + 2 * state  # of x | B | C

        self.in_project = self._project("in_project", window, inner + channels + heads, units)
        delta = np.exp(rng.uniform(math.log(STEPS[0]), math.log(STEPS[1]), heads))
        self.in_project.b.initial[0, -heads:] = np.log(np.expm1(delta))  # softplus gives delta back
        bound = 1.0 / math.sqrt(causal_conv.TAPS + 1)
        self.conv_w = self.parameter("conv_w", rng.uniform(-bound, bound, (causal_conv.TAPS, channels)))
        self.conv_b = self.parameter("conv_b", rng.uniform(-bound, bound, channels))
        self.a_log = self.parameter("a_log", np.log(rng.uniform(*RATES, heads)))
        self.d = self.parameter("d", np.ones(heads))
        self.norm_w = self.parameter("norm_w", np.ones(inner))
        self.normed = self.inner("normed", CNeuronPort(output=True), (units, inner))
        self.out_project = self._project("out_project", inner, window, units)
        self.end_with(self.out_project)

        self._allocate_scan(units)

    def _allocate_scan(self, units: int) -> None:
        inner, heads, state = self.window_key, self.heads, self.state_size
        channels, head = inner + 2 * state, (heads, state, inner // heads)
        chunks, taps = scan_states.chunks(units), causal_conv.TAPS
        stretches = causal_conv.stretches(units)
        self.xbc = self.batch_array("xbc", (units, channels))
        self.dxbc = self.brief_array("dxbc", (units, channels))
        self.delta = self.batch_array("delta", (units, heads))
        self.decay = self.batch_array("decay", (units, heads))
        self.y = self.batch_array("y", (units, heads, inner // heads))
        self.dy = self.brief_array("dy", (units, heads, inner // heads))
        self.scale = self.batch_array("scale", (units,))
        self.boundaries = self.batch_array("boundaries", (chunks + 1, *head))
        self.dboundaries = self.brief_array("dboundaries", (chunks + 1, *head))
        self.spans = self.batch_array("spans", (chunks, heads))
        self.no_state = self.batch_array("no_state", head)
        self.no_tail = self.batch_array("no_tail", (taps - 1, channels))
        self.last_state = self.batch_array("last_state", head)
        self.last_tail = self.batch_array("last_tail", (taps - 1, channels))

        self.a_parts = self.brief_array("a_parts", (chunks, heads))
        self.d_parts = self.brief_array("d_parts", (chunks, heads))
        self.conv_w_parts = self.brief_array("conv_w_parts", (stretches, taps, channels))
        self.conv_b_parts = self.brief_array("conv_b_parts", (stretches, channels))
        groups = scan_bc.groups(self.device, heads)
        self.bc_parts = self.brief_array("bc_parts", (units, groups, 2 * state))
        norm_chunks = max(1, min(MOST_CHUNKS, self.batch * units // ROWS_PER_CHUNK))
        self.norm_parts = self.device.array((norm_chunks, inner), name=f"{self.where}.norm_parts")

    def _project(self, name: str, window: int, window_out: int, units: int) -> CNeuronConvOCL:
        """The same dense layer for every unit."""
        made = CNeuronConvOCL(window=window, step=window, window_out=window_out, activation=Activation.NONE)
        return self.inner(name, made, (units, window))

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self._run(prev, self.no_tail, self.no_state)

    def stream(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """``feedForward`` for units that follow those of the last call, sample by sample."""
        self._run(prev, self.last_tail, self.last_state)
        causal_conv.keep(self.in_project.output, self.last_tail, offset=self.window_key)
        scan_states.final(self.boundaries, self.last_state)

    def Clear(self) -> None:
        """Forget what ``stream`` has seen."""
        self._full["last_tail"].fill(0.0)
        self._full["last_state"].fill(0.0)

    def _run(self, prev: CNeuronBaseOCL, tail: DeviceArray, initial: DeviceArray) -> None:
        self.in_project.feedForward(prev)
        rows, xbc, delta, decay = self.in_project.output, self.xbc, self.delta, self.decay
        conv = self.conv_w.value, self.conv_b.value
        causal_conv.forward(rows, tail, *conv, xbc, offset=self.window_key)
        selective_scan.steps(rows, self.a_log.value, delta, decay)
        scan_states.forward(xbc, delta, decay, initial, self.boundaries, self.spans)
        selective_scan.forward(xbc, delta, decay, self.d.value, self.boundaries, self.y)
        gated_norm.forward(
            self._inner(self.y), rows, self.norm_w.value, self.scale, self.normed.output, eps=EPS
        )
        self.out_project.feedForward(self.normed)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        rows, drows = self.in_project.output, self.in_project.gradient
        xbc, delta, decay, dy, dxbc = self.xbc, self.delta, self.decay, self.dy, self.dxbc
        self.out_project.calcInputGradients(self.normed)
        gated_norm.backward(
            self._inner(self.y),
            rows,
            self.norm_w.value,
            self.scale,
            self.normed.gradient,
            self._inner(dy),
            drows,
            self.norm_parts,
        )
        scan_states.backward(xbc, decay, self.spans, dy, self.dboundaries)
        scan_gradient.backward(
            xbc,
            delta,
            decay,
            self.a_log.value,
            self.d.value,
            self.boundaries,
            self.dboundaries,
            self.y,
            dy,
            dxbc,
            drows,
            self.a_parts,
            self.d_parts,
        )
        selective_scan.steps_backward(delta, drows)
        scan_bc.backward(xbc, delta, decay, self.boundaries, self.dboundaries, dy, self.bc_parts, dxbc)
        causal_conv.backward(
            rows,
            self.no_tail,
            self.conv_w.value,
            self.conv_b.value,
            dxbc,
            drows,
            self.conv_w_parts,
            self.conv_b_parts,
            offset=self.window_key,
        )
        self.in_project.calcInputGradients(prev)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.in_project.calcWeightGradients(prev)
        row_sums.add(self.conv_w_parts, self.conv_w.gradient)
        row_sums.add(self.conv_b_parts, self.conv_b.gradient)
        row_sums.add(self.a_parts, self.a_log.gradient)
        row_sums.add(self.d_parts, self.d.gradient)
        row_sums.add(self.norm_parts, self.norm_w.gradient)
        self.out_project.calcWeightGradients(self.normed)

    def _inner(self, array: DeviceArray) -> DeviceArray:
        """[batch, units, heads, head_dim] as [batch, units, window_key]."""
        return array.view(*array.shape[:2], self.window_key)
