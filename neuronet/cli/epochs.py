"""What a user sees of a training on stderr: a bar on a terminal, one line an epoch anywhere."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time

import click

from neuronet.cli import console
from neuronet.cli.output import Progress
from neuronet.fitting.state import TrainingState


class EpochView:
    """Shows epochs and batches; ``begin`` when the first batch is about to start."""

    def __init__(self, epochs: int) -> None:
        self.epochs, self.progress = epochs, Progress()
        self._quiet, self._started = console.is_quiet(), 0.0
        self._epoch, self._seconds = 0, list[float]()  # epochs done; seconds of those of this run

    def say(self, line: str) -> None:
        if not self._quiet:
            self.progress.clear()
            click.echo(line, err=True)

    def begin(self) -> None:
        self._started = time.perf_counter()

    def batch(self, done: int, total: int, loss: float) -> None:
        now = time.perf_counter()
        per_batch = (
            (now - self._started) / done
            if not self._seconds
            else sum(self._seconds) / len(self._seconds) / total
        )
        left = per_batch * (total * (self.epochs - self._epoch) - done)
        self.progress.label = f"epoch {self._epoch + 1}/{self.epochs}"
        self.progress.show(done, total, f"loss {loss:.4f}  at most {_duration(left)} left")

    def epoch(self, state: TrainingState) -> None:
        now, self._epoch = state.history[-1], state.epoch
        self._seconds.append(now["seconds"])
        score = "" if now["validation"] is None else f"  validation {now['validation']:.4f}"
        score += f"  {now['seconds']:.1f} s" + ("  best" if state.best_epoch == state.epoch else "")
        self.say(f"epoch {state.epoch:3}/{self.epochs}  loss {now['loss']:.4f}{score}")


def resume_command() -> str:
    """The command line of this process with --resume."""
    arguments = ["neuronet", *sys.argv[1:]]
    if "--resume" not in arguments:
        arguments.append("--resume")
    return subprocess.list2cmdline(arguments) if os.name == "nt" else shlex.join(arguments)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
