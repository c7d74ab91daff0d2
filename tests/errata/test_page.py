"""docs/errata.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
PAGE = (TESTS.parent / "docs" / "errata.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)))


@pytest.mark.parametrize(("file", "test"), NAMED, ids=lambda text: text)
def test_named_test_exists(file: str, test: str) -> None:
    assert f"\ndef {test}(" in (TESTS / file).read_text("utf-8")


def test_every_line_names_a_test() -> None:
    lines = [line for line in PAGE.splitlines() if re.match(r"\| ([A-Z]\d+|\W) \|", line)]
    assert len(lines) > 25
    assert [line for line in lines if "::test_" not in line] == []
