"""The original's scheduler: fractions of time from a policy now and then, rounds from fractions always."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blox.compat.gavel.combinations import Combinations
from blox.compat.gavel.run_state import GavelRun, gavel_run
from blox.errors import BloxError
from blox.optional import declared
from blox.performance.throughputs import throughputs
from blox.schedulers.gavel.policies.by_name import Policy
from blox.schedulers.gavel.problem import Pairs, Problem
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.workloads.table import Array

FASTEST_FIRST = ("v100", "p100", "k80")
SHUFFLED_BY = 5  # added to the seed
MOST_COMBINATIONS = 2_000_000  # some 2,000 jobs at once: a gigabyte, and minutes for every allocation


@dataclass
class Memory:
    """What is kept from round to round."""

    types: tuple[str, ...]
    gpus: list[int]
    combinations: Combinations
    draws: random.Random
    policy: dict[str, Any] = field(default_factory=dict)
    reset_s: float = 0.0  # when the allocation was last made; 0 also stands for "any time"
    stale: bool = False  # jobs came, ended or failed since
    running: list[tuple[int, int]] = field(default_factory=list)  # combination, type


@dataclass(frozen=True)
class TimeShares:
    """Asks `policy` for fractions when jobs have come or gone, at most every `reset_s` seconds.

    `shuffle`: types are taken in a random order, otherwise V100 first. `promised_only`: jobs without a
    priority do not run. `packed`: pairs of jobs of equal width may share GPUs.
    """

    policy: Policy
    throughputs: str  # the file of the table; empty: the project's own
    packed: bool
    shuffle: bool
    promised_only: bool
    seed: int
    round_s: float
    reset_s: float

    @property
    def reads_durations(self) -> bool:
        """Whether its policy reckons with the steps that jobs have left."""
        return bool(declared(self.policy, "reads_durations"))

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        memory = job_state.memory(self, lambda: self._begin(cluster_state))
        run = gavel_run(job_state)
        run.look_up(throughputs(self.throughputs), memory.types)
        self._credit(memory, run)
        self._update_jobs(memory, run, job_state)
        # the original's time begins with the first arrival
        chosen = self._choose(memory, run, job_state) if job_state.submitted else []
        if not chosen and run.no_more_jobs and len(memory.combinations.members):
            memory.reset_s = 0.0  # nothing runs and no job will come: do not wait for the next reset
            chosen = self._choose(memory, run, job_state)
        memory.running = chosen
        return self._schedule(memory, cluster_state)

    def job_columns(self, job_state: JobState) -> dict[str, Array]:
        """Seconds in which each job has shared its GPUs."""
        return {"shared_s": gavel_run(job_state).shared_s[: job_state.submitted]} if self.packed else {}

    def _begin(self, cluster_state: ClusterState) -> Memory:
        types = tuple(sorted(cluster_state.gpu_types))
        place = [cluster_state.gpu_types.index(name) for name in types]
        gpus = np.bincount(cluster_state.gpu_type, minlength=len(types))[place].tolist()
        half = Combinations(len(types), self.round_s / 2.0)
        return Memory(types, gpus, half, random.Random(self.seed + SHUFFLED_BY))

    def _credit(self, memory: Memory, run: GavelRun) -> None:
        """Time received in the round that has ended, added up as the original does: the last to end first."""
        last = run.last
        if last is None:
            return
        at = {row: place for place, row in enumerate(last.rows.tolist())}
        first, end_s, counts = memory.combinations.members[:, 0].tolist(), last.end_s.tolist(), last.counts
        ended = [(-end_s[at[first[each]]], first[each], each, type_) for each, type_ in memory.running]
        for end, row, each, type_ in sorted(ended):
            if counts[at[row]]:
                memory.combinations.credit(each, type_, -end - last.since_s)
        memory.stale |= not bool(counts.all())

    def _update_jobs(self, memory: Memory, run: GavelRun, job_state: JobState) -> None:
        """Removes jobs that have ended and adds new ones, and their pairs."""
        known, active = memory.combinations.jobs, job_state.active
        if not run.dropped and np.array_equal(known, active):
            return
        gone = np.union1d(np.setdiff1d(known, active), [row for row in run.dropped if row in known])
        if len(gone):
            memory.combinations.remove(gone)
        new = [row for row in np.setdiff1d(active, known).tolist() if row not in run.dropped]
        for row in new:
            self._add(memory.combinations, row, run, job_state)
        memory.stale |= bool(len(gone) or new)

    def _add(self, combinations: Combinations, row: int, run: GavelRun, job_state: JobState) -> None:
        width = job_state.columns.gpus
        alone = run.alone[run.kind[row]] > 0
        members, runs = np.array([[row, -1]]), alone[None, :]
        if self.packed:
            others = combinations.jobs
            others = others[width[others] == width[row]]
            mine, theirs = run.kind[row], run.kind[others]
            both = (run.beside[mine, theirs] > 0) & (run.beside[theirs, mine] > 0)
            if len(combinations.members) + len(others) > MOST_COMBINATIONS:
                raise BloxError(
                    f"{len(others) + 1:,} jobs at once could share in more than {MOST_COMBINATIONS:,} pairs",
                    where="compat gavel",
                    fix="take a policy that does not share GPUs, a larger cluster or fewer jobs",
                )
            pairs = np.column_stack([others, np.full(len(others), row)])
            members, runs = np.concatenate([members, pairs]), np.concatenate([runs, both])
        combinations.add(members, np.full(len(members), width[row]), runs)

    def _choose(self, memory: Memory, run: GavelRun, job_state: JobState) -> list[tuple[int, int]]:
        """What runs in the next round: one pass of the original's loop, even if it finds nothing to run."""
        run.counts.passes += 1
        combinations = memory.combinations
        elapsed_s = job_state.now - memory.reset_s
        if memory.stale and (elapsed_s >= self.reset_s or memory.reset_s == 0):
            combinations.reset(elapsed_s)
            memory.reset_s, memory.stale = job_state.now, False
            self._allocate(memory, run, job_state)
        fast = [name for name in FASTEST_FIRST if name in memory.types]
        order = fast + [name for name in memory.types if name not in FASTEST_FIRST]
        if self.shuffle:
            memory.draws.shuffle(order)
        if not len(combinations.members):
            return []
        by_name = [memory.types.index(name) for name in order]
        chosen = combinations.choose(by_name, memory.gpus, self.promised_only)
        # a job that is not in the allocation yet has GPUs set aside, and does not get them
        return [(at, kind) for at, kind in chosen if combinations.known[at]]

    def _allocate(self, memory: Memory, run: GavelRun, job_state: JobState) -> None:
        columns, rows = job_state.columns, memory.combinations.jobs
        run.counts.allocations += 1
        kinds, kind = np.unique(run.kind[rows], return_inverse=True)
        problem = Problem(
            memory.types,
            np.array(memory.gpus, dtype=np.float64),
            run.alone[run.kind[rows]],
            jobs=rows,
            width=columns.gpus[rows].astype(np.float64),
            weight=columns.priority[rows].astype(np.float64),
            remaining_steps=run.steps_left[rows],
            elapsed_s=job_state.now - columns.submit_s[rows],
            slo_s=np.where(
                columns.deadline_s[rows] > job_state.now, columns.deadline_s[rows] - job_state.now, np.inf
            ),
            pairs=Pairs(kind, run.beside[np.ix_(kinds, kinds)]) if self.packed else None,
        )
        found = self.policy.allocate(problem, memory.policy)
        run.counts.relaxed.update(rows[place] for place in found.relaxed)
        members = np.where(found.members >= 0, rows[found.members], -1) if len(rows) else found.members
        memory.combinations.promise(members, np.clip(found.fractions, 0.0, 1.0))

    def _schedule(self, memory: Memory, cluster_state: ClusterState) -> Schedule:
        """Members of pairs name one another as partners, and stand side by side."""
        of_type = [cluster_state.gpu_types.index(name) for name in memory.types]
        rows: list[int] = []
        types: list[int] = []
        partners: list[int] = []
        for at, kind in memory.running:
            first, second = memory.combinations.members[at].tolist()
            for row in (first, second) if second >= 0 else (first,):
                rows.append(row)
                types.append(of_type[kind])
                partners.append(-1 if second < 0 else second if row == first else first)
        return Schedule(
            np.array(rows, dtype=np.int64),
            gpu_type=np.array(types, dtype=np.int64),
            share_group=np.array(partners, dtype=np.int64) if self.packed else None,
        )
