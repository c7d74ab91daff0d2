"""``neuronet devices``."""

from __future__ import annotations

import dataclasses

import click

from neuronet.cli.options import json_option
from neuronet.cli.output import print_json, table
from neuronet.device.find import default_device, list_devices


@click.command()
@json_option
def command(as_json: bool) -> None:
    """List the devices that can compute; * marks the default.

    Choose one by its number, or by a part of "platform / device": --device 1, --device rtx, or the variable
    NEURONET_DEVICE. Sizes: all memory, the largest buffer, local memory, and the largest work-group.
    """
    devices = list_devices()
    default = default_device(devices)
    if as_json:
        hidden = ("cl_device",)
        fields = [f.name for f in dataclasses.fields(devices[0]) if f.name not in hidden]
        print_json([{n: getattr(d, n) for n in fields} | {"default": d == default} for d in devices])
        return
    rows = [
        (
            f"{'*' if d == default else ' '} {d.index}",
            d.platform,
            d.name,
            d.kind,
            d.compute_units,
            *(_size(n) for n in (d.memory, d.max_allocation, d.local_memory)),
            d.max_group or None,
            d.driver or d.version,
        )
        for d in devices
    ]
    header = ("  #", "platform", "device", "type", "units", "memory", "buffer", "local", "group", "driver")
    click.echo(table(rows, header))


def _size(nbytes: int) -> str:
    for unit, name in ((2**30, "GB"), (2**20, "MB"), (2**10, "KB")):
        if nbytes >= unit:
            return f"{nbytes / unit:.3g} {name}"
    return "-"
