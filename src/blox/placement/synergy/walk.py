"""The walk down the schedule where nodes have cores and memory: who runs, and on which nodes.

The contract is that of every placement: running jobs stay, others take what is free, and with `preempt`
jobs give way from the end of the order, and go back if it was in vain. GPUs decide who fits; cores and
memory decide where, or with `must_fit` whether at all.
"""

from __future__ import annotations

import numpy as np

from blox.placement.synergy.grants import Share, shares_of
from blox.placement.walk.draining import set_aside
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation, Draft
from blox.state.schedule import Schedule

Wants = dict[int, tuple[float, float]]  # row -> cores and memory (GB) per GPU


def walk(
    schedule: Schedule, cluster_state: ClusterState, job_state: JobState, wants: Wants, *, must_fit: bool
) -> Allocation:
    """Where every job should be. `must_fit`: a job only goes where all that it wants is left."""
    now = cluster_state.allocation
    need = job_state.columns.gpus.take(schedule.jobs) if schedule.gpus is None else schedule.gpus
    held = job_state.columns.held_gpus.take(schedule.jobs)
    if len(schedule.jobs) == now.size and bool((held == need).all()):
        return now.unchanged(blocked=False)  # everybody runs
    _, kept = set_aside(schedule, cluster_state, job_state)
    walked = _Walk(schedule, cluster_state, wants, must_fit, set(kept.tolist()))
    blocked = walked.run(need.tolist(), held.tolist())
    return walked.outcome(blocked, job_state.submitted)


