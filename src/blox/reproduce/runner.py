"""Asks a page: runs its cases, resuming what was finished, and writes down what came out.

Runs go to `runs/`, which all pages share: an experiment that two of them need is run once. In the page's own
folder: `numbers.csv` (a row per run), `finding.json` (the whole page as data) and the pictures as
`figure.png` and `figure.svg`; `measured.json` where no simulation answers.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from blox.errors import BloxError
from blox.experiment.parallel import Outcome, Task, cores, run_tasks
from blox.experiment.sweep import check_all, finished_outcome, run_name
from blox.report.charts import save_charts
from blox.reproduce.answer import Answer, Finding, Word
from blox.reproduce.catalogue import page_called
from blox.reproduce.page import Case, Done, Measurement, Page, Setting
from blox.results.files import write_text
from blox.version import VERSION

FINDING, MEASURED = "finding.json", "measured.json"
FILES = ("numbers.csv", FINDING, MEASURED, "figure.png", "figure.svg")
RUNS = "runs"
RunTasks = Callable[[Sequence[Task], Sequence[str], int], list[Outcome]]  # tasks, names, already finished


class RunsFailed(Exception):
    """Some runs of a page have failed; what has finished is kept."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = outcomes
        super().__init__(f"{sum(each.error is not None for each in outcomes)} runs failed")


def check(names: Sequence[str], setting: Setting) -> None:
    """Builds every run of every page, so that a mistake is told before the first starts."""
    cases = [case for name in names for case in _all_cases(page_called(name), setting)]
    check_all(list(dict.fromkeys(case.experiment for case in cases)))


def reproduce(name: str, out: Path, setting: Setting | None = None, run: RunTasks | None = None) -> Answer:
    """Asks one page and writes its folder in `out`; every file is there whole, or as it was before."""
    page, setting, folder = page_called(name), setting or Setting(), out / name
    found = _run(name, _all_cases(page, setting), out / RUNS, run or _in_silence)
    done = [found[case] for case in page.cases(setting)]
    if isinstance(page, Measurement):
        finding = page.judged(_measured(page, folder, setting))
    else:
        finding = page.finding(done)
    probed = [probe.cause([found[case] for case in probe.cases(setting)]) for probe in page.probes]
    if missing := _unfinished(done):
        finding = replace(finding, notes=(*finding.notes, missing))
    answer = Answer(
        page=name,
        title=page.title,
        claim=page.claim,
        rule=page.rule,
        setup=page.setup(setting),
        differences=page.differences,
        scale=setting.scale,
        finding=finding,
        by_seed=_by_seed(page, done),
        causes=tuple(probed),
        blox_version=VERSION,
    )
    _write(folder, done, answer)
    return answer


def _in_silence(tasks: Sequence[Task], names: Sequence[str], finished: int) -> list[Outcome]:
    return run_tasks(tasks, cores())


def _all_cases(page: Page, setting: Setting) -> list[Case]:
    probed = [case for probe in page.probes for case in probe.cases(setting)]
    return [*page.cases(setting), *probed]


def _run(name: str, cases: Sequence[Case], folder: Path, run: RunTasks) -> dict[Case, Done]:
    tasks = {case.experiment: Task(case.experiment, folder / run_name(case.experiment)) for case in cases}
    names = {case.experiment: f"{name}: {case.line}, {case.x:g}" for case in reversed(cases)}
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
    done = {}
    for case in cases:
        result, directory = outcomes[case.experiment].result, tasks[case.experiment].directory
        assert result is not None and directory is not None
        done[case] = Done(case, result, directory)
    return done


def _measured(page: Measurement, folder: Path, setting: Setting) -> Mapping[str, Any]:
    """What was measured at this scale, from the file where it is there; otherwise measured now and kept."""
    path, scale = folder / MEASURED, setting.scale
    with suppress(OSError, ValueError):
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["scale"] == scale:
            return dict(kept["values"])
    values = page.measure(setting)
    text = json.dumps({"scale": scale, "values": dict(values)}, indent=2) + "\n"
    write_text(path, text)
    return dict(json.loads(text)["values"])


def _by_seed(page: Page, done: Sequence[Done]) -> dict[str, Word]:
    """The rule once more, on the runs of each seed alone; nothing where there is but one."""
    seeds = sorted({each.seed for each in done})
    if len(seeds) < 2:
        return {}
    alone: dict[str, Finding] = {
        str(seed): page.finding([each for each in done if each.seed == seed]) for seed in seeds
    }
    return {seed: finding.verdict.word for seed, finding in alone.items()}


def _unfinished(done: Sequence[Done]) -> str:
    """A sentence about the jobs that are missing from averages; nothing if there are none."""
    missing: dict[str, int] = {}
    for each in done:
        jobs, finished = (each.result.summary.get(key, 0) for key in ("jobs", "finished"))
        if finished < jobs:
            missing[each.case.line] = missing.get(each.case.line, 0) + jobs - finished
    lines = ", ".join(f"{count:,} of {line}" for line, count in missing.items())
    return f"Jobs that did not finish are missing from the averages: {lines}." if missing else ""


def _write(folder: Path, done: Sequence[Done], answer: Answer) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if answer.finding.charts:
        with suppress(BloxError):  # without matplotlib there is the book
            save_charts(answer.finding.charts, folder / "figure")
    if done:
        write_text(folder / "numbers.csv", _numbers(done))
    answer.save(folder / FINDING)


def _numbers(done: Sequence[Done]) -> str:
    """A row per run: its line, its place on it, its seed, and every figure of its summary."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    keys = list(dict.fromkeys(key for each in done for key in each.result.summary))
    writer.writerow(["line", "x", "seed", "run", *keys])
    for each in done:
        case, summary = each.case, each.result.summary
        values = ["" if summary.get(key) is None else summary[key] for key in keys]
        writer.writerow([case.line, f"{case.x:g}", each.seed, each.directory.name, *values])
    return file.getvalue()
