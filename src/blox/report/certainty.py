"""How sure the figures are and what they are over, in sentences: intervals, jobs, whether any job waits."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from blox.recording.wait_causes import CAUSES, EVICTION, SCHEDULER
from blox.report import units
from blox.report.labels import labels
from blox.report.measures import AVG_JCT, JCTS, MAKESPAN, as_number
from blox.report.run import Run
from blox.results.comparison import Comparison
from blox.results.replications import Replications
from blox.results.samples import runs_of
from blox.workloads.spec import is_trace

_MOST_NAMED = 3  # rows that are named; more are counted
MARKED = (
    " Bold: the best value of a column, by group where there are groups, and those not distinguishable "
    "from it."
)
HARDLY = 0.01  # below this part of their time jobs hardly wait
NOTICEABLE, ROUNDING = 0.05, 1e-9  # by how much a figure is larger than another
_NO_MATTER = "completion times hardly depend on the scheduler"
_OF_POLICIES = (
    "admission",
    "scheduler",
    "placement",
    "termination",
    "auto",
    "label",
    "metrics",
    "provenance",
)


def certainty(runs: Sequence[Run]) -> str:
    """What the intervals are made from, or why there are none; which runs lack seeds."""
    return " ".join(filter(None, (_basis(runs), *_lacking(runs))))


def _basis(runs: Sequence[Run]) -> str:
    compared = Comparison.of(runs)
    basis = compared.basis
    if basis.seeds > 1:
        return f"Means of {basis.seeds} seeds; ± is the 95 % interval."
    if basis.enough:
        most = max(compared.basis_of(position).days for position in range(len(compared)))
        how_many = f"{basis.days}" if basis.days == most else f"{basis.days} to {most}"
        return f"± is the 95 % interval, by resampling the {how_many} days on which jobs were submitted."
    if not compared.comparable:
        return ""
    days = f" over {basis.days} day{'' if basis.days == 1 else 's'}" if basis.days else ""
    unknown = f"One run{days} does not show how far its figures vary"
    if any(len(_asked(run)) > 1 for run in runs):
        return f"{unknown}."
    traces = all(is_trace(str(run.experiment.get("workload", ""))) for run in runs)
    how = "a trace of 10 days or more has intervals" if traces else "--seeds 5 gives intervals"
    return f"{unknown}: {how}."


def _lacking(runs: Sequence[Run]) -> list[str]:
    """Sentences on runs of which some seeds have not finished, and on those that are therefore not ranked."""
    counts = [(name, len(runs_of(run)), len(_asked(run))) for name, run in zip(labels(runs), runs)]
    named = [f"{name}: {finished} of {asked} seeds" for name, finished, asked in counts if finished < asked]
    told = []
    if len(named) > _MOST_NAMED:
        told.append(f"{len(named)} rows have fewer seeds than were asked for: others failed.")
    elif named:
        told.append(f"{'; '.join(named)}, the others failed.")
    if len(Comparison.of(runs).comparable) < len(runs):
        told.append("Only runs over the same seeds are compared.")
    return told


def _asked(run: Run) -> Sequence[int]:
    """The seeds that a run over several was asked for."""
    return run.asked if isinstance(run, Replications) else ()


def jobs_told(runs: Sequence[Run]) -> str:
    """How many jobs the figures are over, and of how many that were submitted."""
    measured, submitted = (
        {round(value) for run in runs if math.isfinite(value := as_number(run.summary.get(key)))}
        for key in ("jobs", "submitted")
    )
    if not measured:
        return ""
    each = " in each run" if len(runs) > 1 or len(getattr(runs[0], "runs", ())) > 1 else ""
    of = f", measured of {_range(submitted)} submitted" if submitted - measured else ""
    return f"Over {_range(measured)} job{'' if measured == {1} else 's'}{each}{of}."


def seeds_told(runs: Sequence[Run]) -> tuple[str, str]:
    """For pictures of one run over time, which seed they show; for those over jobs, that they show all."""
    seeds = {len(getattr(run, "runs", (run,))) for run in runs}
    if seeds == {1}:
        return "", ""
    first = " Of several seeds the first; the report of a folder seed-N shows that one."
    return first, " Of several seeds all jobs together."


def idle_queues(runs: Sequence[Run]) -> list[str]:
    """A sentence where jobs do not wait, or hardly: schedulers cannot differ much there."""
    idle = [
        (name, share, bool(_speeds_depend_on(run)))
        for name, share, run in zip(labels(runs), _idle_shares(runs), runs)
    ]
    never = [name for name, share, depend in idle if share == 0 and not depend]
    placed = [name for name, share, depend in idle if share == 0 and depend]
    hardly = [name for name, share, _ in idle if 0 < share < HARDLY]
    told, no_wait = [], "no job waits longer than until the next round"
    for named, words in (
        (never, f"{no_wait}: any scheduler would give these figures"),
        (placed, f"{no_wait}: {_NO_MATTER} here"),
        (hardly, f"jobs wait for less than 1 % of their time: {_NO_MATTER} here"),
    ):
        if named:
            which = "" if len(named) == len(runs) else f"{', '.join(named)}: "
            told.append(f"{which}{words} (a higher load or fewer GPUs show more)")
    return told


def idle_points(runs: Sequence[Run]) -> list[str]:
    """The same for the points of a sweep, which are counted instead of named."""
    shares = _idle_shares(runs)
    hardly = sum(share < HARDLY for share in shares)
    if not hardly:
        return []
    which = "all rows" if hardly == len(shares) else f"{hardly} of {len(shares)} rows"
    return [f"In {which} jobs wait for less than 1 % of their time: {_NO_MATTER} there."]


def _range(counts: set[int]) -> str:
    low, high = min(counts), max(counts)
    return units.number(low) if low == high else f"{units.number(low)} to {units.number(high)}"


def _idle_shares(runs: Sequence[Run]) -> list[float]:
    """By run, the part of their time that jobs wait under the policy under which they wait longest.

    Compared are the runs that differ in policies alone. Nan where they can tell schedulers apart: where
    a scheduler decides how fast jobs run, and where completion times differ noticeably.
    """
    rivals: dict[str, list[int]] = {}
    for at, run in enumerate(runs):
        same = {key: value for key, value in run.experiment.items() if key not in _OF_POLICIES}
        rivals.setdefault(json.dumps(same, sort_keys=True, default=str), []).append(at)
    found = [math.nan] * len(runs)
    for positions in rivals.values():
        group = [runs[at] for at in positions]
        shares = [_waiting_share(run) for run in group]
        longest = math.nan if any(map(math.isnan, shares)) else max(shares)
        bound = NOTICEABLE if longest or any(map(_speeds_depend_on, group)) else ROUNDING
        if _alike(group, bound):
            for at in positions:
                found[at] = longest
    return found


def _alike(runs: Sequence[Run], tolerance: float) -> bool:
    """Whether no completion time is larger than the same of another run by more than a share of it."""
    for measure in (*JCTS, MAKESPAN):
        values = [value for run in runs if math.isfinite(value := measure.of(run))]
        if values and max(values) > min(values) * (1 + tolerance):
            return False
    return True


def _waiting_share(run: Run) -> float:
    """The part of an average job's time that it waits for admission or GPUs; nan where not known.

    Nan also where a scheduler decides how fast jobs run, not only how long they wait. On which nodes they
    run, placement decides, and little is shared where no job waits.
    """
    if _speeds_depend_on(run) - {"nodes", "sharing"}:
        return math.nan
    causes = [cause for cause in (*CAUSES, SCHEDULER, EVICTION) if f"wait_{cause}_s" in run.summary]
    waited = sum(as_number(run.summary.get(f"wait_{cause}_s")) for cause in causes)
    total = AVG_JCT.of(run) * as_number(run.summary.get("submitted"))
    return waited / total if total > 0 else math.nan


def _speeds_depend_on(run: Run) -> set[str]:
    """What policies decide by which jobs run faster or slower, as the run has kept it."""
    return set(run.experiment.get("provenance", {}).get("speeds_depend_on", ("anything",)))
