"""Stories of single jobs: the longest waits in words, and those that a click in the Gantt view tells.

A story says why a job waited and when it ran. A page holds those of the jobs that it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from blox.explain import RUNNING, Explanation
from blox.report import colours, gpu_bars, units
from blox.report.certainty import seeds_told
from blox.report.labels import labels
from blox.report.page_parts import packed, scrolled, section, swatch
from blox.report.run import Array, Run
from blox.results.result import Result
from blox.results.samples import runs_of

_MOST_TOLD = 20  # longest waits in a page, of all runs together
_LONGEST = range(2, 6)  # of each run so many
_NAMED = ("model", "tenant", "user")  # facts of a job, where it has them


class Stories:
    """The stories that a page tells: of jobs by their row, in runs by their position."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs, self._names = runs, labels(runs)
        self._explained = [_explanation(run) for run in runs]
        self._wanted: dict[tuple[int, int], None] = {}

    def longest_waits(self) -> list[str]:
        """A section with the longest waits of every run; none where runs do not tell of single jobs."""
        most = min(max(_MOST_TOLD // len(self._runs), _LONGEST[0]), _LONGEST[-1])
        rows = []
        for position, explained in enumerate(self._explained):
            if explained is None:
                continue
            for row in _longest(explained.result, most):
                self._wanted[position, row] = None
                rows.append(self._wait(position, row, explained))
        if not rows:
            return []
        caption = (
            f"The {most} jobs of each run that waited longest, and why.{seeds_told(self._runs)[0]} "
            "A click on a job shows its life."
        )
        head = "".join(f"<th>{text}</th>" for text in ("run", "job", "waited", "its story"))
        table = f'<table class="stories"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
        return [section("longest-waits", "Stories of the longest waits", caption, scrolled(table), long=True)]

    def _wait(self, position: int, row: int, explained: Explanation) -> str:
        jobs = explained.result.jobs
        waited = units.duration(float(jobs["waited_s"][row]))
        return (
            f'<tr><th class="name">{swatch(position)}{escape(self._names[position])}</th>'
            f"<td>{_button(position, row, str(jobs['job_id'][row]))}</td><td>{waited}</td>"
            f'<td class="words">{escape(explained.sentence(row))}</td></tr>'
        )

    def want(self, position: int, rows: Array) -> None:
        """Also tells the stories of these jobs."""
        for row in np.unique(rows).tolist():
            self._wanted[position, int(row)] = None

    def html(self) -> str:
        """What tells them: a dialog, a field for a job's id, and the stories themselves."""
        told: dict[str, dict[str, Any]] = {}
        for position, row in sorted(self._wanted):
            explained = self._explained[position]
            if explained is not None:
                several = len(runs_of(self._runs[position])) > 1
                told.setdefault(str(position), {})[str(row)] = _story(explained, row, several)
        if not told:
            return ""
        causes = {RUNNING: "", **colours.CAUSES}
        data = {"runs": self._names, "causes": causes, "stories": told}
        choices = "".join(f'<option value="{at}">{escape(self._names[int(at)])}</option>' for at in told)
        return (
            '<form class="ask-story"><label>Story of job '
            '<input name="job" type="text" autocomplete="off"></label> '
            f'<label>in <select name="run">{choices}</select></label> <button>Tell</button>'
            '<output role="status"></output></form>'
            '<dialog id="story" aria-labelledby="story-title"><h2 id="story-title"></h2><p class="facts"></p>'
            '<div class="life"></div><ul class="legend"></ul><p class="sentence"></p>'
            '<form method="dialog"><button>Close</button></form></dialog>' + packed("stories", data)
        )


def _explanation(run: Run) -> Explanation | None:
    """What explains a run, of several seeds the first; None of a run without the tables that tell of jobs."""
    first = runs_of(run)[0]
    known = isinstance(first, Result) and "waited_s" in first.jobs and "job" in first.stints
    return Explanation(first) if known and len(first.rounds["time_s"]) else None


def _longest(result: Result, most: int) -> list[int]:
    waited = np.nan_to_num(np.asarray(result.jobs["waited_s"], dtype=np.float64))
    first = np.argsort(-waited, kind="stable")[:most]
    return [int(row) for row in first if waited[row] > 0]


def _story(explained: Explanation, row: int, several: bool) -> dict[str, Any]:
    """A job: its id, facts, sentence, and its life as [from, to, cause], in whole seconds. `several`: the run
    was made with several seeds, and the story says of which one it is."""
    jobs, history = explained.result.jobs, explained.history(row)
    named = [f"{name} {jobs[name][row]}" for name in _NAMED if name in jobs and str(jobs[name][row])]
    begin, end = history[0].start_s if history else 0.0, history[-1].end_s if history else 0.0
    shortest = (end - begin) / 500  # not seen at the width of a page
    life = [
        [round(each.start_s), round(each.end_s), each.state] for each in history if each.seconds >= shortest
    ]
    gpus, submitted = int(jobs["gpus"][row]), units.duration(float(jobs["submit_s"][row]))
    seed = [f"seed {explained.result.experiment.get('seed', 0)}"] if several else []
    facts = [f"{gpus} GPU{'s' if gpus != 1 else ''}", *named, *seed, f"submitted at {submitted}"]
    return {
        "id": str(jobs["job_id"][row]),
        "facts": " · ".join(facts),
        "sentence": explained.sentence(row, history),
        "span": [round(begin), round(end)],
        "life": life,
    }


def _button(position: int, row: int, name: str) -> str:
    where = f'data-run="{position}" data-row="{row}"'
    return f'<button type="button" class="link" {where}>{escape(name)}</button>'


def gantt_rows(run: Run, window: gpu_bars.GanttWindow) -> Array:
    """The rows of the jobs that the Gantt view shows of a run."""
    return gpu_bars.bars(run, window.gpus).between(window.start_s, window.end_s).job
