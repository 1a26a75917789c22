"""Asks pages: runs what they need, resuming what was finished, and writes down what came out.

Measurements come first, one after the other: simulations beside them would change what is measured. Then the
runs of all pages are one list, in the order of the pages; a page is made as soon as its own have ended.

Runs go to `runs/`, which all pages share: an experiment that two of them need is run once. In the page's own
folder: `numbers.csv` (a row per run), `finding.json` (the whole page as data) and the pictures as
`figure.png` and `figure.svg`; `measured.json` where no simulation answers.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from blox.errors import BloxError
from blox.experiment.parallel import Outcome, Task, cores, run_each
from blox.experiment.run_folders import finished_outcome, run_name
from blox.experiment.settings import Experiment
from blox.experiment.sweep import check_all
from blox.report.charts import save_charts
from blox.reproduce.answer import Answer, Finding, Word
from blox.reproduce.catalogue import page_called
from blox.reproduce.page import Case, Done, Measurement, Page, Setting, Unavailable
from blox.results.files import write_text
from blox.version import VERSION

FINDING, MEASURED = "finding.json", "measured.json"
FILES = ("numbers.csv", FINDING, MEASURED, "figure.png", "figure.svg")
RUNS = "runs"
# tasks, their names, how many others had finished before -> each task's number and outcome, as they end
RunTasks = Callable[[Sequence[Task], Sequence[str], int], Iterator[tuple[int, Outcome]]]


class RunsFailed(Exception):
    """Some runs of a page have failed; what has finished is kept."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = outcomes
        super().__init__(f"{len(outcomes)} runs failed")


def check(names: Sequence[str], setting: Setting) -> None:
    """Builds every run of every page, so that a mistake is told before the first starts."""
    cases = [case for name in names for case in _all_cases(page_called(name), setting)]
    check_all(list(dict.fromkeys(case.experiment for case in cases)))


def reproduce(
    names: Sequence[str],
    out: Path,
    setting: Setting | None = None,
    run: RunTasks | None = None,
    measuring: Callable[[str], None] | None = None,
) -> Generator[tuple[str, Answer | Unavailable | RunsFailed]]:
    """Asks pages and writes their folders in `out`: yields each in turn, as soon as it can be answered.

    Every file is there whole, or as it was before. `run` carries the runs out, by default in silence;
    `measuring` is told of a page before it measures. A page without an answer is yielded with the reason, and
    stops no other.
    """
    setting = setting or Setting()
    asked = {name: page_called(name) for name in names}
    measured = {
        name: _measured(page, out / name, setting, measuring or (lambda name: None))
        for name, page in asked.items()
        if isinstance(page, Measurement)
    }
    cases = {name: _all_cases(page, setting) for name, page in asked.items()}
    runs = _Runs(cases, out / RUNS, run or (lambda tasks, names, finished: run_each(tasks, cores())))
    for name, page in asked.items():
        values = measured.get(name, {})
        try:
            if isinstance(values, Unavailable):
                raise values
            answer, done = _answer(name, page, setting, runs.done(cases[name]), values)
        except (Unavailable, RunsFailed) as reason:
            yield name, reason
            continue
        _write(out / name, done, answer)
        yield name, answer


def _all_cases(page: Page, setting: Setting) -> list[Case]:
    probed = [case for probe in page.probes for case in probe.cases(setting)]
    return [*page.cases(setting), *probed]


class _Runs:
    """The runs of several pages as one list: each experiment once, those of the first page first."""

    def __init__(self, cases: Mapping[str, Sequence[Case]], folder: Path, run: RunTasks) -> None:
        names: dict[Experiment, str] = {}
        for page, own in cases.items():
            for case in own:
                names.setdefault(case.experiment, f"{page}: {case.line}, {case.x:g}")
        tasks = {experiment: Task(experiment, folder / run_name(experiment)) for experiment in names}
        found = {experiment: finished_outcome(task) for experiment, task in tasks.items()}
        self._outcomes = {experiment: outcome for experiment, outcome in found.items() if outcome is not None}
        self._left = [experiment for experiment in tasks if experiment not in self._outcomes]
        self._ending = run(
            [tasks[each] for each in self._left], [names[each] for each in self._left], len(self._outcomes)
        )

    def done(self, cases: Sequence[Case]) -> dict[Case, Done]:
        """These cases as they have been run, once all of them have ended; RunsFailed if one has failed."""
        while not all(case.experiment in self._outcomes for case in cases):
            number, outcome = next(self._ending)
            self._outcomes[self._left[number]] = outcome
        outcomes = {case: self._outcomes[case.experiment] for case in cases}
        if failed := [outcome for outcome in outcomes.values() if outcome.error is not None]:
            raise RunsFailed(list(dict.fromkeys(failed)))
        done = {}
        for case, outcome in outcomes.items():
            assert outcome.result is not None and outcome.task.directory is not None
            done[case] = Done(case, outcome.result, outcome.task.directory)
        return done


def _answer(
    name: str, page: Page, setting: Setting, found: Mapping[Case, Done], measured: Mapping[str, Any]
) -> tuple[Answer, list[Done]]:
    """The page as data, and its own runs."""
    done = [found[case] for case in page.cases(setting)]
    finding = page.judged(measured) if isinstance(page, Measurement) else page.finding(done)
    probed = [probe.cause([found[case] for case in probe.cases(setting)]) for probe in page.probes]
    if missing := _unfinished(page, done):
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
    return answer, done


def _measured(
    page: Measurement, folder: Path, setting: Setting, measuring: Callable[[str], None]
) -> Mapping[str, Any] | Unavailable:
    """What was measured in this setting, from the file where it is there; otherwise measured now and kept."""
    path, asked = folder / MEASURED, {"scale": setting.scale, "seed": setting.seed, "blox_version": VERSION}
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(path.read_text(encoding="utf-8"))
        if {key: kept[key] for key in asked} == asked:
            return dict(kept["values"])
    measuring(folder.name)
    try:
        values = page.measure(setting)
    except Unavailable as needs:
        return needs
    text = json.dumps({**asked, "values": dict(values)}, indent=2) + "\n"
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


def _unfinished(page: Page, done: Sequence[Done]) -> str:
    """A sentence about the jobs that did not finish; nothing if all did."""
    missing: dict[str, int] = {}
    for each in done:
        jobs, finished = (each.result.summary.get(key, 0) for key in ("jobs", "finished"))
        if finished < jobs:
            missing[each.case.line] = missing.get(each.case.line, 0) + jobs - finished
    lines = ", ".join(f"{count:,} of {line}" for line, count in missing.items())
    return f"Jobs that did not finish {page.unfinished}: {lines}." if missing else ""


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
