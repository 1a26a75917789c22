"""WorkerManager: what a node does on a message, the end of a process, or a timer. No sockets, clocks or
threads.

Its durable state are the ends of parts that the scheduler may not know yet: a record each, in
`Outputs.saves`. A node's lease lasts `lease_s` from when the report was *sent* that the scheduler
last answered; when it runs out every process of the node is dead, whatever happened to the messages in
between.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from blox.cluster.preemption import preemption_of
from blox.cluster.protocol.messages import (
    SCHEDULER,
    Ask,
    Assignment,
    ExitAt,
    ExitKnown,
    Grant,
    Message,
    Outcome,
    PartReport,
    Renewed,
    Report,
)
from blox.cluster.protocol.outputs import (
    Allow,
    ExtendLease,
    FixExit,
    Kill,
    Outputs,
    Start,
)
from blox.cluster.protocol.part import Part
from blox.cluster.protocol.timing import Timing

Key = tuple[int, int]  # job, epoch


def record_key(job: int, epoch: int) -> str:
    """Of the record that tells how a part has ended, until the scheduler has answered."""
    return f"{job}-{epoch}"


def _decoded(record: bytes) -> PartReport | None:
    """None for one that cannot be read: the machine failed while it was written."""
    try:
        return msgspec.msgpack.decode(record, type=PartReport)
    except msgspec.DecodeError:
        return None


class WorkerManager:
    """One per node. `now` is the node's own monotonic clock (s); inputs never go back in time."""

    def __init__(self, identity: Report, timing: Timing, now: float, records: Iterable[bytes] = ()) -> None:
        """`identity`: a report without parts, with what the node is. `records`: what an earlier one saved."""
        self._identity, self._timing = identity, timing
        self.node, self.incarnation = identity.node, identity.incarnation
        self.parts: dict[Key, Part] = {}
        self._unanswered = [told for told in map(_decoded, records) if told is not None]
        self.lease_until_s = now
        self.wake_s = now
        self._applied = 0
        self._number = 0
        self._sent: dict[int, float] = {}  # reports that may be answered yet: number -> when it was sent
        self._heartbeat_s = now

    # -- inputs ------------------------------------------------------------------------------------

    def receive(self, message: Message, now: float) -> Outputs:
        """Takes in a message; one that is of another time or for another node changes nothing."""
        out = Outputs()
        if isinstance(message, Assignment):
            self._assigned(message, now, out)
        elif isinstance(message, ExitAt):
            self._told_exit(message, out)
        elif isinstance(message, ExitKnown):
            self._exit_known(message, out)
        elif isinstance(message, Renewed):
            self._renewed(message, now, out)
        return self._finish(out, now)

    def ended(self, key: Key, rank: int, outcome: Outcome, now: float, detail: str = "") -> Outputs:
        """The process of a rank, and everything that it started, has ended."""
        out = Outputs()
        part = self.parts[key]
        part.live.discard(rank)
        part.ends.append("lost" if outcome == "killed" and part.out_of_contact else outcome)
        if outcome in ("failed", "lost"):
            part.detail = part.detail or detail
            self._kill(part, out)  # the other ranks cannot go on without it
        if part.ended:
            out.saves.append((record_key(*key), msgspec.msgpack.encode(part.report())))
        self._start_waiting(now, out)
        self._report(now, out)
        return self._finish(out, now)

    def proposed(self, key: Key, iteration: int, now: float) -> Outputs:
        """The lead, its lease revoked, leaves after this iteration once every other node knows it."""
        out = Outputs()
        part = self.parts.get(key)
        if part is not None and part.exit_at is None and part.live:
            part.exit_at = iteration
            part.unaware = set(part.grant.nodes) - {self.node}
            self._show_exit(part, out)
            self._tell_exit(part, out)
        return self._finish(out, now)

    def asked(self, key: Key, iteration: int, now: float) -> Outputs:
        """Central renewal: the lead waits for leave to begin the iteration after this one."""
        out = Outputs()
        part = self.parts.get(key)
        if part is not None and part.live:
            part.asked = iteration
            out.sends.append((SCHEDULER, Ask(*key, iteration, self.node)))
        return self._finish(out, now)

    def progressed(self, key: Key, iteration: int, checkpoint: int, metrics: dict[str, float]) -> None:
        """The lead has come so far; told with the next report."""
        part = self.parts.get(key)
        if part is not None:
            part.iteration, part.checkpoint = iteration, checkpoint
            part.metrics = metrics

    def tick(self, now: float) -> Outputs:
        """A timer, at `wake_s` or whenever: reports, repeats what was not confirmed, ends what is overdue."""
        out = Outputs()
        if now >= self._heartbeat_s:
            self._report(now, out)
            for part in self.parts.values():
                self._tell_exit(part, out)
                if part.asked >= 0 and part.live:
                    out.sends.append((SCHEDULER, Ask(*part.grant.key, part.asked, self.node)))
        for part in self.parts.values():
            if part.live and self._out_of_contact(now):
                part.out_of_contact = True
                self._stop(part, now, out)
            if self._overdue(part, now):
                self._kill(part, out)
        return self._finish(out, now)

    # -- assignments -------------------------------------------------------------------------------

    def _assigned(self, message: Assignment, now: float, out: Outputs) -> None:
        if message.incarnation != self.incarnation or self._is_old(message):
            return
        self._applied = message.version
        self._extend_lease(message, now, out)
        # It answers a report of ours, all of which tell these.
        out.saves += [(record_key(told.job, told.epoch), None) for told in self._unanswered]
        self._unanswered = []
        changed = False
        wanted = {grant.key: grant for grant in message.grants}
        for key in [key for key in self.parts if key not in wanted]:
            changed = changed or not self.parts[key].killed or self.parts[key].ended
            if self.parts[key].ended or not self.parts[key].started:
                del self.parts[key]
                out.saves.append((record_key(*key), None))
            else:
                self._kill(self.parts[key], out)
        for key, grant in wanted.items():
            part = self.parts.get(key)
            if part is None:
                part, changed = self._take_on(grant), True
            if grant.stop and part.stop_since is None:
                self._stop(part, now, out)
                changed = True
        if self._start_waiting(now, out) or changed:
            self._report(now, out)

    def _is_old(self, message: Assignment) -> bool:
        return message.version < self._applied

    def _extend_lease(self, message: Assignment, now: float, out: Outputs) -> None:
        """The lease counts from when the answered report was sent: the answer may be late."""
        sent = self._sent.get(message.answers)
        if sent is not None and sent + self._timing.lease_s > self.lease_until_s:
            self.lease_until_s = sent + self._timing.lease_s
            out.actions.append(ExtendLease(self.lease_until_s))
        self._sent = {number: at for number, at in self._sent.items() if number >= message.answers}

    def _take_on(self, grant: Grant) -> Part:
        preemption = preemption_of(grant.spec.preemption)
        self.parts[grant.key] = part = Part(grant, preemption, live=set(grant.ranks))
        return part

    def _start_waiting(self, now: float, out: Outputs) -> bool:
        """Starts every part whose slots are free of live processes, unless contact is lost.

        Whether any was started.
        """
        if self._out_of_contact(now):
            return False
        before = len(out.actions)
        busy = {slot for part in self.parts.values() if part.started for slot in self._busy_slots(part)}
        for part in self.parts.values():
            grant = part.grant
            if part.started or part.ended or not busy.isdisjoint(grant.slots):
                continue
            part.started = True
            busy.update(grant.slots)
            out.actions += [Start(grant, rank, slot) for rank, slot in zip(grant.ranks, grant.slots)]
        return len(out.actions) > before

    def _busy_slots(self, part: Part) -> list[int]:
        return [slot for rank, slot in zip(part.grant.ranks, part.grant.slots) if rank in part.live]

    # -- leaving -----------------------------------------------------------------------------------

    def _stop(self, part: Part, now: float, out: Outputs) -> None:
        """Revokes the lease, in the way of the job's kind of preemption."""
        if part.stop_since is not None or part.ended:
            return
        part.stop_since = now
        if not part.started:
            part.live.clear()
            part.ends.append("killed")  # the ranks that have started on other nodes wait for it in vain
        else:
            self._revoke(part, out)

    def _revoke(self, part: Part, out: Outputs) -> None:
        out.actions += part.preemption.stop(part.grant, part.live)

    def _out_of_contact(self, now: float) -> bool:
        """Whether so little is left of the lease that jobs must leave now."""
        return now >= self.lease_until_s - self._timing.grace_s

    def _overdue(self, part: Part, now: float) -> bool:
        if part.stop_since is None or part.preemption.waits:
            return False
        return now >= part.stop_since + self._timing.grace_s

    def _kill(self, part: Part, out: Outputs) -> None:
        if part.started and not part.killed:
            part.killed = True
            out.actions += [Kill(*part.grant.key, rank) for rank in sorted(part.live)]

    def _tell_exit(self, part: Part, out: Outputs) -> None:
        """Tells the other nodes when to leave, until each has confirmed it."""
        if part.exit_at is not None and part.live:
            message = ExitAt(*part.grant.key, part.exit_at, self.node)
            out.sends += [(node, message) for node in sorted(part.unaware)]

    def _told_exit(self, message: ExitAt, out: Outputs) -> None:
        part = self._part_of(message)
        if part is None or not part.started:
            return  # it is told again
        if part.exit_at is None:
            part.exit_at = message.iteration
            self._show_exit(part, out)
        out.sends.append((message.sender, ExitKnown(message.job, message.epoch, self.node)))

    def _exit_known(self, message: ExitKnown, out: Outputs) -> None:
        part = self._part_of(message)
        if part is not None and message.sender in part.unaware:
            part.unaware.discard(message.sender)
            self._show_exit(part, out)

    def _part_of(self, message: ExitAt | ExitKnown | Renewed) -> Part | None:
        """The part that a message is about: of that very epoch."""
        return self.parts.get((message.job, message.epoch))

    def _show_exit(self, part: Part, out: Outputs) -> None:
        """Shows local ranks when to leave; the lead, which waits for it, only when all nodes know."""
        assert part.exit_at is not None
        for rank in sorted(part.live):
            if rank != 0 or self._lead_may_go(part):
                out.actions.append(FixExit(*part.grant.key, rank, part.exit_at))

    def _lead_may_go(self, part: Part) -> bool:
        return part.exit_agreed

    # -- renewal and reports -----------------------------------------------------------------------

    def _renewed(self, message: Renewed, now: float, out: Outputs) -> None:
        part = self._part_of(message)
        if part is None or part.asked != message.iteration or not part.live:
            return
        part.asked = -1
        if message.go or part.preemption.waits:
            out.actions.append(Allow(*part.grant.key, 0, message.iteration))
        else:
            self._stop(part, now, out)

    def _report(self, now: float, out: Outputs) -> None:
        self._number += 1
        oldest = now - self._timing.lease_s
        self._sent = {number: at for number, at in self._sent.items() if at > oldest}
        self._sent[self._number] = now
        self._heartbeat_s = now + self._timing.heartbeat_s
        i = self._identity
        report = Report(
            i.node,
            i.incarnation,
            self._number,
            self._applied,
            i.gpus,
            (*self._unanswered, *(part.report() for part in self.parts.values())),
            i.identity,
            i.address,
            i.gpu_type,
            i.cpu,
            i.memory_gb,
        )
        out.sends.append((SCHEDULER, report))

    def _finish(self, out: Outputs, now: float) -> Outputs:
        """Sets `wake_s`: the next heartbeat, the end of a grace period, or the lease running out."""
        wake = self._heartbeat_s
        grace = self._timing.grace_s
        for part in self.parts.values():
            if part.live and not part.killed:
                if part.stop_since is None:
                    wake = min(wake, self.lease_until_s - grace)
                elif not part.preemption.waits:
                    wake = min(wake, part.stop_since + grace)
        self.wake_s = max(wake, now)
        return out
