"""The options that `run`, `compare` and `sweep` share: one per setting of an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

_PARTS, _TIME, _FIGURES, _OUTPUT = "What runs", "Time and jobs", "Figures", "Output"


def _text(words: str, panel: str = _PARTS, metavar: str = "SPEC") -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        help=words, rich_help_panel=panel, metavar=metavar, show_default=False
    )
    return option


WORKLOAD = "philly:load=8, gavel, trace.csv, FORMAT:PATH?key=value, ./mine.py:Class."
CLUSTER = "32x4, v100=9x4,p100=9x4, h100=9x4:speed=3.1, 16x8:cpu=24, slurm:sinfo.txt, or a TOML file."
ADMISSION = "Which jobs may enter: accept-all, threshold:factor=1.2, quota:..."
SCHEDULER = "Which job goes first: fifo, srtf, las, themis, ./mine.py:Class."
PLACEMENT = "On which GPUs: first-free, consolidated, synergy:mode=tune, profile, count."
AUTO = (
    "Choose while running; may be repeated: scheduler=fifo,srtf,las; admission=A,B; every=10,belief=none; "
    "objective=avg_jct+./mine.py:function."
)
TERMINATION = "When jobs end: completed, loss:threshold=0.002, loss:target=0.35, ./mine.py:Class."
PERFORMANCE = (
    "How fast jobs run: auto, duration, spread, goodput, throughputs, sensitivity, table:path=speeds.csv."
)
OVERHEADS = "none, per-model, or launch=30,restart=60,resize=20,checkpoint=30m,checkpoint_cost=20."
FAILURES = "none, mtbf=30d,repair=4h, trace:outages.csv, drain:node=3,at=36h,lasts=2h,notice=1h."
REPORTS = "What simulated jobs report: auto, none, loss:share=0.75,at=0.4, loss-file:path=curves.csv."
RESERVATION = (
    "Times in which nodes are kept for some jobs, or for none: TOML. Short for --failures reserve:FILE."
)
BELIEF = "What policies think of durations: oracle, noisy:sigma=0.5, limit:unlimited=7d (time limits)."
COMPAT = "Behave like another system: blox:policy=Las. See `blox compat`."
ROUND = "Length of a round."
CLOCK = "rounds, or events."
WINDOW = "Measure these jobs, counted from 0, both included."
JOBS = "Submit no more jobs than this."
SEED = "Seed of everything random."
SEEDS = "Run so many seeds, from --seed on: figures are means, with 95 % intervals."
MAX_ROUNDS = "Stop after so many rounds."
APPS = "Whose fairness is measured: jobs with the same group, user, tenant or model; job: each by itself."
BACKEND = "simulation, ./mine.py:Class. For real processes: `blox replay`."
PRICES = "What a GPU costs per hour: 2.5, or v100=2.5,k80=0.45."
POLICY_TIMEOUT = "Stop where a call into a file of your own takes longer; 300 by default."
POWER = "Watts of a GPU busy/idle: 300/60, or v100=300/60,k80=150/30."
METRIC = "Also work out: evenness, waited-over:hours=1, ./mine.py:function. See `blox policies metric`."
BY = "Also show figures by this column of jobs: gpus, tenant, user, model, job_type, ... or your own."
MEASURES = (
    "What --by shows: all, or some of jct, responsiveness, waiting, slowdown, fairness, ..., p99_jct_s."
)
TABLE = "Also write the tables to this file: .csv, .md or .tex."

Settings = Annotated[
    Path | None,
    typer.Argument(metavar="EXPERIMENT.toml", help="Settings; options override them.", show_default=False),
]
Workload = Annotated[str | None, _text(WORKLOAD)]
Cluster = Annotated[str | None, _text(CLUSTER)]
Admission = Annotated[str | None, _text(ADMISSION)]
Scheduler = Annotated[str | None, _text(SCHEDULER)]
Placement = Annotated[str | None, _text(PLACEMENT)]
Auto = Annotated[list[str] | None, _text(AUTO)]
Termination = Annotated[str | None, _text(TERMINATION)]
Performance = Annotated[str | None, _text(PERFORMANCE)]
Overheads = Annotated[str | None, _text(OVERHEADS)]
Failures = Annotated[str | None, _text(FAILURES)]
Reports = Annotated[str | None, _text(REPORTS)]
Reservation = Annotated[str | None, _text(RESERVATION, metavar="FILE")]
Belief = Annotated[str | None, _text(BELIEF)]
Compat = Annotated[str | None, _text(COMPAT)]
Round = Annotated[float | None, typer.Option("--round", help=ROUND, rich_help_panel=_TIME, metavar="SECONDS")]
Clock = Annotated[str | None, _text(CLOCK, _TIME)]
Window = Annotated[str | None, _text(WINDOW, _TIME, "FIRST-LAST")]
Jobs = Annotated[int | None, typer.Option(help=JOBS, rich_help_panel=_TIME, metavar="N")]
Seed = Annotated[int | None, typer.Option(help=SEED, rich_help_panel=_TIME, metavar="N")]
Seeds = Annotated[
    int | None,
    typer.Option(min=1, help=SEEDS, rich_help_panel=_TIME, metavar="N", show_default=False),
]
MaxRounds = Annotated[int | None, typer.Option(help=MAX_ROUNDS, rich_help_panel=_TIME, metavar="N")]
PolicyTimeout = Annotated[
    float | None,
    typer.Option(
        "--policy-timeout", help=POLICY_TIMEOUT, rich_help_panel=_TIME, metavar="SECONDS", show_default=False
    ),
]
Apps = Annotated[str | None, _text(APPS, _TIME, "COLUMN")]
Backend = Annotated[str | None, _text(BACKEND, _TIME)]
Label = Annotated[str | None, _text("What to call the run in tables and figures.", _OUTPUT, "TEXT")]
Prices = Annotated[str | None, _text(PRICES, _FIGURES, "DOLLARS")]
Power = Annotated[str | None, _text(POWER, _FIGURES, "WATTS")]

# several values: the option again and again, or joined with commas
Several = list[str] | None
Workloads = Annotated[Several, _text(WORKLOAD)]
Clusters = Annotated[Several, _text(CLUSTER)]
Admissions = Annotated[Several, _text(ADMISSION)]
Schedulers = Annotated[Several, _text(SCHEDULER)]
Placements = Annotated[Several, _text(PLACEMENT)]
Terminations = Annotated[Several, _text(TERMINATION)]
Performances = Annotated[Several, _text(PERFORMANCE)]
ManyOverheads = Annotated[Several, _text(OVERHEADS)]
ManyFailures = Annotated[Several, _text(FAILURES)]
ManyReports = Annotated[Several, _text(REPORTS)]
Beliefs = Annotated[Several, _text(BELIEF)]
Compats = Annotated[Several, _text(COMPAT)]
Rounds = Annotated[
    Several, typer.Option("--round", help=ROUND, rich_help_panel=_TIME, metavar="SECONDS", show_default=False)
]
Loads = Annotated[Several, _text("The workload's load, jobs per hour: 4,6,8 or 4-8.", _TIME, "LIST")]
SeedList = Annotated[Several, _text(SEED[:-1] + ": 0,1,2 or 0-4.", _TIME, "LIST")]

Metrics = Annotated[Several, typer.Option("--metric", help=METRIC, rich_help_panel=_FIGURES, metavar="SPEC")]
By = Annotated[Several, typer.Option("--by", help=BY, rich_help_panel=_FIGURES, metavar="COLUMN")]
Measures = Annotated[
    Several, typer.Option("--measures", help=MEASURES, rich_help_panel=_FIGURES, metavar="LIST")
]
Tables = Annotated[
    list[Path] | None, typer.Option("--table", help=TABLE, rich_help_panel=_FIGURES, metavar="FILE")
]
Baseline = Annotated[
    str | None,
    _text("Also draw figures relative to this run, by its name in the legend; the first.", _OUTPUT, "NAME"),
]
Labels = Annotated[
    Several,
    _text("What to call the runs, in order: a,b,c; or NAME=VALUE for one of the values.", _OUTPUT, "LIST"),
]

Out = Annotated[
    Path | None, typer.Option(help="Write the results here.", rich_help_panel=_OUTPUT, metavar="DIR")
]
Report = Annotated[
    bool, typer.Option("--report/--no-report", help="Also write report.html there.", rich_help_panel=_OUTPUT)
]
ReportToo = Annotated[
    bool, typer.Option("--report/--no-report", help="With --out, write report.html.", rich_help_panel=_OUTPUT)
]
History = Annotated[
    bool,
    typer.Option(
        "--history/--no-history",
        help="Also show what really happened, where the trace says when its jobs started.",
        rich_help_panel=_FIGURES,
    ),
]
Calibrate = Annotated[
    bool,
    typer.Option(
        "--calibrate",
        help="Also show how close each simulated run comes to what really happened: by size, tenant, time.",
        rich_help_panel=_FIGURES,
    ),
]
TraceDecisions = Annotated[
    bool,
    typer.Option(
        "--trace-decisions",
        help="Also write decisions.parquet there: what every round decided about every job, and why.",
        rich_help_panel=_OUTPUT,
    ),
]
IgnoreChecksum = Annotated[
    bool,
    typer.Option("--ignore-checksum", help="Run although a file has changed.", rich_help_panel=_OUTPUT),
]
Processes = Annotated[
    int | None,
    typer.Option(
        min=1, help="Run so many at once; all cores by default.", rich_help_panel=_OUTPUT, metavar="N"
    ),
]


def settings_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an experiment among the parameters of a command, by name; None: not given.

    A parameter that is a setting has its name. Two options have shorter names than their setting; metrics
    and the clauses of --auto, which may be given several times, are each one text.
    """
    from blox.experiment.settings import Experiment

    renamed = {"policy_timeout": "policy_timeout_s", "metric": "metrics"}
    found = {renamed.get(name, name): value for name, value in given.items()}
    settings = {field.name: found[field.name] for field in fields(Experiment) if field.name in found}
    if "load" in found:  # of a sweep: one of the workload
        settings["load"] = found["load"]
    for name, mark in (("metrics", ","), ("auto", ";")):
        if settings.get(name):
            settings[name] = mark.join(text.strip() for text in settings[name])
    if found.get("reservation"):
        settings["failures"] = _with_reservation(settings.get("failures"), found["reservation"])
    return settings


def _with_reservation(failures: str | list[str] | None, path: str) -> str | list[str]:
    """What fails, and the nodes that are reserved."""
    if isinstance(failures, list):
        return [str(_with_reservation(each, path)) for each in failures]
    others = "" if failures in (None, "", "none") else f"{failures}+"
    return f"{others}reserve:{path}"
