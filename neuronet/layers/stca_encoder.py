"""CNeuronSTCAEncoder: scenarios of the newest bars ask a long history, layer by layer. Inner layers, ring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import Shape
from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL, layer
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.last_units import CNeuronLastUnitsOCL
from neuronet.layers.layer_norm import CNeuronLayerNormOCL
from neuronet.layers.parts import check_map, check_positive, rows, second_input, unit_dense
from neuronet.layers.port import CNeuronPort
from neuronet.layers.stca import AGE, CNeuronSTCAOCL
from neuronet.layers.swi_glu import CNeuronSwiGLUOCL
from neuronet.ops import concatenate, elementwise, ring


@layer
class CNeuronSTCAEncoder(CNeuronBaseOCL):
    """Stacked target-to-history cross attention (STCA, arXiv:2511.06077), linear in the history.

    input   [batch, units, window], the history, oldest unit first; 2 or more numbers a unit
    output  [batch, scenarios, window]

    Targets x are made from the last ``recent`` units by a dense layer, one for each scenario. Where they are
    ``given`` they are the last ``scenarios`` units themselves, and the units before these the history, as the
    candidate of the paper is an item like those of the history. Layer i of
    ``layers`` reads its own view of the raw history, norm(SwiGLU(history)), with the questions
    norm(SwiGLU([x]W)) of the first, norm(SwiGLU([o1 ... x]W)) of the others, where oj is what layer j found.
    The output is SwiGLU([o1 ... oM x]W), without a norm. The concatenations are the shortcuts.

    heads, dimension, recency, sharpen  of each attention, see CNeuronSTCAOCL
    hidden     numbers inside each SwiGLU
    recompute  keep one layer's SwiGLU of the history, and make it again for the gradients: less memory,
               for a third more work on the history
    memory     rows that ``stream`` keeps; 0: this one does not stream
    given      the scenarios stand behind the history; ``recent`` is of no use then
    """

    scenarios: int
    heads: int
    dimension: int
    hidden: int
    layers: int = 2
    recent: int = 16
    recency: bool = True
    sharpen: float = 1.0
    recompute: bool = False
    memory: int = 0
    given: bool = False

    @property
    def behind(self) -> int:
        """Units of the input that are no history."""
        return self.scenarios if self.given else 0

    @property
    def step_units(self) -> int:
        """Units of the input of ``stream``."""
        return 1 + self.scenarios if self.given else self.recent

    def output_shape(self, input_shape: Shape) -> Shape:
        where = "CNeuronSTCAEncoder"
        units, window = check_map(where, input_shape)
        sizes = {
            name: getattr(self, name) for name in ("scenarios", "heads", "dimension", "hidden", "layers")
        }
        check_positive(where, **sizes, recent=self.recent)
        if self.given and units <= self.scenarios:
            what = f"{units} units are no history and scenarios={self.scenarios}"
            raise ShapeError(what, where=where, fix=f"give {self.scenarios + 1} units or more")
        if not self.given and units < self.recent:
            what = f"recent={self.recent} is longer than the history, {units} units"
            raise ShapeError(what, where=where, fix=f"choose recent <= {units}")
        if self.memory < 0:
            raise SpecError(f"memory={self.memory} is negative", where=where, fix="choose 0 or more")
        return (self.scenarios, window)

    def allocate(self, input_shape: Shape, rng: np.random.Generator) -> None:
        units, window = input_shape
        shape = (self.scenarios, window)
        newest = CNeuronLastUnitsOCL(units_count=self.behind or self.recent)
        self.newest = self.inner("newest", newest, input_shape)
        self.targets: CNeuronBaseOCL = self.newest
        if not self.given:
            made = CNeuronDenseOCL(neurons=self.scenarios * window)
            self.targets = self.inner("targets", made, (self.recent, window))
        self.port = self.inner("port", CNeuronPort(), input_shape)
        to_read = (1, window) if self.memory else input_shape  # a stream reads the unit that comes
        self.read: list[CNeuronSwiGLUOCL] = []  # of the history, and its norms
        self.history: list[CNeuronLayerNormOCL] = []
        self.mix: list[CNeuronBaseOCL] = []  # of the questions: linear, SwiGLU, norm
        self.ask: list[CNeuronSwiGLUOCL] = []
        self.questions: list[CNeuronLayerNormOCL] = []
        self.found: list[CNeuronSTCAOCL] = []
        self.joined = [self.inner("joined0", CNeuronPort(output=True), shape)]  # [x], [o1 x], [o2 o1 x] ...
        self.targets.SetOutput(self.joined[0].output)
        self.targets.SetGradient(self.joined[0].gradient)
        self.rest: list[CNeuronPort] = []
        seen = (self.memory or units, window)
        for i in range(self.layers):
            swi_glu = CNeuronSwiGLUOCL(hidden=self.hidden)
            self.read.append(self.inner(f"read{i}", swi_glu, to_read))
            self.history.append(self.inner(f"history{i}", CNeuronLayerNormOCL(), to_read))
            wide = (self.scenarios, (i + 1) * window)
            self.mix.append(self.inner(f"mix{i}", unit_dense(wide[1], window), wide))
            self.ask.append(self.inner(f"ask{i}", CNeuronSwiGLUOCL(hidden=self.hidden), shape))
            self.questions.append(self.inner(f"question{i}", CNeuronLayerNormOCL(), shape))
            attention = CNeuronSTCAOCL(
                heads=self.heads, dimension=self.dimension, recency=self.recency, sharpen=self.sharpen
            )
            with second_input(self, seen):
                self.found.append(self.inner(f"found{i}", attention, shape))
            self.joined.append(
                self.inner(f"joined{i + 1}", CNeuronPort(output=True), (self.scenarios, (i + 2) * window))
            )
            self.rest.append(self.inner(f"rest{i}", CNeuronPort(), wide))
        wide = (self.scenarios, (self.layers + 1) * window)
        self.last_mix = self.inner("last_mix", unit_dense(wide[1], window), wide)
        self.last = self.inner("last", CNeuronSwiGLUOCL(hidden=self.hidden), shape)
        self.end_with(self.last)
        if self.recompute:
            self._share()
        if self.given and not self.memory:
            self.see_newest(units - self.behind)
        if self.memory:
            self._allocate_memory(window)

    def _share(self) -> None:
        """All layers use the SwiGLU buffers of the first, and the gradient of its norm."""
        for read, norm in zip(self.read[1:], self.history[1:], strict=True):
            read.share(self.read[0])
            read.SetOutput(self.read[0].output)
            read.SetGradient(self.read[0].gradient)
            norm.SetGradient(self.history[0].gradient)

    def see_newest(self, units: int) -> None:
        """Let questions see the newest ``units`` of the history only, until said otherwise."""
        for attention in self.found:
            end = attention.units - self.behind
            limits = [end - units, end]
            attention.see(np.broadcast_to(np.array(limits, np.int32), (1, self.scenarios, 2)))

    # --- a whole history ---------------------------------------------------------------

    def feedForward(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self._make_targets(prev)
        for i in range(self.layers):
            self.read[i].feedForward(prev)
            self.history[i].feedForward(self.read[i])
            self._ask(i, self.history[i])
        self._answer()

    def _make_targets(self, prev: CNeuronBaseOCL) -> None:
        self.newest.feedForward(prev)
        if not self.given:
            self.targets.feedForward(self.newest)

    def _ask(self, i: int, history: CNeuronBaseOCL) -> None:
        self.mix[i].feedForward(self.joined[i])
        self.ask[i].feedForward(self.mix[i])
        self.questions[i].feedForward(self.ask[i])
        self.found[i].feedForward(self.questions[i], history)
        before, after = self.joined[i], self.joined[i + 1]
        concatenate.forward(rows(self.found[i].output), rows(before.output), rows(after.output))

    def _answer(self) -> None:
        self.last_mix.feedForward(self.joined[-1])
        self.last.feedForward(self.last_mix)

    def calcInputGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        self.inner_gradients(self.last, self.last_mix)
        self.inner_gradients(self.last_mix, self.joined[-1])
        self.port.output = prev.output
        for i in reversed(range(self.layers)):
            split = rows(self.joined[i + 1].gradient)
            concatenate.backward(split, rows(self.found[i].gradient), rows(self.rest[i].gradient))
            if self.recompute and i + 1 < self.layers:
                self.read[i].feedForward(prev)
            self.inner_gradients(self.found[i], self.questions[i], self.history[i])
            self._history_gradients(i, prev)
            self.inner_gradients(self.questions[i], self.ask[i])
            self.inner_gradients(self.ask[i], self.mix[i])
            self.inner_gradients(self.mix[i], self.joined[i])
            before = self.joined[i].gradient
            elementwise.add(before, self.rest[i].gradient, before)
        if not self.given:
            self.inner_gradients(self.targets, self.newest)
        if prev.needs_gradient:
            self.newest.calcInputGradients(self.port)
            elementwise.add(prev.gradient, self.port.gradient, prev.gradient)

    def _history_gradients(self, i: int, prev: CNeuronBaseOCL) -> None:
        """From the gradient of the rows that layer i read to that of the history, added up over layers."""
        self.inner_gradients(self.history[i], self.read[i])
        first = i + 1 == self.layers
        self.inner_gradients(self.read[i], prev if first or not prev.needs_gradient else self.port)
        if prev.needs_gradient and not first:
            elementwise.add(prev.gradient, self.port.gradient, prev.gradient)
        if self.recompute:  # the next layer takes the buffers that this one's weights need
            self.inner_weights(self.history[i], self.read[i])
            self.inner_weights(self.read[i], prev)

    def calcWeightGradients(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        if not self.given:
            self.inner_weights(self.targets, self.newest)
        for i in range(self.layers):
            if not self.recompute:
                self.inner_weights(self.read[i], prev)
                self.inner_weights(self.history[i], self.read[i])
            self.inner_weights(self.mix[i], self.joined[i])
            self.inner_weights(self.ask[i], self.mix[i])
            self.inner_weights(self.questions[i], self.ask[i])
            self.inner_weights(self.found[i], self.questions[i], self.history[i])
        self.inner_weights(self.last_mix, self.joined[-1])
        self.inner_weights(self.last, self.last_mix)

    # --- one bar at a time ---------------------------------------------------------------

    def _allocate_memory(self, window: int) -> None:
        self.rows_kept = [
            self.inner(f"memory{i}", CNeuronPort(output=True), (self.memory, window))
            for i in range(self.layers)
        ]
        self.one = self.inner("one", CNeuronPort(output=True), (1, window))
        self.no_ages = self.batch_array("no_ages", (self.memory,))
        self.count = self.device.array((1,), np.int32, name=f"{self.where}.count")
        self.Clear()

    def Clear(self) -> None:
        """Forget what ``stream`` has seen."""
        if self.memory:
            self.count.write([0])

    def stream(self, prev: CNeuronBaseOCL, second: CNeuronBaseOCL | None = None) -> None:
        """The answer after one more unit, the last of the ``recent`` in prev; the oldest row goes.

        With given scenarios prev is that unit, and the scenarios behind it.
        """
        if not self.memory:
            raise SpecError("memory=0", where=self.where, fix="declare it with the rows to keep")
        self._make_targets(prev)
        batch, window = self.output.shape[0], self.output.shape[2]
        samples, one = (rows(x, x.size // batch) for x in (prev.output, self.one.output))
        concatenate.backward_one(samples, one, offset=(self.step_units - self.behind - 1) * window)
        for i in range(self.layers):
            self.read[i].feedForward(self.one)
            self.history[i].feedForward(self.read[i])
            ring.append(self.history[i].output, self.count, self.rows_kept[i].output)
        for attention in self.found:
            ages = attention.ages if self.recency else self.no_ages
            ring.seen(self.count, attention.limits, ages, step=AGE)
        ring.advance(self.count)
        for i in range(self.layers):
            self._ask(i, self.rows_kept[i])
        self._answer()

    def remember(self, other: CNeuronSTCAEncoder) -> None:
        """Take over the rows that ``other``, with a whole history, has read in its last pass, batch 1."""
        for kept, read in zip(self.rows_kept, other.history, strict=True):
            have, window = read.output.shape[1] - other.behind, read.output.shape[2]
            if have > self.memory:
                what = f"{have} rows do not fit into memory={self.memory}"
                raise ShapeError(what, where=self.where, fix="declare it with as many rows")
            shape = (1, have, window)
            elementwise.copy(read.output.part(0, shape), kept.output.part(0, shape))
        ages = -AGE * np.arange(self.memory)
        for attention in self.found:
            if attention.recency:
                attention.ages.write(np.broadcast_to(ages, attention.ages.shape))
        self.count.write([have])

    # --- what it looked at -------------------------------------------------------------

    def attention(self) -> NDArray[np.float64]:
        """Weights of the units in the last pass, [layers, batch, scenarios, heads, units]."""
        found = np.stack([a.attention(h) for a, h in zip(self.found, self.history, strict=True)])
        return found[..., : found.shape[-1] - self.behind]
