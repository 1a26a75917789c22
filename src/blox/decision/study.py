"""Study: which runs a decision takes. The log, resamples of it, and a few runs with other assumptions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from blox.decision.digest import Grouping, digest, largest_tenants
from blox.durations import Seconds, duration_text
from blox.errors import BloxError
from blox.experiment.parallel import Task
from blox.experiment.settings import Experiment
from blox.optional import declared
from blox.registry import build
from blox.workloads.generators.resampled import WEEK, blocks_of
from blox.workloads.spec import workload_from_spec
from blox.workloads.table import JobTable

PRESENT = "backfill:kind=easy"
SHORTLIST = ("backfill:kind=easy,order=srtf", "las", "tiresias", "srtf")
FEWEST_BLOCKS = 8  # below, blocks are made shorter than a week
SHORTER_S = (86400.0, 6 * 3600.0, 3600.0)  # blocks for short logs; none may be shorter than the last
UNLIMITED = "7d"  # a job without a time limit is believed to last so long


@dataclass(frozen=True)
class Study:
    """What is asked: is another scheduler than the `present` one worth it, on this log and cluster?

    `belief`: what schedulers know of durations; `limit` are the limits that users asked for. `resamples` of
    the log's blocks say how sure the answer is.
    """

    history: str
    cluster: str
    present: str = PRESENT
    shortlist: tuple[str, ...] = SHORTLIST
    placement: str = "consolidated"
    overheads: str = "launch=30,restart=60"
    belief: str = ""
    resamples: int = 10
    block: Seconds | None = None
    round_s: float = 300.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 2 <= self.resamples <= 1000:
            fix = "give 2 or more, at most 1,000: 10 are usual"
            raise BloxError(f"{self.resamples} resamples", where="--resamples", fix=fix)
        if self.block is not None and not SHORTER_S[-1] <= self.block < math.inf:
            raise BloxError(f"a block of {self.block:g} s", where="--block", fix="give days: 7d")
        if self.present in self.shortlist:
            others = tuple(each for each in self.shortlist if each != self.present)
            object.__setattr__(self, "shortlist", others)
        if not self.shortlist:
            fix = "give one that is not the present one: --scheduler las"
            raise BloxError("no scheduler to compare with", where="--scheduler", fix=fix)

    @cached_property
    def table(self) -> JobTable:
        """The jobs of the log."""
        found: JobTable | None = declared(workload_from_spec(self.history), "table")
        if found is None:
            raise BloxError(
                f"{self.history!r} is no trace", where="--history", fix="give a log: slurm:sacct.txt"
            )
        return found

    @cached_property
    def block_s(self) -> float:
        """Days that are drawn together: a week, or less where the log has too few weeks."""
        if self.block is not None:
            return float(self.block)
        submit = self.table.columns["submit_s"]
        days = float(submit[-1] - submit[0]) / 86400
        return 86400.0 * max(min(WEEK / 86400, math.floor(days / FEWEST_BLOCKS)), 1)

    @cached_property
    def blocks(self) -> int:
        """How many blocks the log has."""
        return len(blocks_of(self.table, self.block_s))

    @cached_property
    def believed(self) -> str:
        """The belief of every run: as given, or time limits where the log has any, or the truth and noise."""
        if self.belief:
            return self.belief
        limits = np.isfinite(self.table.column("limit_s")).any()
        return f"limit:unlimited={UNLIMITED}" if limits else "noisy:sigma=1"

    @property
    def schedulers(self) -> tuple[str, ...]:
        return (self.present, *self.shortlist)

    def on_log(self, scheduler: str, **changes: object) -> Experiment:
        """A scheduler on the log as it is."""
        settings = {
            "workload": self.history, "cluster": self.cluster, "placement": self.placement,
            "overheads": self.overheads, "belief": self.believed, "round_s": self.round_s,
            "performance": "duration", "seed": self.seed, "scheduler": scheduler,
        }  # fmt: skip
        return Experiment(**{**settings, **changes})  # type: ignore[arg-type]

    def resampled(self, scheduler: str, number: int) -> Experiment:
        """The same on a resample: other weeks of the same kind, and other errors of belief."""
        spec = f"resampled:of={self.history.replace(',', ';')},block={duration_text(self.block_s)}"
        return self.on_log(scheduler, workload=spec, seed=self.seed + 1 + number)

    def happened(self) -> Experiment:
        """What really happened."""
        return Experiment(workload=self.history, cluster=self.cluster, compat="history", round_s=self.round_s)

    def task(self, experiment: Experiment, columns: Sequence[str] = ()) -> Task:
        """A run of which the figures are kept, and these columns of its jobs."""
        return Task(experiment, digest=partial(digest, grouping=self._grouping, columns=columns))

    def sensitivities(self, scheduler: str) -> dict[str, Experiment]:
        """Runs of a scheduler with other assumptions, by what is assumed."""
        found = {}
        if declared(build("scheduling", scheduler), "reads_durations"):
            found["durations were known"] = self.on_log(scheduler, belief="oracle")
            found["beliefs were wrong by a factor of e"] = self.on_log(scheduler, belief="noisy:sigma=1")
        found["starts and restarts took 3 min"] = self.on_log(scheduler, overheads="launch=180,restart=180")
        if self.placement == "consolidated":
            spread = self.on_log(scheduler, placement="consolidated:fallback=spread")
            found["jobs could be spread over nodes"] = spread
        return {words: each for words, each in found.items() if each != self.on_log(scheduler)}

    def check(self) -> None:
        """Builds every part, so that a mistake is told before anything runs."""
        for scheduler in self.schedulers:
            self.on_log(scheduler).prepare()
        if self.blocks < 2:
            raise self._one_block()

    def _one_block(self) -> BloxError:
        """What to say of a log of one block: the longest block of which it has two, if there is one."""
        why = "how blocks vary cannot be seen in one"
        shorter = [each for each in SHORTER_S if len(blocks_of(self.table, each)) > 1]
        if shorter:
            what = f"the log has 1 block of {duration_text(self.block_s)}"
            fix = f"give a longer log, or --block {duration_text(shorter[0])}: {why}"
        else:
            jobs = f"its {len(self.table):,} jobs were" if len(self.table) > 1 else "its one job was"
            what = f"the log is too short: {jobs} submitted within 2 blocks of {duration_text(SHORTER_S[-1])}"
            fix = f"give a longer log: {why}"
        return BloxError(what, where="--history", fix=fix)

    @cached_property
    def _grouping(self) -> Grouping:
        columns = self.table.columns
        tenants = largest_tenants(self.table.column("tenant"), columns["gpus"] * columns["duration_s"])
        return Grouping(tenants, self.block_s, self.blocks)
