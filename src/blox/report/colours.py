"""Colours that remain distinct for colour-blind readers, on white, on black and on paper.

Runs and causes take Okabe and Ito's palette (Color Universal Design, 2008) without its yellow, which is
lost on white; jobs take Paul Tol's "light" scheme, on which dark text can be read.
"""

from __future__ import annotations

_RUNS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
_MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
PATTERNS = ("", "/", "x", ".")  # of plotly's bars; matplotlib's hatches, too
_DASHES = ("solid", "dash", "dot", "dashdot")
JOBS = (
    "#77aadd",
    "#ee8866",
    "#bbcc33",
    "#ffaabb",
    "#44bb99",
    "#eedd88",
    "#99ddff",
    "#aaaa00",
    "#c9b3e6",
    "#d0d0d0",
)

CAUSES = {
    "admission": "#cc79a7",
    "priority": "#0072b2",
    "capacity": "#e69f00",
    "fragmentation": "#009e73",
    "scheduler": "#f0e442",
    "arrival": "#999999",
    "eviction": "#d55e00",
}
DOWN = "#b0b0b0"  # GPUs of a node that is down


def of_run(position: int) -> str:
    """The colour of the run at this position, the same in every picture."""
    return _RUNS[position % len(_RUNS)]


def dash_of_run(position: int) -> str:
    """The line style of the run at this position: a curve on top of another shows it through its gaps."""
    return _DASHES[position % len(_DASHES)]


def mark_of_run(position: int) -> str:
    """The shape of its points: runs are told apart by more than their colour, which some share."""
    return _MARKS[(position + position // len(_RUNS)) % len(_MARKS)]


def pattern_of_run(position: int) -> str:
    """The pattern of its bars, one of PATTERNS: runs that share a colour differ in it."""
    return PATTERNS[position // len(_RUNS) % len(PATTERNS)]


def width_of_run(position: int) -> float:
    """The width of its line: later runs are drawn on top, so they are thinner and hide none below."""
    return max(1.2, 2.6 - 0.3 * position)


def of_job(row: int) -> str:
    """The colour of a job, the same in every run of a workload. Neighbours in the queue differ."""
    return JOBS[job_position(row)]


def job_position(row: int) -> int:
    """The position of that colour in JOBS."""
    # Without the second term, jobs submitted a palette's length apart would look alike.
    return (row + 3 * (row // len(JOBS))) % len(JOBS)


def faint(colour: str, opacity: float) -> str:
    """A `#rrggbb` colour as `rgba(...)`."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
