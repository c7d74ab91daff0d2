"""``neuronet info``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import h5py
import numpy as np

from neuronet.bars.bars import span, stamp
from neuronet.cli import console
from neuronet.cli.given import check_model
from neuronet.cli.options import json_option
from neuronet.cli.output import print_json, table
from neuronet.device.numpy import NumpyDevice
from neuronet.net import CNet
from neuronet.storage.hdf5 import read_model
from neuronet.storage.model import ModelFile
from neuronet.train.evaluate import Evaluation
from neuronet.train.report import report

TIME, SECOND = 10**15, 10**9  # ns; less is a row's number
TIMES = ("test_begins", "begins", "first", "last")
LONG = 100  # characters of a value; what is longer ends in "…"


@click.command()
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@json_option
def command(model: Path, as_json: bool) -> None:
    """Show what the model file MODEL holds: layers, features, training, versions. Needs no OpenCL.

    Of the scores there is one line for each part and baseline, of looks at the validation part the last;
    with -v all of them are listed.
    """
    check_model(model)
    file = read_model(model)
    net = CNet.from_file(file, NumpyDevice(), where=str(model))
    versions = _versions(model)
    if as_json:
        print_json(_document(file, net, versions))
        return
    rows = [("input", "", str(list(net.input_shape)), 0)]
    for i, layer in enumerate(net.layers):
        rows.append((str(i), _call(layer.spec()), str(list(layer.output.shape[1:])), _count(layer)))
    rows.append(("", "all", "", net.pool.count))
    click.echo(table(rows, ("#", "layer", "output", "parameters")))
    scores = [] if console.is_verbose() else _scores(file.bars)
    told = {key: value for key, value in file.bars.items() if key != "scores" or not scores}
    sections = {
        "net": {
            "loss": _call(file.spec["loss"]),
            "optimizer": _call(file.spec["optimizer"]),
            "batch": net.batch,
            **({"steps trained": net.steps} if net.steps else {}),
        },
        "bars": told,
        "training": _summary(file.training),
        "versions": versions,
    }
    for title, values in sections.items():
        if values:
            click.echo(f"\n{title}")
            for name, value in _flat(values):
                click.echo(f"  {name:22} {_short(_told(name, value))}")
        if title == "bars" and scores:
            click.echo("\n".join(["", "scores (all of them: -v)", *(f"  {line}" for line in scores)]))


def _scores(bars: dict[str, Any]) -> list[str]:
    """The parts and the table of ``report``, without its notes; nothing where a file has other scores."""
    try:
        lines = report([Evaluation.from_dict(one) for one in bars["scores"].values()])
    except (KeyError, TypeError, AttributeError, ValueError):  # any program may have written the document
        return []
    blanks = [i for i, line in enumerate(lines) if not line]
    return [line for line in lines[: blanks[1]] if line] if len(blanks) > 1 else []


def _document(file: ModelFile, net: CNet, versions: dict[str, Any]) -> dict[str, Any]:
    layers = [
        spec | {"output_shape": list(layer.output.shape[1:]), "parameters": _count(layer)}
        for spec, layer in zip(file.spec["layers"], net.layers, strict=True)
    ]
    return {
        "net": file.spec | {"layers": layers, "parameters": net.pool.count, "steps": net.steps},
        "bars": file.bars,
        "training": file.training,
        "versions": versions,
    }


def _versions(path: Path) -> dict[str, Any]:
    with h5py.File(path, "r") as root:  # read_model has checked it
        return {
            "format": int(root.attrs["format_version"]),
            "written by": f"neuronet {root.attrs['neuronet']}",
        }


def _count(layer: Any) -> int:
    return sum(int(np.prod(p.shape)) for p in layer.parameters)


def _call(spec: dict[str, Any]) -> str:
    return f"{spec['class']}{_fields(spec)}"


def _fields(spec: dict[str, Any]) -> str:
    shown = {k: _call(v) if isinstance(v, dict) and "class" in v else v for k, v in spec.items()}
    fields = [f"{k}={v}" for k, v in shown.items() if k not in ("class", "version")]
    return f"({', '.join(fields)})" if fields else ""


def _summary(training: dict[str, Any]) -> dict[str, Any]:
    """The training without its list of epochs, of which the last stands for all."""
    history = training.get("history") or []
    rest = {k: v for k, v in training.items() if k != "history"}
    return rest | ({"last epoch": history[-1]} if history else {})


def _flat(values: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, dict) and value:
            rows += _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            rows += [
                (f"{prefix}{name}", _line(one)) for one in (value if console.is_verbose() else value[-1:])
            ]
        else:
            rows.append((f"{prefix}{name}", value))
    return rows


def _line(values: dict[str, Any]) -> str:
    """One of a list of records, such as a look at the validation part: 'step 250, net 0.0207'."""
    return ", ".join(f"{name} {_text(_told(name, value))}" for name, value in values.items())


def _told(name: str, value: Any) -> Any:
    """Times and steps in ns as they are written elsewhere; rows without times are small numbers."""
    last = name.rpartition(".")[2]
    if isinstance(value, int) and last in TIMES and value >= TIME:
        return f"after {stamp(value - 1)}" if value % SECOND == 1 else stamp(value)
    return span(value) if isinstance(value, int) and last == "step" and value >= SECOND else value


def _text(value: Any, between: str = ", ") -> str:
    """Numbers with 6 digits, lists with commas, lists in a list with blanks; '-' for what is empty."""
    if isinstance(value, list | dict) and not value:
        return "-"
    if isinstance(value, list):
        if between == ", " and any(isinstance(one, list) for one in value):
            return "; ".join(_text(one, " ") for one in value)
        return between.join(_text(one, " ") for one in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _short(value: Any) -> str:
    text = _text(value)
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"
