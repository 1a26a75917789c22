"""CentralScheduler: what the scheduler does on a message, a timer or a restart. No sockets, clocks or
threads.

Its durable state are records (`records.py`); everything that a step changed is in `Outputs.saves`, to be
stored before anything of the step is sent. Policies and manager are those of the simulator, over a
ClusterBackend.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from blox.clock import Rounds, following
from blox.cluster.central import compaction, requests
from blox.cluster.central.backend import ClusterBackend
from blox.cluster.central.changes import Changes
from blox.cluster.central.history import Durations, History
from blox.cluster.central.jobs import Jobs
from blox.cluster.central.ledger import Ledger
from blox.cluster.central.life import FINISHED, PREEMPTED, STARTED, Life
from blox.cluster.central.nodes import Nodes, joined
from blox.cluster.central.records import (
    GRANTED,
    MEMORY,
    POLICIES,
    STOPPING,
    TERM,
    Asked,
    Job,
    NodeRecord,
    Policies,
    Share,
    Stint,
    Term,
    decode_asked,
    decode_job,
    encode,
    ended_key,
    one,
    request_key,
    under,
)
from blox.cluster.central.restore import cluster_state_of, job_state_of
from blox.cluster.central.stints import Stints, gpus_of
from blox.cluster.central.verdicts import Verdicts
from blox.cluster.protocol.messages import (
    Answer,
    Ask,
    Assignment,
    Grant,
    Message,
    Refused,
    Renewed,
    Report,
    Request,
)
from blox.cluster.protocol.outputs import Outputs
from blox.cluster.protocol.timing import Timing
from blox.errors import BloxError
from blox.experiment.parts import policy_from_spec
from blox.loop import execute_round
from blox.manager import BloxManager

_VERBS = {
    "admission": "accept",
    "scheduler": "schedule",
    "placement": "place",
    "termination": "terminate",
}
_TERM_BITS = 40  # of a version, for the assignments of one term
_NAMED = 3  # jobs that took the slots of another
_RECENT = 10_000  # requests that are known without asking the journal
Stored = Callable[[str], bytes | None]


class CentralScheduler:
    """`now` is the cluster's time (s), which goes on where it was when the scheduler starts again."""

    def __init__(
        self,
        records: Mapping[str, bytes],
        timing: Timing,
        now: float,
        policies: Policies | None = None,
        seed: int = 0,
        wall_s: float = 0.0,
        stored: Stored | None = None,
    ) -> None:
        """Starts from what was saved; from nothing, with these policies.

        `stored` gives the record under a key: requests and jobs of long ago are looked up there, not kept.
        """
        self._stored: Stored = stored or records.get
        self._recent: OrderedDict[str, Asked] = OrderedDict()
        before = one(records, TERM, Term)
        self.term = Term(1 if before is None else before.term + 1, now, wall_s)
        self.timing = timing
        self.jobs = Jobs(under(records, "job/", Job))
        self.nodes = Nodes(under(records, "node/", NodeRecord), timing, now)
        self.stints = Stints(under(records, "stint/", Stint))
        self.history = History(under(records, "history/", Durations))
        self.changes = Changes(self.jobs.all)
        self.ledger = Ledger(self.jobs, self.nodes, self.stints, self.history, records.get(MEMORY, b""))
        self.job_state = job_state_of(self.jobs, now, seed)
        self.notice = ""  # what could not be taken over from before the restart
        self._restore_memory()
        self.cluster_state = cluster_state_of(self.nodes, self.jobs, self.stints)
        self.backend = ClusterBackend(self.jobs, self.nodes, self.stints, timing)
        self.verdicts = Verdicts(self.jobs)
        self._begin_loop()
        self._restore_policies(one(records, POLICIES, Policies) or policies or Policies())
        self.fault = ""  # what a policy did wrong in the latest round
        self._version = self.term.term << _TERM_BITS
        # After a restart nodes are given time to report before anything is decided.
        quiet_s = 2 * timing.heartbeat_s if before else 0.0
        self._round_s = following(now + quiet_s, timing.round_s)
        self._check_s = now

    def start(self) -> Outputs:
        """The first step: the new term is saved before anything is sent under it."""
        return Outputs(saves=[(TERM, encode(self.term)), (POLICIES, encode(self.policies))])

    @property
    def wake_s(self) -> float:
        return min(self._round_s, self._check_s)

    # -- inputs ------------------------------------------------------------------------------------

    def receive(self, message: Message, sender: str, now: float, wall_s: float | None = None) -> Outputs:
        """Takes in a message of a node or a user; the answer goes to `sender`."""
        out = Outputs()
        if isinstance(message, Report):
            reason = self.nodes.objection(message, wall_s)
            if reason:
                self.ledger.note("refused", node=message.node[:100], what=reason)
                out.sends.append((sender, Refused("", reason, where=f"node {message.node[:100]}")))
            else:
                self._reported(message, now)
        elif isinstance(message, Ask):
            stint = self.stints.all.get((message.job, message.epoch))
            go = stint is not None and stint.phase == GRANTED
            out.sends.append((sender, Renewed(message.job, message.epoch, message.iteration, go)))
        elif isinstance(message, Request):
            answer = requests.answer(self, message, now)
            self._note_request(message, answer)
            out.sends.append((sender, answer))
        return self._finish(out, now)

    def tick(self, now: float) -> Outputs:
        """A timer, at `wake_s` or whenever: nodes whose leases have run out, and the next round."""
        for node in self.nodes.expire(now):
            self.stints.node_lost(node, now)
            self.ledger.note("node", node=node, what="lost: its lease has run out")
        if now >= self._round_s:
            # A round takes place at its boundary, however late it is executed: so service is counted in whole
            # rounds, and jobs that have received the same are equal, as in a simulation.
            due_s, self._round_s = self._round_s, following(now, self.timing.round_s)
            while (later_s := following(due_s, self.timing.round_s)) <= now:
                due_s = later_s
            self._round(due_s)
        self._check_s = now + self.timing.heartbeat_s
        return self._finish(Outputs(), now)

    def stood_still(self, seconds: float) -> None:
        """Nothing was taken in for so long: what nodes sent may be lost, and does not count as silence."""
        self.nodes.extend(seconds)

    def set_policies(self, policies: Policies) -> None:
        """Other policies rule from the next round on. Raises BloxError for one that cannot be built."""
        self.parts: tuple[Any, Any, Any] = (
            policy_from_spec("admission", policies.admission),
            policy_from_spec("scheduling", policies.scheduler),
            policy_from_spec("placement", policies.placement),
        )
        self.verdicts.policy = policy_from_spec("termination", policies.termination)
        self.policies = policies
        self._policies_changed = True

    def change_policies(self, policies: Policies) -> None:
        """Replaces policies while jobs run; what those that rule no longer remember is forgotten."""
        before = self.policies
        self.set_policies(policies)
        for name, verb in _VERBS.items():
            if getattr(before, name) != getattr(policies, name):
                self.job_state.forget(verb)
        self.ledger.note_memory(self.job_state)

    def _restore_memory(self) -> None:
        """A memory that cannot be read, of another version of a policy, begins anew."""
        try:
            self.ledger.restore_memory(self.job_state)
        except Exception as error:
            self.notice = f"what policies remembered is lost: {type(error).__name__}: {error}"

    def _restore_policies(self, policies: Policies) -> None:
        """Where one cannot be built any more (its file is gone), FIFO rules until another is named."""
        try:
            self.set_policies(policies)
        except BloxError as error:
            self.set_policies(Policies())
            self.notice = f"FIFO rules, for a policy could not be built: {error.text()}"

    def find(self, number: int) -> Job | None:
        """A job by its number, also one that ended long ago."""
        job = self.jobs.all.get(number)
        if job is None and (record := self._stored(ended_key(number))) is not None:
            job = decode_job(record)
        return job

    def asked(self, request: str) -> Asked | None:
        """What became of a request that was accepted before."""
        known = self._recent.get(request)
        if known is None and (record := self._stored(request_key(request))) is not None:
            known = decode_asked(record)
        return known

    def accept(self, request: str, asked: Asked) -> None:
        """A request was carried out: repeated, it is answered and not carried out again."""
        self.ledger.asked(request, asked)
        self._recent[request] = asked
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)

    def _begin_loop(self) -> None:
        """The manager of the simulator over the states there are."""
        self.life = Life(self.backend.why)
        clock = Rounds(self.timing.round_s)
        self.manager = BloxManager(self.backend, clock, termination=self.verdicts, recorder=self.life)

    # -- nodes -------------------------------------------------------------------------------------

    def _reported(self, report: Report, now: float) -> None:
        what = self.nodes.hear(report, now)
        if what:
            self.ledger.note("node", node=report.node, what=what)
        self.stints.observe(report, now)
        started, self.stints.started = self.stints.started, []
        for stint in started:
            job, gpus = self.jobs.all[stint.job], gpus_of(stint, self.nodes.first_gpu)
            job.starts += 1
            self.ledger.record(job, STARTED, now, gpus)
        for part in report.parts:
            if part.metrics and part.job in self.jobs.all:
                self.backend.metrics[part.job] = part.metrics
        self.stints.unassigned.add(report.node)  # so that it is answered

    def _grant_queued(self, now: float) -> None:
        """Grants stints that wait no longer for slots, for their former epoch, or for a retry."""
        for stint in list(self.stints.queued.values()):
            nodes = [share.node for share in stint.shares]
            if self.jobs.all[stint.job].retry_s > now or not all(map(self.nodes.alive, nodes)):
                continue
            if self.stints.grantable(stint):
                self.stints.grant(stint, {node: self.nodes.heard[node].incarnation for node in nodes})

    def _assignment(self, node: str) -> Assignment:
        heard = self.nodes.heard[node]
        grants = tuple(self._grant(stint, share) for stint, share in self.stints.assigned(node))
        return Assignment(node, heard.incarnation, self._version, heard.number, grants)

    def _grant(self, stint: Stint, share: Share) -> Grant:
        shares = stint.shares
        return Grant(
            stint.job,
            stint.epoch,
            share.ranks,
            share.slots,
            world=sum(len(other.ranks) for other in shares),
            nodes=tuple(other.node for other in shares),
            addresses=tuple(self.nodes.records[other.node].address for other in shares),
            stop=stint.phase == STOPPING,
            spec=self.jobs.all[stint.job].spec,
        )

    # -- rounds ------------------------------------------------------------------------------------

    def _round(self, now: float) -> None:
        """Asks the policies. What one does wrong is told, and what was decided before stays."""
        if not self.nodes.records:
            return
        if self.cluster_state is None or self.cluster_state.nodes < len(self.nodes.records):
            self.cluster_state = joined(self.nodes.records.values(), self.cluster_state)
        if compaction.due(self):
            self.job_state, self.cluster_state = compaction.compact(self, self.cluster_state)
            self._begin_loop()
        self.manager.now = self.job_state.now = now
        self.backend.settle(self.job_state, now)
        for row in self.verdicts.withdraw(self.job_state):
            self.life.withdrawn(row, self.jobs.by_row[row].verdict)
        if not self.manager.rounds:  # nodes may be lost in the first round after a restart
            self.manager.update_metrics(self.cluster_state, self.job_state)
        try:
            execute_round(self.manager, self.cluster_state, self.job_state, *self.parts)
            self.fault = ""
        except Exception as error:
            self.fault = f"{type(error).__name__}: {error}"
            self.ledger.note("fault", what=self.fault)
        noted, ends = self.life.take()
        for row, what, gpus in noted:
            job = self.jobs.by_row[row]
            if what == PREEMPTED:
                what += self._by_whom(job)
            self.ledger.record(job, what, now, gpus)
        for row, why in ends.items():
            job, columns = self.jobs.by_row[row], self.job_state.columns
            if why == FINISHED:
                self.history.finished(job.spec, float(columns.done0[row]))
            self.jobs.end(job, why, float(columns.finish_s[row]))
        self.ledger.note_memory(self.job_state)

    def _note_request(self, request: Request, answer: Answer) -> None:
        kind, refused = type(request).__name__, isinstance(answer, Refused)
        what = answer.what if isinstance(answer, Refused) else "accepted"
        self.ledger.note("refused" if refused else "request", kind=kind, what=what)

    def _by_whom(self, job: Job) -> str:
        """Which jobs a preempted one gives its slots to, in words; "" if nothing waits for them."""
        stint = self.stints.all.get((job.job, job.epoch))
        takers = [] if stint is None else self.stints.takers(stint)
        some = ", ".join(map(str, takers[:_NAMED])) + (", ..." if len(takers) > _NAMED else "")
        return f" by job {some}" if takers else ""

    def _finish(self, out: Outputs, now: float) -> Outputs:
        """Every step ends here: grants, records to save, and assignments to the nodes that they concern."""
        self._grant_queued(now)
        unassigned = self.stints.unassigned
        if unassigned:
            self._version += 1
            self.stints.mark_absent(self._version)
            out.sends += [
                (node, self._assignment(node)) for node in sorted(unassigned) if self.nodes.alive(node)
            ]
            unassigned.clear()
        out.notes, self.ledger.notes = self.ledger.notes, []
        changed = {**self.jobs.changed, **dict.fromkeys(job for job, _ in self.stints.changed)}
        self.changes.note(changed, bool(self.nodes.changed), out.notes, now)
        for gone in self.jobs.forgotten:
            self.changes.forget(gone.job)
        out.saves += self.ledger.take(self.job_state)
        if self._policies_changed:
            out.saves.append((POLICIES, encode(self.policies)))
            self._policies_changed = False
        return out
