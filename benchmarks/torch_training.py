"""The training loop of ``fit`` in PyTorch: the same windows, loss and optimiser, from the same weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as f
from torch_layers import float32_only
from torch_nets import forward_of
from training import Work

from neuronet.fitting.source import Source
from neuronet.optim.bi_level import BiLevel


class TorchTraining:
    """A net in training on ``kind``, "cuda" or "cpu"; ``drawn`` as in torch_catch.py."""

    def __init__(self, work: Work, kind: str, *, drawn: bool) -> None:
        float32_only()
        self.work, self.kind, self.steps = work, kind, 0
        start = work.weights()
        self.w = {name: torch.nn.Parameter(torch.tensor(v, device=kind)) for name, v in start.items()}
        self.forward = forward_of(work.model, work.net, kind, drawn=drawn)
        given: Any = work.net.optimizer
        slow = {"1/fusion/mask/w"} & self.w.keys()
        body = [p for name, p in self.w.items() if name not in slow]
        how: dict[str, Any] = {"lr": given.rate(0), "betas": (given.beta1, given.beta2), "eps": given.eps}
        self.adam = torch.optim.AdamW(body, weight_decay=given.l2, **how)
        self.slow = None
        if isinstance(given, BiLevel):
            self.slow = torch.optim.Adam([self.w[name] for name in slow], **how | {"lr": given.slow_lr})

    def step(self, x: Any, second: Any, target: Any) -> None:
        given: Any = self.work.net.optimizer
        if callable(given.lr):
            self.adam.param_groups[0]["lr"] = given.rate(self.steps)
        self.adam.zero_grad()
        y, penalty = self.forward(self.w, x, second)
        fits = f.mse_loss(y, target) if self.work.source.itself else f.huber_loss(y, target)
        (fits + penalty).backward()
        self.adam.step()
        self.steps += 1
        if self.slow is not None and self.steps % given.every == 0:  # its gradients have added up
            self.slow.step()
            self.slow.zero_grad()

    def weights(self) -> dict[str, np.ndarray]:
        return {name: p.detach().cpu().numpy() for name, p in self.w.items()}

    # --- batches -----------------------------------------------------------------------

    def passes(self, source: Source, *, loader: bool) -> Callable[[int], None]:
        """A function seed -> one pass over the windows, in the order that fit draws from the seed."""
        batches = self._from_loader(source) if loader else self._from_tensors(source)

        def one_pass(seed: int) -> None:
            order = np.random.default_rng([seed, 0]).permutation(len(source))
            for x, second, target in batches(source.starts[order]):
                self.step(x, second, target)

        return one_pass

    def _arrays(self, source: Source, kind: str) -> tuple[Any, Any, Any]:
        """Rows, second rows and targets, None where there are none."""
        given = source.rows, source.second, source.targets
        rows, second, targets = (
            None if a is None else torch.tensor(a, dtype=torch.float32, device=kind) for a in given
        )
        return rows, second, targets

    def _from_loader(self, source: Source) -> Callable[[np.ndarray], Iterator[tuple[Any, Any, Any]]]:
        """As most people write it: a Dataset of windows, and a DataLoader without workers."""
        rows, second, targets = self._arrays(source, "cpu")
        history = source.history

        class Windows(torch.utils.data.Dataset):
            def __len__(self) -> int:
                return len(rows)

            def __getitem__(self, i: int) -> tuple[Any, ...]:
                parts = [rows[i : i + history]]
                if second is not None:
                    parts.append(second[i : i + history])
                if targets is not None:
                    parts.append(targets[i + history - 1])
                return tuple(parts)

        def batches(starts: np.ndarray) -> Iterator[tuple[Any, Any, Any]]:
            loaded = torch.utils.data.DataLoader(
                Windows(), batch_size=self.work.net.batch, sampler=starts.tolist()
            )
            for parts in loaded:
                x, *rest = (part.to(self.kind) for part in parts)
                phases = rest.pop(0) if second is not None else None
                yield x, phases, rest[0] if rest else x

        return batches

    def _from_tensors(self, source: Source) -> Callable[[np.ndarray], Iterator[tuple[Any, Any, Any]]]:
        """The best that PyTorch can do: the bars lie on the device, and one index cuts a batch."""
        rows, second, targets = self._arrays(source, self.kind)
        history = torch.arange(source.history, device=self.kind)

        def batches(starts: np.ndarray) -> Iterator[tuple[Any, Any, Any]]:
            order = torch.tensor(starts, dtype=torch.int64, device=self.kind)
            for part in order.split(self.work.net.batch):
                at = part[:, None] + history
                x = rows[at]
                last = x if targets is None else targets[part + source.history - 1]
                yield x, None if second is None else second[at], last

        return batches
