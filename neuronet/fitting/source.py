"""Source: training data on the host, and Feed: the same data on a device, cut into batches there."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuronet.device.array import DeviceArray
from neuronet.device.tape import Tape
from neuronet.errors import DataError, ShapeError
from neuronet.net import CNet
from neuronet.ops import elementwise, gather
from neuronet.ops import step as step_op

Array = NDArray[Any]


@dataclass(frozen=True)
class Source:
    """Samples are windows into one matrix: sample i is rows[starts[i] : starts[i] + history].

    rows     [bars, features] float
    targets  [bars, ...] float, or int32 class numbers; a sample's is at its last row
    starts   [samples] int32
    runs     a batch is a run of samples in their order, and only whole batches are shuffled: for a loss that
             compares neighbours
    second   [bars, ...] float or None: the second input, cut like the rows: a sample's is
             [history, ...], for ready samples [...]
    behind   [bars, n, features] or None: n units put behind each window, those of its last row; their second
             input is that of the window's last row
    itself   the target of a sample is the sample, for nets that reconstruct; targets is then None
    """

    rows: Array
    starts: Array
    history: int
    targets: Array | None = None
    second: Array | None = None
    runs: bool = False
    itself: bool = False
    behind: Array | None = None

    @staticmethod
    def windows(
        rows: Any, targets: Any, starts: Any, history: int, second: Any = None, behind: Any = None
    ) -> Source:
        """Windows of ``history`` bars; no window is ever copied."""
        rows, starts = np.asarray(rows), np.asarray(starts, np.int32)
        if rows.ndim != 2:
            raise ShapeError(f"rows have shape {rows.shape}, expected [bars, features]", where="Source")
        if starts.size and not 0 <= starts.min() <= starts.max() <= len(rows) - history:
            raise ShapeError(
                f"starts reach from {starts.min()} to {starts.max()}, {len(rows)} rows hold windows of "
                f"{history} that start from 0 to {len(rows) - history}",
                where="Source",
            )
        host = {"target": targets, "second input": second, "behind": behind}
        used = int(starts.max()) + history if starts.size else 0
        for name, values in host.items():
            if values is not None and len(values) < used:
                raise ShapeError(f"samples use {used} rows, {name} has {len(values)}", where="Source")
        arrays = [None if values is None else np.asarray(values) for values in host.values()]
        after = arrays[2]
        if after is not None and (after.ndim != 3 or after.shape[2] != rows.shape[1]):
            what = f"units behind windows have shape {after.shape}, expected [bars, n, {rows.shape[1]}]"
            raise ShapeError(what, where="Source")
        return Source(rows, starts, history, arrays[0], arrays[1], behind=after)

    @staticmethod
    def arrays(x: Any, target: Any = None, second: Any = None) -> Source:
        """Ready samples x [n, ...], targets [n, ...] and second inputs [n, ...]."""
        x = np.asarray(x)
        parts = {"target": target, "second": second}
        host = {name: None if values is None else np.asarray(values) for name, values in parts.items()}
        for name, values in host.items():
            if values is not None and len(values) != len(x):
                raise ShapeError(f"x has {len(x)} samples, {name} has {len(values)}", where="Source")
        starts = np.arange(len(x), dtype=np.int32)
        return Source(x.reshape(len(x), -1), starts, 1, host["target"], host["second"])

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def units(self) -> int:
        """Rows of a sample: those of its window, and those behind it."""
        return self.history + (0 if self.behind is None else self.behind.shape[1])

    def order(self, rng: np.random.Generator, batch: int) -> Array:
        """The samples of an epoch, shuffled: all, or runs of ``batch`` that begin elsewhere each time."""
        count = len(self)
        if not self.runs:
            return rng.permutation(count)
        turned = np.roll(np.arange(count), -int(rng.integers(batch)))
        whole = count // batch * batch
        return np.concatenate([rng.permutation(turned[:whole].reshape(-1, batch)).ravel(), turned[whole:]])

    def check_finite(self, where: str) -> None:
        """DataError naming the first row that is not finite and used by a sample."""
        used = np.zeros(len(self.rows) + 1, np.int64)
        np.add.at(used, self.starts, 1)
        np.add.at(used, self.starts + self.history, -1)
        inside = np.cumsum(used)[:-1] > 0
        last = self.starts + self.history - 1
        for name, values, rows in (
            ("input", self.rows, np.flatnonzero(inside)),
            ("target", self.targets, last),
            ("behind", self.behind, last),
            ("second input", self.second, np.flatnonzero(inside)),
        ):
            if values is None or values.dtype.kind != "f":
                continue
            finite = np.isfinite(values[rows].reshape(len(rows), -1)).all(axis=1)
            if not finite.all():
                row = int(rows[np.flatnonzero(~finite)[0]])
                raise DataError(
                    f"{name} row {row} holds a value that is not finite ({np.sum(~finite)} rows do)",
                    where=where,
                    fix="drop or repair these rows before training",
                )


class Feed:
    """A source on the device of a net, and the launches that bring its batches to the net."""

    def __init__(self, net: CNet, source: Source, where: str) -> None:
        self.net, self.source, self.history = net, source, source.history
        features, units = source.rows.shape[1], source.units
        if units * features != math.prod(net.input_shape) or (units > 1 and net.input_shape[0] != units):
            raise ShapeError(
                f"samples are {units} x {features} values, the net takes {list(net.input_shape)}",
                where=where,
                fix="make the net's input_shape (history, features)",
            )
        net.check_second(source.second is not None)
        if source.second is not None and net.second_shape is not None:
            row = source.second.shape[1:]
            given = (units, *row)
            if given != net.second_shape and not (units == 1 and row == net.second_shape):
                raise ShapeError(
                    f"second inputs have shape {row if units == 1 else given} a sample, "
                    f"the net takes {net.second_shape}",
                    where=where,
                )
        self.rows = self._put(source.rows, f"{where} rows")
        self.targets = None
        if source.targets is not None:
            targets, kind = self._checked_targets(source.targets, where), net.target.dtype.kind
            self.targets = self._put(targets, f"{where} targets", np.int32 if kind == "i" else np.float64)
        if source.itself and net.target_shape != net.input_shape:
            raise ShapeError(
                f"the net's loss takes targets {net.target_shape}, samples are {net.input_shape}",
                where=where,
                fix="let the net give back what it gets",
            )
        self.second = None if source.second is None else self._put(source.second, f"{where} second input")
        self.behind = self.second_behind = None
        if source.behind is not None:
            self.behind = self._put(source.behind, f"{where} behind")
            if source.second is not None:
                repeated = np.repeat(source.second[:, None], source.behind.shape[1], axis=1)
                self.second_behind = self._put(repeated, f"{where} second input behind")
        self.starts = net.device.array((max(1, len(source)),), np.int32, name=f"{where} starts")
        self.tapes: dict[Hashable, Tape] = {}

    def begin(self, order: Array, *, batch: int = 0) -> None:
        """Start a pass over the samples in ``order``, at batch number ``batch``."""
        self.starts.write(self.source.starts[order])
        self.net.step.write([self.net.steps, batch - 1, -1, 0])

    def batches(self) -> list[int]:
        """Rows of each batch of a pass: all samples, the last batch may be shorter."""
        full, rest = divmod(len(self.source), self.net.batch)
        return [self.net.batch] * full + ([rest] if rest else [])

    def gather(self) -> None:
        """Launches: batch number step[1] becomes the net's inputs and target."""
        net = self.net
        self._cut(self.rows, self.behind, net.input.output)
        if self.second is not None and net.second is not None:
            self._cut(self.second, self.second_behind, net.second.output)
        if self.targets is not None:
            self._gather(self.targets, net.target.rows(net.rows), units=1, offset=self.history - 1)
        elif self.source.itself:
            elementwise.copy(net.input.output, net.target.rows(net.rows))

    def next_batch(self) -> None:
        """Launches: the next batch of a pass that trains nothing."""
        step_op.next_batch(self.net.step)
        self.gather()

    def _cut(self, rows: DeviceArray, behind: DeviceArray | None, out: DeviceArray) -> None:
        self._gather(rows, out, units=self.history)
        if behind is not None:
            at = self.history * rows.shape[1]
            self._gather(behind, out, units=1, offset=self.history - 1, at=at)

    def _gather(self, rows: DeviceArray, out: DeviceArray, **which: int) -> None:
        samples = out.view(self.net.rows, out.size // self.net.rows)
        gather.windows(rows, self.starts, self.net.step, samples, batch_size=self.net.batch, **which)

    def _checked_targets(self, targets: Array, where: str) -> Array:
        net = self.net
        if targets.shape[1:] != net.target_shape:
            raise ShapeError(
                f"targets have shape {targets.shape[1:]} a sample, the net's loss takes {net.target_shape}",
                where=where,
                fix="give the last layer one value for each target",
            )
        if net.target.dtype.kind == "i":
            classes = math.prod(net.output_shape)
            used = targets[self.source.starts + self.history - 1]
            if targets.dtype.kind not in "iu" or used.min() < 0 or used.max() >= classes:
                raise DataError(
                    f"class numbers must be whole, from 0 to {classes - 1}; got {used.min()} to {used.max()}",
                    where=where,
                )
        return targets

    def _put(self, values: Array, name: str, kind: type = np.float64) -> DeviceArray:
        flat = values.reshape(len(values), -1)
        return self.net.device.put(
            flat if flat.dtype.kind == np.dtype(kind).kind else flat.astype(kind), name=name
        )
