"""Stints: which process may live where. The plan says where jobs should be; this is what is known to be true.

A slot belongs to a stint from its grant until its processes are known to have ended: by a report, by a new
incarnation of the worker manager, or because the node's lease has run out. A stint is granted when its slots
belong to none and no other stint of its job is left. So no slot and no job ever has two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from blox.cluster.central.records import DROPPED, GRANTED, QUEUED, STOPPING, Share, Stint
from blox.cluster.protocol.messages import Outcome, PartReport, Report, worst

Key = tuple[int, int]


class Stints:
    """Every stint that is not over, or whose end the next round has yet to learn."""

    def __init__(self, stints: Iterable[Stint] = ()) -> None:
        self.all: dict[Key, Stint] = {}
        self.queued: dict[Key, Stint] = {}
        self.changed: dict[Key, Stint] = {}  # since they were last saved
        self.started: list[Stint] = []  # since they were last taken
        self.unassigned: set[str] = set()  # nodes whose assignment differs from the one last sent
        self._owner: dict[tuple[str, int], Key] = {}  # slot -> stint
        self._on_node: dict[str, dict[Key, Share]] = {}  # shares that may live
        self._epochs: dict[int, set[int]] = {}  # of each job
        for stint in stints:
            self._add(stint)
            if stint.phase != QUEUED:
                for share in stint.shares:
                    if not share.outcome:
                        self._enter(stint, share)

    # -- the plan ----------------------------------------------------------------------------------

    def queue(self, stint: Stint) -> None:
        self._add(stint)
        self.changed[stint.key] = stint

    def stop(self, key: Key) -> None:
        """The stint should end at an iteration boundary, after a checkpoint."""
        stint = self.all.get(key)
        if stint is None or stint.phase in (STOPPING, DROPPED):
            return
        if stint.phase == QUEUED:
            self.remove(stint)
            return
        stint.stopped = True
        self._set_phase(stint, STOPPING)

    def drop(self, key: Key) -> None:
        """The stint should end at once."""
        stint = self.all.get(key)
        if stint is None or stint.phase == DROPPED:
            return
        if stint.phase == QUEUED:
            self.remove(stint)
            return
        self._set_phase(stint, DROPPED)

    def remove(self, stint: Stint) -> None:
        """Forgets a stint that is over or never began."""
        del self.all[stint.key]
        self.queued.pop(stint.key, None)
        self._epochs[stint.job].discard(stint.epoch)
        if not self._epochs[stint.job]:
            del self._epochs[stint.job]
        self.changed[stint.key] = stint
        self.unassigned.update(share.node for share in stint.shares)

    def grant(self, stint: Stint, incarnations: dict[str, int]) -> None:
        for share in stint.shares:
            share.incarnation = incarnations[share.node]
            self._enter(stint, share)
        del self.queued[stint.key]
        self._set_phase(stint, GRANTED)

    def grantable(self, stint: Stint) -> bool:
        """Whether its slots are free, and no other stint of its job is left."""
        if not self.alone(stint):
            return False
        return not any((s.node, slot) in self._owner for s in stint.shares for slot in s.slots)

    def alone(self, stint: Stint) -> bool:
        """Whether the former epoch of the job has ended, and the scheduler has learnt how."""
        return min(self._epochs[stint.job]) == stint.epoch

    def takers(self, stint: Stint) -> list[int]:
        """The jobs that wait for slots of a stint."""
        slots = _slots(stint)
        return sorted(other.job for other in self.queued.values() if not slots.isdisjoint(_slots(other)))

    def has(self, job: int) -> bool:
        """Whether any stint of a job is not over, or not settled."""
        return job in self._epochs

    def shown(self, job: int) -> Stint | None:
        """Of the stints of a job the one that its processes are of: the earliest that is not over.

        The latest, where all are over and the next round takes that in; None: there is none.
        """
        own = [self.all[job, epoch] for epoch in sorted(self._epochs.get(job, ()))]
        return next((stint for stint in own if not stint.over), own[-1] if own else None)

    def done(self, job: int) -> bool:
        """Whether the work of a job is done, which the next round takes in."""
        own = (self.all[job, epoch] for epoch in self._epochs.get(job, ()))
        return any(stint.over and outcome_of(stint) == "done" for stint in own)

    # -- what is observed --------------------------------------------------------------------------

    def observe(self, report: Report, now: float) -> None:
        """Takes in what a node says about its processes."""
        told = {(part.job, part.epoch): part for part in report.parts}
        for key, share in list(self._on_node.get(report.node, {}).items()):
            stint, part = self.all[key], told.get(key)
            if part is not None:  # perhaps of an earlier incarnation, in which it has ended
                self._observe_part(stint, share, part, now)
            elif share.incarnation < report.incarnation:
                self._end(stint, share, "lost", now)
            elif self._known_absent(share, report):
                self._end(stint, share, "killed", now)

    def node_lost(self, node: str, now: float) -> None:
        """The lease of a node has run out: no process of it lives."""
        for key, share in list(self._on_node.get(node, {}).items()):
            self._end(self.all[key], share, "lost", now)

    def _known_absent(self, share: Share, report: Report) -> bool:
        """An assignment without the share was taken in: one with it, late on its way, will be refused."""
        return bool(share.absent_from) and report.applied >= share.absent_from

    def _observe_part(self, stint: Stint, share: Share, part: PartReport, now: float) -> None:
        if part.started and stint.started_s is None:
            stint.started_s = now
            self.started.append(stint)
            self.changed[stint.key] = stint
        stint.iteration = max(stint.iteration, part.iteration)
        if part.checkpoint > stint.checkpoint:
            stint.checkpoint = part.checkpoint
            self.changed[stint.key] = stint
        if part.detail and not stint.detail:
            stint.detail = part.detail
        if part.outcome == "failed":
            self.drop(stint.key)  # the ranks on other nodes cannot go on
        if not part.live:
            self._end(stint, share, part.outcome or "killed", now)

    def _end(self, stint: Stint, share: Share, outcome: Outcome, now: float) -> None:
        share.outcome, stint.ended_s = outcome, now
        self.changed[stint.key] = stint
        self.unassigned.add(share.node)
        del self._on_node[share.node][stint.key]
        for slot in share.slots:
            del self._owner[share.node, slot]
        if outcome == "left":
            self.stop(stint.key)  # it may have left because its node was out of contact: the others must too
        elif outcome != "done":
            self.drop(stint.key)

    # -- assignments -------------------------------------------------------------------------------

    def assigned(self, node: str) -> list[tuple[Stint, Share]]:
        """What a node should run."""
        return [
            (self.all[key], share)
            for key, share in self._on_node.get(node, {}).items()
            if self.all[key].phase != DROPPED
        ]

    def mark_absent(self, version: int) -> None:
        """Shares that were dropped are absent from assignments of this version on."""
        for stint in list(self.changed.values()):
            if stint.phase == DROPPED:
                for share in stint.shares:
                    share.absent_from = share.absent_from or version

    def _set_phase(self, stint: Stint, phase: str) -> None:
        stint.phase = phase
        self.changed[stint.key] = stint
        self.unassigned.update(share.node for share in stint.shares)

    def _add(self, stint: Stint) -> None:
        self.all[stint.key] = stint
        if stint.phase == QUEUED:
            self.queued[stint.key] = stint
        self._epochs.setdefault(stint.job, set()).add(stint.epoch)

    def _enter(self, stint: Stint, share: Share) -> None:
        self._on_node.setdefault(share.node, {})[stint.key] = share
        for slot in share.slots:
            self._owner[share.node, slot] = stint.key


def gpus_of(stint: Stint, first_gpu: Mapping[str, int]) -> tuple[int, ...]:
    """The GPUs of a stint by the cluster's numbers; `first_gpu`: that of each node."""
    return tuple(sorted(first_gpu[share.node] + slot for share in stint.shares for slot in share.slots))


def _slots(stint: Stint) -> set[tuple[str, int]]:
    return {(share.node, slot) for share in stint.shares for slot in share.slots}


def outcome_of(stint: Stint) -> Outcome:
    """How a stint that is over has ended."""
    return worst([share.outcome for share in stint.shares])
