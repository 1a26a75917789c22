"""`blox compare`: several schedulers on the same workload, in parallel, in one table and one report."""

from __future__ import annotations

from blox.cli import options

USUAL = ("fifo", "srtf", "las")  # compared where no scheduler is named


def compare(
    experiment: options.Settings = None,
    workload: options.Workload = None,
    cluster: options.Cluster = None,
    admission: options.Admissions = None,
    scheduler: options.Schedulers = None,
    placement: options.Placements = None,
    termination: options.Termination = None,
    performance: options.Performance = None,
    overheads: options.Overheads = None,
    belief: options.Belief = None,
    compat: options.Compats = None,
    round_s: options.Round = None,
    clock: options.Clock = None,
    window: options.Window = None,
    jobs: options.Jobs = None,
    seed: options.Seed = None,
    max_rounds: options.MaxRounds = None,
    out: options.Out = None,
    report: options.ReportToo = True,
    processes: options.Processes = None,
    ignore_checksum: options.IgnoreChecksum = False,
) -> None:
    """Run several schedulers on the same workload and compare them.

    --scheduler, --admission, --placement and --compat take several values, joined with commas or given
    again; every combination runs. A TOML file may have lists for them. Presets of --compat decide all
    three and run beside the combinations. Where nothing of this is given, fifo, srtf and las are compared.
    """
    single = {
        "workload": workload, "cluster": cluster, "termination": termination, "performance": performance,
        "overheads": overheads, "belief": belief, "round_s": round_s, "clock": clock, "window": window,
        "jobs": jobs, "seed": seed, "max_rounds": max_rounds,
    }  # fmt: skip
    several = {"admission": admission, "scheduler": scheduler, "placement": placement, "compat": compat}
    from blox.cli.grids import check_targets, failures, folder_of_runs, grid_from, names_of, run_tasks
    from blox.cli.show import show_runs, written
    from blox.experiment.parallel import Task
    from blox.experiment.sweep import check_all, slug
    from blox.results.files import write_text
    from blox.results.result import Result
    from blox.toml_text import to_toml

    with folder_of_runs(out, "compare.toml", "report.html"):
        grid = grid_from(experiment, single, several, schedulers=USUAL, ignore_checksum=ignore_checksum)
        experiments = grid.experiments()
        check_all(experiments)
        names = names_of(experiments)
        places = [None if out is None else out / slug(name) for name in names]
        tasks = [Task(each, place) for each, place in zip(experiments, places)]
        check_targets(tasks)
        outcomes = run_tasks(tasks, names, processes)
        results = [outcome.result for outcome in outcomes if outcome.result is not None]
        if out is not None and results:  # before anything is printed: a reader of the output may close it
            write_text(out / "compare.toml", to_toml(grid.to_table()))
            if report:
                from blox.report.page import write_report

                kept = [outcome.task.directory for outcome in outcomes if outcome.result is not None]
                write_report(out / "report.html", [Result.load(place) for place in kept if place is not None])
    if results:
        show_runs(results)
    if out is not None and results:
        written(out, report)
    failures(outcomes)
