"""`blox run`: one experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blox.cli import options

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from blox.results.result import Result


def run(
    experiment: options.Settings = None,
    workload: options.Workload = None,
    cluster: options.Cluster = None,
    admission: options.Admission = None,
    scheduler: options.Scheduler = None,
    placement: options.Placement = None,
    termination: options.Termination = None,
    performance: options.Performance = None,
    overheads: options.Overheads = None,
    belief: options.Belief = None,
    compat: options.Compat = None,
    round_s: options.Round = None,
    clock: options.Clock = None,
    window: options.Window = None,
    jobs: options.Jobs = None,
    seed: options.Seed = None,
    max_rounds: options.MaxRounds = None,
    backend: options.Backend = None,
    speedup: options.Speedup = None,
    label: options.Label = None,
    out: options.Out = None,
    report: options.Report = False,
    ignore_checksum: options.IgnoreChecksum = False,
) -> None:
    """Run one experiment: a TOML file, options, or both; options override the file.

    Prints the figures and why jobs waited. With --out DIR, DIR/experiment.toml runs it again, to the byte.
    """
    settings = {
        "workload": workload, "cluster": cluster, "admission": admission, "scheduler": scheduler,
        "placement": placement, "termination": termination, "performance": performance,
        "overheads": overheads, "belief": belief, "compat": compat, "round_s": round_s, "clock": clock,
        "window": window, "jobs": jobs, "seed": seed, "max_rounds": max_rounds, "backend": backend,
        "speedup": speedup, "label": label,
    }  # fmt: skip
    from contextlib import nullcontext

    from blox.cli.experiments import note_other_jobs
    from blox.cli.show import show_runs, written
    from blox.errors import BloxError
    from blox.results.place import claimed

    if report and out is None:
        raise BloxError("--report has nowhere to go", where="blox run", fix="add --out DIR")
    with nullcontext() if out is None else claimed(out) as claim:
        result = _run(experiment, settings, ignore_checksum=ignore_checksum)
        if claim is not None:  # before anything is printed: a reader of the output may close it
            result.save(claim.directory, claim)
            if report:
                from blox.report.page import write_report

                write_report(claim.place / "report.html", [result])
    show_runs([result])
    if experiment is not None and not any(value is not None for value in settings.values()):
        note_other_jobs(experiment, result.experiment)
    if out is not None:
        written(out, report)


def _run(file: Path | None, settings: Mapping[str, Any], *, ignore_checksum: bool) -> Result:
    """The result of the experiment, with progress on a terminal."""
    from blox.cli.experiments import experiment_from
    from blox.cli.progress import one_run
    from blox.errors import BloxError
    from blox.experiment.parts import real_speedup

    prepared = experiment_from(file, settings, ignore_checksum=ignore_checksum)
    speedup, real = settings["speedup"], real_speedup(prepared.backend_part)
    if speedup is not None and real is None:
        raise BloxError(
            "only real processes take time that could be sped up; a simulation is as fast as it can be",
            where="--speedup",
            fix="leave it out, or add --backend process",
        )
    if speedup is not None and speedup != real:
        raise BloxError(
            f"--speedup {speedup:g} together with --backend {prepared.experiment.backend}",
            where="--speedup",
            fix="give it once: as an option of the backend",
        )
    if real is not None:
        from blox.cli.real_time import note_real_time

        note_real_time(prepared, real)
    with one_run(prepared.experiment.scheduler) as progress:
        return prepared.run(progress)
