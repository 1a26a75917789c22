"""`blox replay`: a workload on real processes."""

from __future__ import annotations

from typing import Annotated

import typer

from blox.cli import options
from blox.cli.cluster_tables import need_grpc


def replay(
    workload: Annotated[str, typer.Argument(metavar="WORKLOAD", help="As for `blox run`.")],
    cluster: options.Cluster = "2x4",
    admission: options.Admission = "accept-all",
    scheduler: options.Scheduler = "fifo",
    placement: options.Placement = "first-free",
    round_s: options.Round = 300.0,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
    speedup: Annotated[float, typer.Option(help="Simulated seconds per second.")] = 60.0,
    job: Annotated[
        str,
        typer.Option(help="What each process does: train (a small real model), or sleep.", metavar="KIND"),
    ] = "train",
    label: options.Label = None,
    out: options.Out = None,
    report: options.ReportToo = False,
) -> None:
    """Play a workload on a cluster of real processes on this machine, in scaled time.

    Every job becomes one process per GPU, which holds its slot for as long as its entry says. Prints the
    figures of a run; with --out DIR they are kept like those of a simulation, for `blox report`, `explain`
    and `compare`.
    """
    need_grpc()
    from contextlib import nullcontext

    from blox.cli.progress import one_run
    from blox.cli.real_time import note_real_time
    from blox.cli.show import show_runs, written
    from blox.cluster.replay import Play, play_prepared
    from blox.experiment.settings import Experiment
    from blox.results.place import claimed

    experiment = Experiment(
        workload=workload,
        cluster=cluster or "2x4",
        admission=admission or "accept-all",
        scheduler=scheduler or "fifo",
        placement=placement or "first-free",
        round_s=round_s or 300.0,
        jobs=jobs,
        seed=seed or 0,
        label=label or "",
    )
    play = Play(speedup, job)  # type: ignore[arg-type]
    prepared = play.prepare(experiment)
    with nullcontext() if out is None else claimed(out) as claim:
        note_real_time(prepared, speedup)
        with one_run(scheduler or "fifo") as progress:
            result = play_prepared(play, prepared, progress)
        if claim is not None:
            result.save(claim.directory, claim)
            if report:
                from blox.report.page import write_report

                write_report(claim.place / "report.html", [result])
    show_runs([result])
    if out is not None:
        written(out, report)