class _Walk:
    """One walk, in plain Python: nodes as lists of what is left of GPUs, cores and memory."""

    def __init__(
        self,
        schedule: Schedule,
        cluster_state: ClusterState,
        wants: Wants,
        must_fit: bool,
        kept: set[int],
    ) -> None:
        self.schedule, self.cluster, self.wants, self.must_fit = schedule, cluster_state, wants, must_fit
        up = cluster_state.node_up
        self.gpus: list[int] = np.where(up, cluster_state.node_gpus, 0).tolist()
        self.cpu: list[float] = cluster_state.node_cpu.tolist()
        self.memory: list[float] = cluster_state.node_memory_gb.tolist()
        self.on = dict(shares_of(cluster_state.allocation, cluster_state))  # where running jobs stand
        self.chosen: dict[int, list[Share]] = {}  # new places
        self.stays = kept  # these are on draining nodes

    def run(self, need: list[int], held: list[int]) -> bool:
        """Walks down the schedule; whether a strict order ended it before everybody was placed."""
        rows = self.schedule.jobs.tolist()
        order: list[int] = self.schedule.order.tolist()
        if not self.schedule.preempt:
            order = sorted(order, key=lambda place: held[place] == 0)
        # those who run hold what they have until they are reached, or give way to somebody before them
        seated = [
            place
            for place in order
            if held[place] and held[place] == need[place] and rows[place] not in self.stays
        ]
        for row in self.stays:
            self._take(row, [share for share in self.on[row] if self.cluster.node_up[share[0]]])
        holding = {rows[place] for place in seated}
        for row in holding:
            self._take(row, self.on[row])
        victims = [rows[place] for place in seated]
        blocked = False
        for place in order:
            row = rows[place]
            if row in self.stays:
                continue
            if row in holding:  # reached: nobody behind can displace it
                holding.discard(row)
                self.stays.add(row)
                continue
            if row in self.on and held[place] == need[place] and self._fits(row, self.on[row]):
                self._take(row, self.on[row])  # it had given way, and its place is still free
                self.stays.add(row)
                continue
            if blocked:
                continue
            shares = self._choose(row, need[place])
            if shares is None and self.schedule.preempt:
                shares = self._displace(row, need[place], victims, holding)
            if shares is not None:
                self.chosen[row] = shares
                self._take(row, shares)
            elif self.schedule.strict:
                blocked = True
        return blocked

    def _displace(self, row: int, need: int, victims: list[int], holding: set[int]) -> list[Share] | None:
        """Those at the end of the order give way one by one until the job fits; if it never does, none."""
        released = []
        shares = None
        while shares is None and victims:
            victim = victims.pop()
            if victim not in holding:
                victims.append(victim)
                break  # everybody behind has been reached or has given way
            holding.discard(victim)
            self._give(victim, self.on[victim])
            released.append(victim)
            shares = self._choose(row, need)
        if shares is None:
            for victim in reversed(released):
                self._take(victim, self.on[victim])
                holding.add(victim)
                victims.append(victim)
        return shares

    def _choose(self, row: int, need: int) -> list[Share] | None:
        """One node with all that is wanted, the fullest; or one with the GPUs, where most cores are left."""
        cpu, memory = self.wants[row]
        gpus = self.gpus
        if sum(gpus) < need:
            return None
        fits = [node for node, free in enumerate(gpus) if free >= need]
        good = [n for n in fits if self.cpu[n] >= need * cpu and self.memory[n] >= need * memory]
        if good:
            return [(min(good, key=lambda node: (gpus[node], node)), need)]
        if self.must_fit:
            return self._collect(need, cpu, memory)
        if fits:
            return [(max(fits, key=lambda node: (self.cpu[node], -gpus[node], -node)), need)]
        return self._collect(need, 0.0, 0.0)

    def _collect(self, need: int, cpu: float, memory: float) -> list[Share] | None:
        """The nodes with most free GPUs, as many on each as fit."""
        shares = []
        for node in sorted(range(len(self.gpus)), key=lambda node: (-self.gpus[node], node)):
            count = min(need, self.gpus[node])
            if cpu > 0:
                count = min(count, int(max(self.cpu[node], 0.0) / cpu + 1e-9))
            if memory > 0:
                count = min(count, int(max(self.memory[node], 0.0) / memory + 1e-9))
            if count > 0:
                shares.append((node, count))
                need -= count
                if not need:
                    return shares
        return None

    def _fits(self, row: int, shares: list[Share]) -> bool:
        cpu, memory = self.wants[row] if self.must_fit else (0.0, 0.0)
        return all(
            self.gpus[node] >= count
            and (not self.must_fit or self.cpu[node] + 1e-9 >= count * cpu)
            and (not self.must_fit or self.memory[node] + 1e-9 >= count * memory)
            for node, count in shares
        )

    def _take(self, row: int, shares: list[Share], sign: int = 1) -> None:
        cpu, memory = self.wants[row]
        for node, count in shares:
            self.gpus[node] -= sign * count
            self.cpu[node] -= sign * count * cpu
            self.memory[node] -= sign * count * memory

    def _give(self, row: int, shares: list[Share]) -> None:
        self._take(row, shares, -1)

    def outcome(self, blocked: bool, rows: int) -> Allocation:
        """What has been chosen, as a difference from what holds now; `rows` is above every row."""
        now = self.cluster.allocation
        leaving = [row for row in self.on if row not in self.stays]
        if not self.chosen and not leaving:
            return now.unchanged(blocked=blocked)
        draft = Draft(now, rows)
        owner = now.owner
        assert owner is not None
        free = owner < 0
        if leaving:
            free[draft.remove(np.array(leaving))] = True
        first, size = self.cluster.node_first.tolist(), self.cluster.node_gpus.tolist()
        found: dict[int, list[int]] = {}
        for row, shares in self.chosen.items():
            found[row] = []
            for node, count in shares:
                ids = free[first[node] : first[node] + size[node]].nonzero()[0][:count] + first[node]
                free[ids] = False
                found[row] += ids.tolist()
        for put, jobs in (
            (draft.add, [row for row in found if row not in self.on]),
            (draft.move, [row for row in found if row in self.on]),
        ):
            if jobs:
                counts = np.array([len(found[row]) for row in jobs])
                put(np.array(jobs), counts, np.array([gpu for row in jobs for gpu in found[row]]))
        return draft.outcome(blocked=blocked, settled=True)
