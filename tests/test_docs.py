"""Every Python block of README and docs runs; every internal link and file name exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_blocks_run(page: Path, tmp_path: Path) -> None:
    """A page's blocks run in order as one program of its own, in an empty folder that has examples/."""
    text = page.read_text("utf-8")
    lines = [""] * text.count("\n")  # as in the page, so that a traceback shows its line numbers
    for match in BLOCK.finditer(text):
        block = match[1].splitlines()
        first = text[: match.start()].count("\n") + 1
        lines[first : first + len(block)] = block
    if not any(lines):
        return
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program = tmp_path / f"{page.stem}.py"
    program.write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-W", "error", str(program)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
