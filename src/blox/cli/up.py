"""`blox up`: a cluster on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli.cluster_tables import AsJson, Directory, need_grpc, say_json
from blox.cli.terminal import say

if TYPE_CHECKING:
    from blox.cluster.api import Client
    from blox.cluster.shell.place import Place

_LAST = "{}, or that of the last start"

Nodes = Annotated[
    int, typer.Option(min=0, max=256, help="Worker managers to start; 0: other machines `blox join`.")
]
Gpus = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=64,
        help="GPU slots of each; default: the GPUs of this machine, or 4 slots without.",
        show_default=False,
    ),
]
Scheduler = Annotated[str | None, typer.Option(help="Scheduling policy.", show_default=_LAST.format("fifo"))]
Admission = Annotated[
    str | None, typer.Option(help="Admission policy.", show_default=_LAST.format("accept-all"))
]
Placement = Annotated[
    str | None, typer.Option(help="Placement policy.", show_default=_LAST.format("first-free"))
]
Termination = Annotated[
    str | None,
    typer.Option(help="When jobs end: loss:target=0.35.", show_default=_LAST.format("completed")),
]
Round = Annotated[float, typer.Option("--round", help="Seconds between two decisions.")]
Heartbeat = Annotated[float, typer.Option("--heartbeat", help="Seconds between two reports of a node.")]
Lease = Annotated[
    float,
    typer.Option("--lease", help="Seconds without contact after which the jobs of a node are killed."),
]
Grace = Annotated[
    float, typer.Option("--grace", help="Seconds that a preempted job has before it is killed.")
]
Attempts = Annotated[int, typer.Option(min=1, help="Failures after which a job is given up.")]
Renewal = Annotated[str, typer.Option(help="optimistic or central (to compare).")]
Listen = Annotated[str, typer.Option(metavar="HOST[:PORT]", help="Where other machines reach the scheduler.")]
WithPage = Annotated[
    bool,
    typer.Option("--ui", help="Then serve the cluster's page until interrupted; the cluster goes on."),
]


def up(
    nodes: Nodes = 1,
    gpus: Gpus = None,
    scheduler: Scheduler = None,
    admission: Admission = None,
    placement: Placement = None,
    termination: Termination = None,
    round_s: Round = 10.0,
    heartbeat_s: Heartbeat = 2.0,
    lease_s: Lease = 30.0,
    grace_s: Grace = 15.0,
    attempts: Attempts = 3,
    renewal: Renewal = "optimistic",
    listen: Listen = "127.0.0.1",
    page: WithPage = False,
    cluster: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Start a scheduler and worker managers on this machine; jobs of an earlier start go on.

    They keep running in the background until `blox down`.
    """
    need_grpc()
    if page:
        from blox.ui.server import need_ui

        need_ui()
    from blox.cluster.api import absolute
    from blox.cluster.central.records import Policies
    from blox.cluster.protocol.timing import Timing
    from blox.cluster.shell import local
    from blox.cluster.shell.gpus import found
    from blox.cluster.shell.place import Place

    given = {
        "scheduler": scheduler, "admission": admission, "placement": placement, "termination": termination,
    }  # fmt: skip
    specs = {name: absolute(spec) for name, spec in given.items() if spec is not None}
    _check(renewal, specs)
    timing = Timing(
        round_s=round_s, heartbeat_s=heartbeat_s, lease_s=lease_s, grace_s=grace_s, attempts=attempts
    )
    place, slots = Place.of(cluster), gpus or found().count or 4
    with local.start(
        place,
        nodes,
        slots,
        timing=timing,
        policies=Policies(**specs),
        central=renewal == "central",
        address=place.listening(listen),
    ) as started:
        ruling = _let_rule(started, specs)
    if as_json:
        say_json({"nodes": nodes, "gpus": slots, "scheduler": ruling, "directory": str(place.root)})
    else:
        _say_next(nodes, slots, ruling, place)
    if page:
        from blox.cli import ui

        ui.ui(None, "127.0.0.1", None, False, cluster)


def _let_rule(started: Client, specs: dict[str, str]) -> str:
    """Lets the policies rule that were given, in place of those of an earlier start; returns the
    scheduler."""
    before = started.policies()
    other = {name: spec for name, spec in specs.items() if spec != getattr(before, name)}
    if other:
        started.set_policies(**other)
    return other.get("scheduler", before.scheduler)


def _check(renewal: str, specs: dict[str, str]) -> None:
    """Refuses a kind of renewal or a policy that does not exist, before anything is started."""
    from blox.errors import BloxError, suggestion
    from blox.experiment.parts import policy_from_spec

    if renewal not in ("optimistic", "central"):
        raise BloxError(
            f"no renewal is called {renewal!r}",
            where="--renewal",
            fix=suggestion(renewal, ("optimistic", "central")),
        )
    for name, spec in specs.items():
        policy_from_spec("scheduling" if name == "scheduler" else name, spec)


def _say_next(nodes: int, slots: int, scheduler: str, place: Place) -> None:
    what = f"{nodes} nodes x {slots} GPU slots" if nodes else f"a scheduler at {place.address()}"
    say(f"up: {what}, {scheduler}, in {place.root}")
    joining = "" if nodes else f"blox join --cluster {place.root} --listen HOST on every machine, "
    say(f"next: {joining}blox submit --gpus 1 -- COMMAND, blox jobs, blox down")
