"""`blox run`: one experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blox.cli import figures, options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from blox.experiment.prepared import Prepared
    from blox.results.result import Result


def run(
    experiment: options.Settings = None,
    workload: options.Workload = None,
    cluster: options.Cluster = None,
    admission: options.Admission = None,
    scheduler: options.Scheduler = None,
    placement: options.Placement = None,
    auto: options.Auto = None,
    termination: options.Termination = None,
    performance: options.Performance = None,
    overheads: options.Overheads = None,
    failures: options.Failures = None,
    reservation: options.Reservation = None,
    reports: options.Reports = None,
    belief: options.Belief = None,
    compat: options.Compat = None,
    round_s: options.Round = None,
    clock: options.Clock = None,
    window: options.Window = None,
    jobs: options.Jobs = None,
    seed: options.Seed = None,
    seeds: options.Seeds = None,
    max_rounds: options.MaxRounds = None,
    apps: options.Apps = None,
    policy_timeout: options.PolicyTimeout = None,
    backend: options.Backend = None,
    prices: options.Prices = None,
    power: options.Power = None,
    metric: options.Metrics = None,
    by: options.By = None,
    measures: options.Measures = None,
    table: options.Tables = None,
    label: options.Label = None,
    out: options.Out = None,
    report: options.Report = False,
    trace_decisions: options.TraceDecisions = False,
    processes: options.Processes = None,
    ignore_checksum: options.IgnoreChecksum = False,
) -> None:
    """Run one experiment: a TOML file, options, or both; options override the file.

    Prints the figures and why jobs waited. With --out DIR, DIR/experiment.toml runs it again, to the byte.
    With --seeds N, figures are means over N runs, with 95 % intervals; DIR has a folder for each.
    """
    settings = options.settings_of(locals())
    from blox.cli.experiments import experiment_from, note_other_jobs, seeds_from, several_told
    from blox.cli.replicate import replicate

    every_seed = seeds_from(experiment, seed, seeds)
    _check_wanted(out, every_seed, report=report, trace_decisions=trace_decisions)
    tables = figures.Tables.of(by, table, measures)
    settings["seed"] = every_seed[0] if len(every_seed) > 1 else seed
    with several_told(settings):
        prepared = experiment_from(experiment, settings, ignore_checksum=ignore_checksum)
    tables.check([prepared.experiment])
    if len(every_seed) > 1:
        return replicate(
            prepared.experiment, every_seed, out, report=report, processes=processes, tables=tables
        )
    result = _run_and_show(prepared, out, report, tables, trace_decisions=trace_decisions)
    if experiment is not None and not any(value is not None for value in settings.values()):
        note_other_jobs(experiment, result.experiment)


def _check_wanted(out: Path | None, seeds: Sequence[int], *, report: bool, trace_decisions: bool) -> None:
    """Refuses files without a directory, and the decisions of several runs."""
    from blox.errors import BloxError

    for option, given in (("--report", report), ("--trace-decisions", trace_decisions)):
        if given and out is None:
            raise BloxError(f"{option} has nowhere to go", where="blox run", fix="add --out DIR")
    if trace_decisions and len(seeds) > 1:
        raise BloxError(
            f"--trace-decisions with {len(seeds)} seeds: decisions are those of one run",
            where="blox run",
            fix=f"run one of them: --seed {seeds[0]} --seeds 1",
        )


def _run_and_show(
    prepared: Prepared,
    out: Path | None,
    report: bool,
    tables: figures.Tables,
    *,
    trace_decisions: bool,
) -> Result:
    """Runs one experiment, saves it where `out` says so, and prints its figures."""
    from contextlib import nullcontext

    from blox.cli.show import show_runs, written
    from blox.results.place import claimed

    with nullcontext() if out is None else claimed(out) as claim:
        result = _run(prepared, trace_decisions=trace_decisions)
        if claim is not None:  # before anything is printed: a reader of the output may close it
            result.save(claim.directory, claim)
            if report:
                from blox.report.page import write_report

                write_report(claim.place / "report.html", [result], by=tables.by, measures=tables.measures)
    show_runs([result])
    tables.show([result])
    if out is not None:
        written(out, report)
    return result


def _run(prepared: Prepared, *, trace_decisions: bool) -> Result:
    """The result of the experiment, with progress on a terminal."""
    from blox.cli.progress import one_run

    with one_run(prepared.experiment.scheduler) as progress:
        return prepared.run(progress, trace_decisions=trace_decisions)
