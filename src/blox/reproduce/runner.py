"""Asks a figure: runs its cases, resuming what was finished, and writes down what came out.

In the figure's folder: `runs/` (every run), `numbers.csv` (a row per run), `finding.json` (claim, rule,
table, verdict), the picture as `figure.png` and `figure.svg`, and `report.html`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape
from pathlib import Path

from blox.errors import BloxError
from blox.experiment.parallel import Outcome, Task, cores, run_tasks
from blox.experiment.sweep import check_all, finished_outcome, run_name
from blox.report.chart import interactive, save_chart
from blox.report.page import document, embedded, section
from blox.reproduce.figure import Case, Done, Figure, Finding, Setting, figure_called
from blox.results.files import write_text
from blox.version import VERSION

FILES = ("numbers.csv", "finding.json", "figure.png", "figure.svg", "report.html")
RunTasks = Callable[[Sequence[Task], Sequence[str], int], list[Outcome]]  # tasks, names, already finished


class RunsFailed(Exception):
    """Some runs of a figure have failed; what has finished is kept."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = outcomes
        super().__init__(f"{sum(each.error is not None for each in outcomes)} runs failed")


def reproduce(name: str, out: Path, setting: Setting | None = None, run: RunTasks | None = None) -> Finding:
    """Runs one figure and writes its folder `out`; every file is there whole, or as it was before."""
    figure, setting = figure_called(name), setting or Setting()
    cases = figure.cases(setting)
    check_all([case.experiment for case in cases])
    done = _run(cases, out / "runs", run or _in_silence)
    finding = figure.finding(done)
    if missing := _unfinished(done):
        finding = replace(finding, notes=(*finding.notes, missing))
    _write(out, name, figure, setting, done, finding)
    return finding


def _in_silence(tasks: Sequence[Task], names: Sequence[str], finished: int) -> list[Outcome]:
    return run_tasks(tasks, cores())


def _run(cases: Sequence[Case], folder: Path, run: RunTasks) -> list[Done]:
    tasks = {case.experiment: Task(case.experiment, folder / run_name(case.experiment)) for case in cases}
    names = {case.experiment: f"{case.line}, {case.x:g}" for case in cases}
    known = {
        experiment: outcome
        for experiment, task in tasks.items()
        if (outcome := finished_outcome(task)) is not None
    }
    left = [experiment for experiment in tasks if experiment not in known]
    ran = run([tasks[each] for each in left], [names[each] for each in left], len(known)) if left else []
    outcomes = {**known, **dict(zip(left, ran))}
    if any(outcome.error is not None for outcome in outcomes.values()):
        raise RunsFailed(list(outcomes.values()))
    done = []
    for case in cases:
        result, directory = outcomes[case.experiment].result, tasks[case.experiment].directory
        assert result is not None and directory is not None
        done.append(Done(case, result, directory))
    return done


def _unfinished(done: Sequence[Done]) -> str:
    """A sentence about the jobs that are missing from averages; nothing if there are none."""
    missing: dict[str, int] = {}
    for each in done:
        jobs, finished = (each.result.summary.get(key, 0) for key in ("jobs", "finished"))
        if finished < jobs:
            missing[each.case.line] = missing.get(each.case.line, 0) + jobs - finished
    lines = ", ".join(f"{count:,} of {line}" for line, count in missing.items())
    return f"Jobs that did not finish are missing from the averages: {lines}." if missing else ""


def _write(
    out: Path, name: str, figure: Figure, setting: Setting, done: Sequence[Done], finding: Finding
) -> None:
    with suppress(BloxError):  # without matplotlib there is the page
        save_chart(finding.chart, out / "figure")
    write_text(out / "numbers.csv", _numbers(done))
    write_text(out / "finding.json", _json(name, figure, setting, finding))
    write_text(out / "report.html", _page(name, figure, setting, finding))


def _numbers(done: Sequence[Done]) -> str:
    """A row per run: its line, its place on it, its seed, and every figure of its summary."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    keys = list(dict.fromkeys(key for each in done for key in each.result.summary))
    writer.writerow(["line", "x", "seed", "run", *keys])
    for each in done:
        case, summary = each.case, each.result.summary
        values = ["" if summary.get(key) is None else summary[key] for key in keys]
        writer.writerow([case.line, f"{case.x:g}", case.experiment.seed, each.directory.name, *values])
    return file.getvalue()


def _json(name: str, figure: Figure, setting: Setting, finding: Finding) -> str:
    table = {
        "figure": name,
        "title": figure.title,
        "claim": figure.claim,
        "rule": figure.rule,
        "setup": figure.setup(setting),
        "scale": setting.scale,
        "verdict": finding.verdict.word,
        "reason": finding.verdict.reason,
        "table": {"heads": list(finding.heads), "rows": [list(row) for row in finding.rows]},
        "lines": {line.name: {"x": list(line.x), "y": list(line.y)} for line in finding.chart.lines},
        "notes": list(finding.notes),
        "blox_version": VERSION,
    }
    return json.dumps(table, indent=2) + "\n"


def _page(name: str, figure: Figure, setting: Setting, finding: Finding) -> str:
    heads = "".join(f"<th>{escape(head)}</th>" for head in finding.heads)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in finding.rows
    )
    table = f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
    verdict = finding.verdict
    sections = [
        section(
            "picture", figure.title, figure.setup(setting), embedded("chart", interactive(finding.chart))
        ),
        section("numbers", "Our numbers", " ".join(finding.notes), table),
        section("rule", "How the verdict comes about", figure.rule, ""),
    ]
    return document(
        f"blox reproduce {name}",
        f"The claim {verdict.word}: {verdict.reason}.",
        f"The paper: {figure.claim}",
        sections,
    )
