"""STCAStream: a net with an STCA encoder bar by bar, each bar read once instead of once a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.errors import ShapeError, SpecError
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.layer_norm import CNeuronLayerNormOCL
from neuronet.layers.stca_encoder import CNeuronSTCAEncoder
from neuronet.layers.swi_glu import CNeuronSwiGLUOCL
from neuronet.layers.ts_position_encoder import CNeuronTSPositionEncoder
from neuronet.models.base import check_finite
from neuronet.net import CNet

Array = NDArray[Any]


class STCAStream:
    """The answers of ``net`` to windows that move on by a bar, in evaluation mode, one row a bar.

        stream = STCAStream(net)                          # net answers for whole windows
        stream.start(rows, second)                        # [*output_shape] for the first window
        stream.append(row, second_of_the_row)             # for the window that ends a bar later

    Keeps the rows that the encoder has read of the last window, and weights as they were when it was made.
    Answers are those of whole windows to 1e-5: only sums have another order. SpecError when ``can_stream``
    says no. DataError for a number that is not finite, which would stay in sight as long as any bar;
    what is kept is then that of before, as it is when ``check``, called with the answer, raises.
    """

    def __init__(self, net: CNet) -> None:
        if not can_stream(net):
            raise SpecError(
                "does not answer bar by bar",
                where="STCAStream",
                fix="give a net with one CNeuronSTCAEncoder, layers for each bar alone before it, none that "
                "takes a second input behind it",
            )
        self.whole, encoder = net, encoder_of(net)
        self.history = net.input_shape[0] - encoder.behind
        spec = net.spec()
        for layer in spec["layers"]:
            if layer["class"] == type(encoder).__name__:
                layer |= {"memory": self.history, "recompute": False}
        spec |= {"batch": 1, "input_shape": [encoder.step_units, *net.input_shape[1:]], "builder": None}
        if net.second_shape is not None:
            spec["second_shape"] = [encoder.step_units, *net.second_shape[1:]]
        self.net = CNet.from_spec(spec).build(net.device)
        self.net.set_arrays({k: v for k, v in net.arrays().items() if not k.startswith("optimizer/")})
        self.net.TrainMode(False)
        # the bars of one step, oldest first; what lies behind them is given anew with each
        self._kept = encoder.step_units - encoder.behind
        self._newest: list[Array] = []

    def start(
        self, rows: Array, second: Array | None = None, *, check: Callable[[Array], object] | None = None
    ) -> Array:
        """The answer to a whole window [units, ...] and its second input, from which ``append`` goes on."""
        training, whole = self.whole.training, self.whole
        given = [rows] if second is None else [rows, second]
        for values, of in zip(given, ("", " of the second input"), strict=False):
            check_finite(np.asarray(values), "row {}" + of, "STCAStream.start")
        whole.TrainMode(False)
        try:
            whole.feedForward(rows[None], None if second is None else second[None])
        finally:
            whole.TrainMode(training)
        answer = self._answer(whole)
        if check is not None:
            check(answer)
        encoder_of(self.net).remember(encoder_of(whole))
        end = self.history
        self._newest = [np.array(x[end - self._kept :], self.net.device.dtype) for x in given]
        return answer

    def append(
        self, row: Array, second: Array | None = None, *, check: Callable[[Array], object] | None = None
    ) -> Array:
        """The answer after one more bar: its row [..., numbers], and its second input.

        For an encoder with given scenarios these follow the row: [1 + scenarios, numbers].
        """
        net = self.net
        net.check_second(second is not None)
        given = [row] if second is None else [row, second]
        for kept, new, of in zip(self._newest, given, ("", " of the second input"), strict=False):
            wanted = (1 + len(kept) - self._kept, *kept.shape[1:])
            if np.shape(new) != wanted and (1, *np.shape(new)) != wanted:
                what = f"a row of shape {list(np.shape(new))}, expected {list(wanted)}"
                raise ShapeError(what, where="STCAStream.append")
            name = "the row" if wanted[0] == 1 else "row {}"
            check_finite(np.asarray(new).reshape(wanted), name + of, "STCAStream.append")
        before = [kept.copy() for kept in self._newest]
        for kept, new in zip(self._newest, given, strict=True):
            kept[: self._kept - 1] = kept[1 : self._kept]
            kept[self._kept - 1 :] = new
        net.input.output.write(self._newest[0][None])
        if net.second is not None:
            net.second.output.write(self._newest[1][None])
        net.run("stream", self._pass)
        answer = self._answer(net)
        if check is not None:
            try:
                check(answer)
            except Exception:
                self._newest = before
                count = encoder_of(net).count
                count.write(count.read() - 1)  # the next bar takes the place of this one
                raise
        return answer

    def _answer(self, net: CNet) -> Array:
        answer: Array = net.getResults()[0]
        return answer

    def _pass(self) -> None:
        net = self.net
        for prev, layer in net.pairs:
            if isinstance(layer, CNeuronSTCAEncoder):
                layer.stream(prev)
            else:
                layer.feedForward(prev, net.second if layer.takes_second else None)


def can_stream(net: CNet) -> bool:
    """Whether a declared net is one for ``STCAStream``: what it reads of a bar is of that bar alone."""
    at = [i for i, layer in enumerate(net.layers) if isinstance(layer, CNeuronSTCAEncoder)]
    if len(at) != 1 or len(net.input_shape) != 2:
        return False
    before, behind = net.layers[: at[0]], net.layers[at[0] + 1 :]
    return _bar_by_bar(before, net.input_shape[1]) and not any(layer.takes_second for layer in behind)


def encoder_of(net: CNet) -> CNeuronSTCAEncoder:
    """The STCA encoder among the layers of ``net``."""
    return next(layer for layer in net.layers if isinstance(layer, CNeuronSTCAEncoder))


def _bar_by_bar(layers: Sequence[CNeuronBaseOCL], width: int) -> bool:
    """Whether each of these layers turns one unit, of ``width`` numbers at first, into one unit."""
    for layer in layers:
        if isinstance(layer, CNeuronConvOCL):
            if not layer.window == layer.step == width or layer.variables != 1:
                return False
            width = layer.window_out
        elif isinstance(layer, CNeuronTSPositionEncoder):
            width = 2 * layer.freqs * len(layer.periods)
        elif isinstance(layer, CNeuronSwiGLUOCL):
            width = layer.window_out or width
        elif not isinstance(layer, CNeuronLayerNormOCL):
            return False
    return True
