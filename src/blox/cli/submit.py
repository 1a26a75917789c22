"""`blox submit`: a job for the cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from blox.cli.cluster_tables import AsJson, Directory, client, say_json
from blox.cli.terminal import say


def submit(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="What to run on every GPU.")],
    gpus: Annotated[int, typer.Option(help="GPUs: one process is started for each.")] = 1,
    name: Annotated[str, typer.Option(help="A name for people.")] = "",
    expected: Annotated[str, typer.Option(help="How long it will run, if known: 2h, 90m.")] = "",
    preemption: Annotated[
        str,
        typer.Option(
            help="iteration (the script uses blox.client), signal (SIGTERM) or never.", metavar="SPEC"
        ),
    ] = "iteration",
    launch: Annotated[
        str,
        typer.Option(
            help="command, zip (--directory is a zip file) or container[:engine=podman].", metavar="SPEC"
        ),
    ] = "command",
    directory: Annotated[str, typer.Option(help="Where it starts; default: here.")] = "",
    min_gpus: Annotated[int, typer.Option(help="Fewest GPUs that it can use; 0: as --gpus.")] = 0,
    max_gpus: Annotated[int, typer.Option(help="Most GPUs that it can use; 0: as --gpus.")] = 0,
    priority: Annotated[float, typer.Option(help="Larger is more urgent, to policies that ask.")] = 0.0,
    tenant: Annotated[str, typer.Option(help="For policies that share among tenants.")] = "",
    loss_threshold: Annotated[
        float | None,
        typer.Option(
            help="Share by which its loss has to fall for it to go on, where jobs end by their loss: 0.002.",
            show_default=False,
        ),
    ] = None,
    cluster: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Submit a job; its number is printed once the scheduler has stored it.

    blox submit --gpus 2 -- python train.py --epochs 3
    """
    import os

    from blox.durations import parse_duration

    here = os.path.abspath(directory) if directory else os.getcwd()
    job = client(cluster).submit(
        command,
        gpus,
        name=name,
        expected_s=float(parse_duration(expected, where="--expected")) if expected else None,
        preemption=preemption,
        launch=launch,
        directory=here,
        min_gpus=min_gpus,
        max_gpus=max_gpus,
        priority=priority,
        tenant=tenant,
        loss_threshold=loss_threshold,
    )
    if as_json:
        say_json({"job": job})
    else:
        say(f"job {job}")
