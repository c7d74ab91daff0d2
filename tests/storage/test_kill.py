"""A training that is killed has a whole model, and goes on bit for bit."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def test_three_kills() -> None:
    """The script that anybody may run with 200 of them."""
    script = Path(__file__).with_name("kill_training.py")
    done = subprocess.run(
        [sys.executable, str(script), "3", "--seed", "2"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = {what: int(count) for count, what in re.findall(r"(\d+) (.+)", done.stdout)}
    assert counts["kills"] == 3
    assert counts["whole files loaded"] + counts.get("kills before the first save", 0) == 3
    assert counts["trainings that ended equal, bit for bit"] >= 1
