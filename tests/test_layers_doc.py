"""docs/layers.md names every public layer with all its fields and their defaults."""

from __future__ import annotations

import dataclasses
import re
from enum import Enum
from pathlib import Path

import pytest

import neuronet.layers
from neuronet.layers.base import LAYERS

PAGE = (Path(__file__).parent.parent / "docs" / "layers.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \|", re.M)


def default(field: dataclasses.Field[object]) -> str:
    """What the page shows in the second column."""
    if field.default is dataclasses.MISSING:
        return "required"
    return f"`{field.default.name if isinstance(field.default, Enum) else field.default}`"


@pytest.mark.parametrize("name", neuronet.layers.__all__)
def test_layer_is_there_with_its_fields_and_defaults(name: str) -> None:
    assert name in SECTIONS, f"docs/layers.md has no section '## {name}'"
    shown = {field: text.strip() for field, text in ROW.findall(SECTIONS[name])}
    assert shown == {f.name: default(f) for f in dataclasses.fields(LAYERS[name])}


def test_no_section_is_left_over() -> None:
    assert {name for name in SECTIONS if name.startswith("C")} == set(neuronet.layers.__all__)


@pytest.mark.parametrize("name", neuronet.layers.__all__)
def test_example_is_a_layer_of_that_name(name: str) -> None:
    found = re.search(r"Example: `(.+?)`$", SECTIONS[name], re.M)
    assert found, f"the section of {name} has no example"
    assert type(eval(found[1], {"nn": neuronet})) is LAYERS[name]
