"""Config files in TOML: a net's spec at the top, as in a model file, and settings in the table [train]."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neuronet.errors import SpecError
from neuronet.train.settings import Settings

Spec = dict[str, Any]
SHARED = ("lr", "l2", "clip_norm")  # settings that an [optimizer] of the file has too


def read_config(path: str | Path) -> tuple[Spec, Spec]:
    """Return the settings and the net's spec that a file declares, either of which may be empty."""
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"is not TOML: {error}", where=str(path), fix="correct the line") from error
    except OSError as error:
        raise SpecError(f"cannot be read: {error.strerror}", where=str(path), fix="check the name") from error
    if not data:
        fix = "write settings under [train], or a net; --print-config prints an example"
        raise SpecError("declares nothing", where=str(path), fix=fix)
    settings = data.pop("train", {})
    if not isinstance(settings, dict):
        raise SpecError("train is not a table", where=str(path), fix="write the settings under [train]")
    data.pop("input_shape", None)  # follows from the settings and the features
    return settings, data


def effective(file: tuple[Spec, Spec], chosen: Mapping[str, Any]) -> tuple[Settings, Spec | None]:
    """Settings and net from a config file and what options and variables say, which wins.

    Raises SpecError when both name a net.
    """
    settings, net = dict(file[0]), dict(file[1])
    if "layers" in net and "model" in chosen and chosen["model"] != settings.get("model"):
        raise SpecError(
            f"the file of --config has layers of its own, which --model {chosen['model']} cannot replace",
            where="--model",
            fix="leave out --model, or the layers in the file",
        )
    if "batch" in net:
        settings.setdefault("batch", net.pop("batch"))
    if "optimizer" in net:
        net["optimizer"] = {**net["optimizer"], **{name: chosen[name] for name in SHARED if name in chosen}}
        own = {name: net["optimizer"].get(name) for name in SHARED}
        settings |= {name: value for name, value in own.items() if isinstance(value, int | float)}
    return Settings.from_dict({**settings, **chosen}), net or None


def to_toml(settings: Settings, net: Mapping[str, Any]) -> str:
    """A config file that declares the same training; it can be read back. What is None is left out."""
    top = {name: net[name] for name in ("loss", "optimizer", "layers")}
    own = {k: v for k, v in settings.to_dict().items() if k not in SHARED}
    tables = {"train": own, **top}
    lines: list[str] = []
    for name, value in tables.items():
        items = value if isinstance(value, list) else [value]
        head = f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
        for item in items:
            lines += [head, *(f"{k} = {_toml(v)}" for k, v in item.items() if v is not None), ""]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{k} = {_toml(v)}" for k, v in value.items() if v is not None)
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)  # strings, numbers and booleans are written alike
