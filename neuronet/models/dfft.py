"""DFFT: what to do at a bar, from local and channel attention over several scales (arXiv:2206.06829)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.activations import Activation
from neuronet.device.base import Device
from neuronet.errors import DataError, ShapeError, SpecError
from neuronet.fitting.fit import fit
from neuronet.fitting.state import TrainingState
from neuronet.layers.base import CNeuronBaseOCL
from neuronet.layers.batch_norm import CNeuronBatchNormOCL
from neuronet.layers.conv import CNeuronConvOCL
from neuronet.layers.dense import CNeuronDenseOCL
from neuronet.layers.dfft_encoder import CNeuronDFFTEncoder
from neuronet.layers.last_units import CNeuronLastUnitsOCL
from neuronet.layers.position_encoder import CNeuronPositionEncoder
from neuronet.layers.tae import CNeuronTAE
from neuronet.losses.action import Action
from neuronet.models.base import Model, check_finite, real_numbers
from neuronet.net import CNet
from neuronet.optim.adam import Adam

Array = NDArray[Any]
SELL, FLAT, BUY = range(3)
OUTPUTS = 5  # logits of the three, how far the price goes up and down


def layers(n_features: int, outputs: int, *, width: int = 32, heads: int = 4) -> list[CNeuronBaseOCL]:
    """From bars [history, n_features], oldest first, to [outputs].

    Each bar is a token with its position; three scales of DOT blocks, put together by the scale-aggregated
    encoder; the task-aligned encoder, half of whose features are for the class and half for quantities.
    """
    dimension = width // heads
    return [
        CNeuronConvOCL(window=n_features, step=n_features, window_out=width, activation=Activation.NONE),
        CNeuronPositionEncoder(),
        CNeuronDFFTEncoder(
            windows=(width, width, width), window_out=width, heads=heads, dimension=dimension, layers=1
        ),
        CNeuronTAE(window_out=width // 2, heads=heads, dimension=dimension, layers=1),
        CNeuronLastUnitsOCL(),
        CNeuronDenseOCL(neurons=outputs),
    ]


@dataclass(frozen=True)
class Actions:
    """What ``DFFT.act`` says of n windows.

    p          [n, 3] probabilities of sell, flat, buy
    side       [n] -1, 0 or 1: the most probable one
    size       [n] |p_buy - p_sell|, 0 where flat: 1 where a side is sure
    up, down   [n] how far the price is expected to go, in the targets' unit, at least 0
    """

    p: NDArray[np.float64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]

    @property
    def side(self) -> NDArray[np.int64]:
        return np.asarray(self.p.argmax(axis=1) - FLAT)

    @property
    def size(self) -> NDArray[np.float64]:
        return np.where(self.side == 0, 0.0, np.abs(self.p[:, BUY] - self.p[:, SELL]))

    @property
    def take_profit(self) -> NDArray[np.float64]:
        """[n] distance from the price to take the profit at; NaN where flat."""
        return np.where(self.side == 0, np.nan, np.where(self.side > 0, self.up, self.down))

    @property
    def stop_loss(self) -> NDArray[np.float64]:
        """[n] distance from the price, on the other side, to stop the loss at; NaN where flat."""
        return np.where(self.side == 0, np.nan, np.where(self.side > 0, self.down, self.up))


@dataclass(kw_only=True, eq=False)
class DFFT(Model):
    """Sell, flat or buy, how much, where to take the profit and where to stop the loss.

        model = nn.models.DFFT(history=64, features=5)
        model.fit(x, side, moves, validation=(xv, sidev, movesv))    # x [n, 64, 5]
        actions = model.act(x)                                       # .side .size .take_profit .stop_loss

    history, features  bars of a window and numbers of a bar; a batch normalisation scales the numbers
    width, heads       of a token, and of the attention
    scale              mean and deviation of the moves up and down that it was trained on; fit sets them

    ``neuronet train --model dfft --task action`` makes windows and targets from a file of bars.
    """

    history: int
    features: int
    width: int = 32
    heads: int = 4
    scale: tuple[float, float, float, float] = (0.0, 1.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("history", 4), ("features", 1), ("width", 2), ("heads", 1)):
            if getattr(self, name) < least:
                what = f"{name}={getattr(self, name)} is less than {least}"
                raise SpecError(what, where="DFFT", fix=f"give {least} or more")
        if self.width % (2 * self.heads):
            what = f"width={self.width} is no multiple of twice the {self.heads} heads"
            raise SpecError(
                what, where="DFFT", fix=f"choose width={-(-self.width // (2 * self.heads)) * 2 * self.heads}"
            )

    def build(
        self, device: Device | None = None, *, batch: int = 64, lr: float = 1e-3, seed: int = 0
    ) -> DFFT:
        """Put the net on ``device`` with weights drawn from ``seed``."""
        stack = [CNeuronBatchNormOCL(), *layers(self.features, OUTPUTS, width=self.width, heads=self.heads)]
        shape = self.history, self.features
        optimizer = Adam(lr=lr, clip_norm=1.0)
        net = CNet(input_shape=shape, layers=stack, batch=batch, loss=Action(), optimizer=optimizer)
        self.net = net.build(device, seed=seed)
        self.net.builder = self.spec()
        return self

    def fit(
        self,
        x: Any,
        side: Any,
        moves: Any,
        *,
        validation: tuple[Any, Any, Any] | None = None,
        epochs: int = 20,
        patience: int | None = 5,
        lr: float = 1e-3,
        batch: int = 64,
        seed: int = 0,
        device: Device | None = None,
        on_epoch: Callable[[TrainingState], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> TrainingState:
        """Train from new weights and keep the best epoch.

        x      [n, history, features], oldest bar first
        side   [n] -1, 0, 1: what would have been right
        moves  [n, 2] how far the price went up and down until the horizon, at least 0, in any one unit

        ShapeError and SpecError name what does not fit.
        """
        x, side, moves = self._checked("training", x, side, moves)
        mean, deviation = moves.mean(axis=0), moves.std(axis=0)
        deviation = np.where(deviation > 0.0, deviation, 1.0)
        self.scale = (float(mean[0]), float(deviation[0]), float(mean[1]), float(deviation[1]))
        held = None
        if validation is not None:
            xv, sidev, movesv = self._checked("validation", *validation)
            held = xv, self._targets(sidev, movesv)
        self.build(device, batch=batch, lr=lr, seed=seed)
        return fit(
            self.net, x, self._targets(side, moves), epochs=epochs, validation=held, patience=patience,
            seed=seed, on_epoch=on_epoch, stop=stop,
        )  # fmt: skip

    def act(self, x: Any) -> Actions:
        """What to do after the last bar of each window of ``x`` [n, history, features].

        DataError for a value in ``x`` or an answer that is not finite: it would read as "sell".
        """
        net = self.net
        try:
            x = real_numbers(x)
        except ValueError:
            fix = "give an array [n, history, features]"
            raise ShapeError("x are not numbers of equal shapes", where="DFFT.act", fix=fix) from None
        if x.shape[1:] == net.input_shape:  # predict refuses others
            check_finite(x, "window {}", "DFFT.act")
        y = net.predict(x).astype(np.float64)
        if not (finite := np.isfinite(y).all(axis=1)).all():
            what = f"the answer for window {np.flatnonzero(~finite)[0]} is not finite"
            raise DataError(what, where="DFFT.act", fix="scale the windows as those of the training")
        e = np.exp(y[:, :3] - y[:, :3].max(axis=1, keepdims=True))
        mean, deviation = np.reshape(self.scale, (2, 2)).T
        up, down = np.maximum(0.0, y[:, 3:] * deviation + mean).T
        return Actions(e / e.sum(axis=1, keepdims=True), up, down)

    def _targets(self, side: Array, moves: Array) -> Array:
        mean, deviation = np.reshape(self.scale, (2, 2)).T
        return np.column_stack([side + FLAT, (moves - mean) / deviation]).astype(np.float32)

    def _checked(self, name: str, x: Any, side: Any, moves: Any) -> tuple[Array, Array, Array]:
        x, side, moves = np.asarray(x), np.asarray(side), np.asarray(moves, np.float64)
        where, n = f"DFFT.fit, {name}", len(x) if x.ndim else 0
        wanted = {"x": (x, (n, self.history, self.features)), "side": (side, (n,)), "moves": (moves, (n, 2))}
        for label, (array, shape) in wanted.items():
            if array.shape != shape or not n:
                raise ShapeError(f"{label} has shape {array.shape}, expected {shape}, n >= 1", where=where)
        if not np.isin(side, (-1, 0, 1)).all():
            raise SpecError(
                "side holds other values than -1, 0, 1", where=where, fix="give the sign of a trade"
            )
        if not (np.isfinite(moves).all() and (moves >= 0.0).all()):
            raise SpecError("moves are not all finite and at least 0", where=where, fix="give two distances")
        return x, side, moves
