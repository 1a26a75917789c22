"""What the evidence says, in sentences and in tables of texts: for the page and for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from blox.decision.digest import Key
from blox.decision.evidence import DECIDES, EVERYONE, FEWEST_RESAMPLES, Evidence
from blox.durations import duration_text
from blox.errors import BloxError
from blox.report import units
from blox.report.calibration import CAPTION, HEADS, cells, told
from blox.report.change_text import signed
from blox.results.statistics import Interval

UNSURE = "not distinguishable"

_ONE_RUN = (
    "Intervals are 95 %, by drawing the blocks of the log again from this one run: they leave out what a "
    "backlog carries over, and are narrower than those of the changes above. Do not decide by them."
)


class Table(NamedTuple):
    """A table of texts under its heading; a row begins with what it is about."""

    name: str
    title: str
    caption: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def claim(found: Evidence) -> str:
    """The decision in one sentence."""
    study, best = found.study, found.best
    change = found.headline(best)
    if change is None:
        return (
            f"Keep {study.present}: whether {best}, the best of the shortlist, is better cannot be told. "
            f"{_no_interval(study.resamples)}"
        )
    if found.worth_it:
        return (
            f"Change from {study.present} to {best}: a job takes {units.duration(-change.estimate)} less on "
            f"average ({units.duration(-change.high)} to {units.duration(-change.low)} less)."
        )
    if change.low > 0:
        return f"Keep {study.present}: every scheduler of the shortlist is worse."
    return (
        f"Keep {study.present}: {best}, the best of the shortlist, cannot be told from it. The average JCT "
        f"changes by {signed(change)}."
    )


def _no_interval(resamples: int) -> str:
    """Why the change that decides has no interval."""
    if resamples < FEWEST_RESAMPLES:
        return f"{resamples} resamples are too few for intervals: give --resamples 10."
    return "Resamples do not show how the change varies: it is the same in all, or too few have jobs."


def price(found: Evidence) -> str:
    """What goes with it: who would wait longer, and how often jobs would be interrupted."""
    best, present = found.best, found.study.present
    worse = found.worse_off(best)
    longer = "No group of jobs would surely wait longer"
    if worse:
        named = ", ".join(f"{group} ({signed(change)})" for _, group, change in worse[:3])
        more = f" and {len(worse) - 3} more" if len(worse) > 3 else ""
        longer = f"On average these would wait longer: {named}{more}"
    stops = [found.value(each, *EVERYONE, "interruptions") for each in (present, best)]
    saved = found.saved_gpus()
    gpus = "No smaller cluster of the same kind has room for every job: what it saves in GPUs is not known."
    if saved is not None:
        total = max(found.smaller)
        gpus = f"At the average waiting of today {best} would do with {_gpus(saved)} of {total:,} GPUs less."
    return f"{longer}; a job is interrupted {stops[1]:.2f} times, now {stops[0]:.2f}. {gpus}"


def closeness(found: Evidence) -> str:
    """How close the simulation of the present scheduler comes to what really happened."""
    if not found.closeness:
        return "The log does not say when every job started: how close the simulation comes is not known."
    return told(found.study.present, found.closeness)


def basis(found: Evidence) -> str:
    """What the figures are from."""
    study = found.study
    return (
        f"{len(study.table):,} jobs of {study.history} on {study.cluster}; {study.resamples} resamples of "
        f"its {study.blocks} blocks of {duration_text(study.block_s)}. Schedulers know of durations: "
        f"{study.believed}. Intervals are 95 %: how different other times of the same kind could have been, "
        "around the change on the log and around that on the resamples. They do not cover what the model "
        "leaves out: what users do when the queue changes, jobs that the log does not have, nodes that were "
        "down."
    )


def tables(found: Evidence) -> Iterator[Table]:
    """Everything that the page shows, from top to bottom."""
    yield _ranked(found)
    if found.closeness:
        yield _calibration(found)
    for by, title in (("size", "by size"), ("tenant", "by tenant"), ("length", "by job length")):
        if len(found.groups(by)) > 1:
            yield _for_whom(found, by, title)
    yield _depends(found)
    yield _undecided(found)
    if found.smaller:
        yield _saved(found)


def _ranked(found: Evidence) -> Table:
    study = found.study
    rows = []
    for scheduler in (study.present, *found.ranking()):
        is_present = scheduler == study.present
        change = None if is_present else found.headline(scheduler)
        sure = "" if is_present or (change is not None and change.excludes_zero) else UNSURE
        rows.append(
            (
                scheduler + (" (present)" if is_present else ""),
                units.duration(found.value(scheduler, *EVERYONE, DECIDES)),
                "" if is_present else signed(change),
                sure,
                units.duration(found.value(scheduler, *EVERYONE, "waited_s")),
                units.duration(found.value(scheduler, *EVERYONE, "p95_waited_s")),
                f"{found.value(scheduler, *EVERYONE, 'interruptions'):.2f}",
                f"{100 * float(found.summaries[scheduler]['utilisation']):.1f} %",
            )
        )
    heads = ("scheduler", "average JCT", "change (95 % interval)", "", "average wait", "p95 wait")
    return Table(
        "ranking",
        "The present scheduler and the shortlist",
        "On the log as it is. Changes are against the present scheduler; their intervals hold for all of the "
        "shortlist together. Interruptions: preemptions and moves per job.",
        (*heads, "interruptions", "utilisation"),
        rows,
    )


def _calibration(found: Evidence) -> Table:
    """How close the simulated present scheduler comes to what really happened, and where not."""
    late = ""
    if found.late_starts:
        late = (
            f" {found.late_starts:,} jobs found too few GPUs when the log says that they started: the "
            "cluster that is given is smaller than the real one was."
        )
    return Table(
        "calibration",
        "Does the simulation know the cluster?",
        f"{closeness(found)} Where the two differ by far, what follows holds for the simulation and not for "
        f"the cluster. Intervals are 95 %, by resampling the days of submission. {CAPTION}{late}",
        ("jobs", "number", *HEADS),
        [(row.group, f"{row.jobs:,}", *cells(row)) for row in found.closeness],
    )


def _for_whom(found: Evidence, by: str, title: str) -> Table:
    study, ranked = found.study, found.ranking()
    rows = []
    for group in found.groups(by):
        changes = [found.change(each, by, group, "waited_s") for each in ranked]
        cells = [
            signed(change) + ("" if change is None or change.excludes_zero else " ?") for change in changes
        ]
        jobs, now = (found.value(study.present, by, group, name) for name in ("jobs", "waited_s"))
        rows.append((group, units.number(jobs), units.duration(now), *cells))
    return Table(
        f"for-whom-{by}",
        f"What changes for whom, {title}",
        "Average waiting (all time without GPUs) with the present scheduler, and how much longer or shorter "
        "it is with another. A question mark: not distinguishable from no change. A dash: the resamples "
        "do not show how far it varies.",
        ("jobs", "number", "waits now", *ranked),
        rows,
    )


def _depends(found: Evidence) -> Table:
    key = Key(*EVERYONE, DECIDES)
    rows: list[tuple[str, ...]] = []
    present = found.on_log[found.study.present]
    for scheduler, cases in found.assumed.items():
        for words, figures in cases.items():
            if isinstance(figures, BloxError):
                rows.append((scheduler, words, f"cannot run: {figures.what}", "", ""))
                continue
            changes = (
                found.on_the_log(figures, other, DECIDES) for other in (found.on_log[scheduler], present)
            )
            rows.append((scheduler, words, units.duration(figures[key]), *map(_sure, changes)))
    return Table(
        "depends",
        "What it depends on",
        "The log once more, with one assumption changed at a time. A question mark: not distinguishable from "
        f"no change. {_ONE_RUN}",
        ("scheduler", "if", "average JCT", "that is", "against the present one as it is"),
        rows,
    )


def _undecided(found: Evidence) -> Table:
    rows = []
    for scheduler in found.ranking():
        unsure = found.undecided(scheduler)
        named = ", ".join(group for _, group in unsure) or "none"
        rows.append((scheduler, named))
    return Table(
        "undecided",
        "Where it is not distinguishable",
        "Groups of jobs whose average waiting could as well be the same as now. A longer log, or more of "
        "such jobs, would tell.",
        ("scheduler", "groups of jobs"),
        rows,
    )


def _saved(found: Evidence) -> Table:
    key, present = Key(*EVERYONE, "waited_s"), found.on_log[found.study.present]
    rows = [
        (
            f"{gpus:,}",
            units.duration(found.smaller[gpus][key]),
            _sure(found.on_the_log(found.smaller[gpus], present, "waited_s")),
        )
        for gpus in sorted(found.smaller, reverse=True)
    ]
    saved = found.saved_gpus()
    number = "" if saved is None else f" It saves {_gpus(saved)} GPUs (95 %, by the blocks of the log)."
    return Table(
        "saved",
        "How many GPUs it would save at equal waiting",
        f"{found.best} on smaller clusters of the same kind, the log as it is. With all GPUs, jobs wait "
        f"{units.duration(present[key])} on average under {found.study.present}.{number} {_ONE_RUN}",
        ("GPUs", "average wait", "against the present one on all GPUs"),
        rows,
    )


def _sure(change: Interval) -> str:
    """A change with its interval; with a question mark where it could be none."""
    return signed(change) + (" ?" if math.isfinite(change.low) and not change.excludes_zero else "")


def _gpus(number: Interval) -> str:
    """`34 (21 to 40)`: a number of GPUs with its interval, where it has one."""
    bounds = f" ({number.low:,.0f} to {number.high:,.0f})" if math.isfinite(number.low) else ""
    return f"{number.estimate:,.0f}{bounds}"
