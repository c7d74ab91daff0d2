"""Fixtures: ``run`` calls the command line in this process, on NumPy; ``python`` in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click.testing
import pytest

import neuronet
from neuronet.cli import main

ROOT = Path(neuronet.__file__).parents[1]
Run = Callable[..., click.testing.Result]
Python = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run("info", path)``: the result with its exit_code, stdout and stderr."""
    monkeypatch.setenv("NEURONET_DEVICE", "numpy")
    return lambda *arguments: click.testing.CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def python() -> Python:
    """``python("-m", "neuronet", "devices", NAME="value")``: a finished process; output decoded leniently."""

    def start(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            k: v for k, v in os.environ.items() if k not in ("NEURONET_DEVICE", "PYTHONIOENCODING")
        }
        return subprocess.run(
            [sys.executable, *arguments],
            env=environment | {"PYTHONPATH": str(ROOT)} | variables,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=100,
            check=False,
        )

    return start
