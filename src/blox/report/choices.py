"""Which combination of policies ruled when, and what each would have given: of runs that choose among some.

Drawn like the paper's Figures 15 and 21: a row per combination, a bar while it ruled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from blox.report.charts import Chart, Line
from blox.report.charts.spans import Spans
from blox.report.page_parts import scrolled
from blox.report.run import Array, Run
from blox.report.units import axis_unit
from blox.results.samples import runs_of


@dataclass(frozen=True)
class Reigns:
    """The choices of a run. `name`: combinations; `ruling`: which of them from each time (s) on.

    Until the first choice the first combination ruled.
    `scores` (choices x combinations): how each would have done, the smallest for the best; inf: no value.
    """

    name: list[str]
    time_s: Array
    ruling: Array
    scores: Array
    end_s: float

    @classmethod
    def of(cls, run: Run) -> Reigns | None:
        """The choices of a run, of several seeds the first; None where it made none."""
        run = runs_of(run)[0]
        table = run.tables.get("choices")
        if table is None or not len(table["time_s"]):
            return None
        count = int((table["time_s"] == table["time_s"][0]).sum())
        rules = np.asarray(table["rules"]).reshape(-1, count)
        return cls(
            [str(name) for name in table["combination"][:count]],
            np.asarray(table["time_s"])[::count],
            rules.argmax(axis=1),
            np.asarray(table["score"]).reshape(-1, count),
            float(run.summary["end_s"]),
        )

    def bars(self, combination: int) -> list[tuple[float, float]]:
        """(start, end) of each time in which a combination ruled without interruption (s)."""
        ends = np.append(self.time_s[1:], self.end_s)
        found: list[tuple[float, float]] = []
        for at in np.flatnonzero(self.ruling == combination).tolist():
            start, end = float(self.time_s[at]), float(ends[at])
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, end))
        return found

    def share(self, combination: int) -> float:
        """The part of the time since the first choice in which a combination ruled."""
        span = self.end_s - float(self.time_s[0])
        return sum(end - start for start, end in self.bars(combination)) / span if span > 0 else 0.0

    @property
    def behind(self) -> Array:
        """How far each combination would be behind the best (choices x combinations); nan: no value."""
        with np.errstate(invalid="ignore"):  # of choices in which no combination has a value
            behind: Array = self.scores / self.scores.min(axis=1, keepdims=True) - 1
        return np.where(np.isfinite(behind), behind, np.nan)


def timeline(reigns: Reigns, run: Run) -> Spans:
    """A row per combination, a bar while it ruled, from the first submission of the run on."""
    spans = [reigns.bars(at) for at in range(len(reigns.name))]
    begin_s, first_s = float(run.jobs["submit_s"][0]), float(reigns.time_s[0])
    if begin_s < first_s:
        joined_s = spans[0].pop(0)[1] if reigns.ruling[0] == 0 else first_s
        spans[0].insert(0, (begin_s, joined_s))
    return Spans(tuple(reigns.name), tuple(map(tuple, spans)), reigns.end_s)


def lead(reigns: Reigns) -> Chart:
    """What each combination would have given at every choice, against the best one."""
    unit = axis_unit(float(reigns.time_s[-1]))
    times = tuple((reigns.time_s / unit.seconds).tolist())
    behind = 100 * reigns.behind
    lines = tuple(Line(name, times, tuple(behind[:, at].tolist())) for at, name in enumerate(reigns.name))
    return Chart(f"time ({unit.name})", "would be behind the best by (%)", lines)


def told(run: Run) -> list[str]:
    """Which combinations ruled for how long, what choosing cost, choices that no figure decided, and another
    backend ahead than in the run. Of several seeds those of the first, which is said."""
    first, *others = runs_of(run)
    seed = f"with seed {first.experiment['seed']}, the first of {1 + len(others)}, " if others else ""
    reigns = Reigns.of(run)
    if reigns is None:
        return []
    shares = sorted(((reigns.share(at), name) for at, name in enumerate(reigns.name)), reverse=True)
    longest = ", ".join(f"{name} {100 * share:.0f} %" for share, name in shares[:3] if share >= 0.005)
    found = [f"{seed}ruled since the first choice: {longest} of the time; {counted(run, len(reigns.time_s))}"]
    if blind := int((~np.isfinite(reigns.scores)).all(axis=1).sum()):
        found.append(
            f"{seed}the objective had no value at {blind:,} of {len(reigns.time_s):,} choices: "
            "the combination that ruled stayed"
        )
    return [*found, *simulated_ahead(run.experiment)]


def simulated_ahead(experiment: Mapping[str, Any]) -> list[str]:
    """That a look ahead simulates otherwise than the run, in words; nothing where both are the simulation."""
    named = str(experiment.get("backend", "simulation"))
    if named == "simulation":
        return []
    return [
        f"looks ahead used the backend simulation, not {named}: what that backend changes is not foreseen"
    ]


def counted(run: Run, choices: int) -> str:
    """How many choices and changes there were, and what they cost, where that is known.

    Of several seeds, the first.
    """
    run = runs_of(run)[0]
    changes, cpu_s = int(run.summary.get("changes_of_policy", 0)), run.timing.get("choices_cpu_s")
    cost = "" if cpu_s is None else f", which took {float(cpu_s):.3g} s of CPU time in all"
    return f"{choices:,} choice{'s' * (choices != 1)}{cost}; {changes:,} change{'s' * (changes != 1)}"


def table(reigns: Reigns) -> str:
    """How long each combination ruled, how often it would have been the best, and how far it was from it."""
    best = reigns.scores.argmin(axis=1)
    tied = reigns.scores <= reigns.scores.min(axis=1, keepdims=True) * (1 + 1e-12)
    heads = ("combination", "ruled", "alone the best", "as good as the best", "behind the best, on average")
    rows = []
    for at, name in enumerate(reigns.name):
        alone = float(((best == at) & (tied.sum(axis=1) == 1)).mean())
        behind = reigns.behind[:, at]
        behind = behind[np.isfinite(behind)]
        texts = (
            *(f"{100 * part:.1f} %" for part in (reigns.share(at), alone, float(tied[:, at].mean()))),
            f"{100 * behind.mean():.2f} %" if len(behind) else "–",
        )
        rows.append(f"<tr><th>{escape(name)}</th>{''.join(f'<td>{text}</td>' for text in texts)}</tr>")
    head = "".join(f"<th>{text}</th>" for text in heads)
    body = "".join(rows)
    return scrolled(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def chosen(runs: Sequence[Run]) -> list[tuple[int, Reigns]]:
    """The runs that choose among policies: position and choices."""
    found = ((position, Reigns.of(run)) for position, run in enumerate(runs))
    return [(position, reigns) for position, reigns in found if reigns is not None]
