"""Options that several commands share."""

from __future__ import annotations

import click

device_option = click.option(
    "--device",
    metavar="NAME",
    help="auto, gpu, cpu, numpy, or a number or part of a name from 'neuronet devices'. "
    "Default: NEURONET_DEVICE, else auto.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
