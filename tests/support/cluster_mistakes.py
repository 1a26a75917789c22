"""Known mistakes of such systems, each put into one machine; the histories must find every one."""

from __future__ import annotations

from blox.cluster.central.nodes import Nodes
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.central.stints import Stints
from blox.cluster.chaos.history import Machines
from blox.cluster.protocol.outputs import Outputs, Revoke
from blox.cluster.protocol.rank import NEVER
from blox.cluster.protocol.worker import WorkerManager


class AcknowledgesBeforeSaving(CentralScheduler):
    """What a step changed is saved with the next one."""

    held_back = ()

    def _finish(self, out, now):
        out = super()._finish(out, now)
        out.saves, self.held_back = list(self.held_back), list(out.saves)
        return out


class ForgetsEpochs(WorkerManager):
    """A message about an earlier stint of a job is taken for one about the present."""

    def _part_of(self, message):
        return next((part for (job, _), part in self.parts.items() if job == message.job), None)


class RevokesAtEveryNode(WorkerManager):
    def _revoke(self, part, out):
        out.actions.append(Revoke(*part.grant.key, min(part.live)))


def any_rank_proposes(rank, world, iteration, lease):
    """Every rank whose lease is revoked fixes the exit by itself."""
    if lease.exit_at != NEVER and iteration >= lease.exit_at:
        return "leave"
    if lease.revoked and lease.exit_at == NEVER:
        lease.exit_at = iteration + 1
    return "go"


class LeadDoesNotWait(WorkerManager):
    def _lead_may_go(self, part):
        return True


class GivesGpusAwayEarly(CentralScheduler):
    class _Nodes(Nodes):
        def _lease_end(self, now):
            return now + self._timing.lease_s / 3

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.nodes.__class__ = self._Nodes


class IgnoresLostContact(WorkerManager):
    def _extend_lease(self, message, now, out):
        self.lease_until_s = now + 1e9


class CountsLeaseFromReceipt(WorkerManager):
    def _extend_lease(self, message, now, out):
        self._sent[message.answers] = now
        super()._extend_lease(message, now, out)


class TakesOldAssignments(WorkerManager):
    def _is_old(self, message):
        return False


class StartsWithoutLease(WorkerManager):
    def _start_waiting(self, now, out):
        return super()._start_waiting(self.lease_until_s - 1e9, out)


class ReportsTheKillAsTheEnd(WorkerManager):
    """A process that was sent a kill is taken for dead."""

    def _kill(self, part, out):
        super()._kill(part, out)
        part.ends += ["killed"] * len(part.live)
        part.live.clear()

    def ended(self, key, *args):
        return super().ended(key, *args) if key in self.parts else Outputs()


class ForgetsHowItsPartsEnded(WorkerManager):
    """A worker manager that starts knows nothing of parts whose end the scheduler was not told."""

    def __init__(self, identity, timing, now, records=()):
        super().__init__(identity, timing, now)


class NeverKills(WorkerManager):
    def _overdue(self, part, now):
        return False


class MistakenStints(CentralScheduler):
    stints_type = Stints

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.stints.__class__ = self.stints_type


class StartsBeforeTheFormerEnded(MistakenStints):
    class stints_type(Stints):
        def alone(self, stint):
            return True


class TakesAbsenceForTheEnd(MistakenStints):
    class stints_type(Stints):
        def _known_absent(self, share, report):
            return True


class ForgetsRunningJobs(CentralScheduler):
    """A scheduler that starts again does not look at what runs."""

    def __init__(self, records, *args, **options):
        kept = {key: value for key, value in records.items() if not key.startswith("stint/")}
        super().__init__(kept, *args, **options)


class GivesNodesUpAtRestart(CentralScheduler):
    def __init__(self, records, timing, now, *args, **options):
        super().__init__(records, timing, now, *args, **options)
        for heard in self.nodes.heard.values():
            heard.lease_until_s = now


class AcceptsARequestTwice(CentralScheduler):
    def asked(self, request):
        return None


MISTAKES = {
    "acknowledge before saving": Machines(scheduler=AcknowledgesBeforeSaving),
    "forget the epoch": Machines(worker=ForgetsEpochs),
    "revoke at several ranks at once": Machines(worker=RevokesAtEveryNode, at_boundary=any_rank_proposes),
    "let the lead go on before all nodes know": Machines(worker=LeadDoesNotWait),
    "give the GPUs of a silent node away early": Machines(scheduler=GivesGpusAwayEarly),
    "go on without contact": Machines(worker=IgnoresLostContact),
    "count the lease from the receipt of the answer": Machines(worker=CountsLeaseFromReceipt),
    "take an old assignment": Machines(worker=TakesOldAssignments),
    "start a process without a lease": Machines(worker=StartsWithoutLease),
    "take the kill for the end": Machines(worker=ReportsTheKillAsTheEnd),
    "forget how parts ended at a restart": Machines(worker=ForgetsHowItsPartsEnded),
    "never kill": Machines(worker=NeverKills),
    "start before the former epoch has ended": Machines(scheduler=StartsBeforeTheFormerEnded),
    "take absence from a report for the end": Machines(scheduler=TakesAbsenceForTheEnd),
    "forget running jobs at a restart": Machines(scheduler=ForgetsRunningJobs),
    "give nodes up at a restart": Machines(scheduler=GivesNodesUpAtRestart),
    "accept a request twice": Machines(scheduler=AcceptsARequestTwice),
}

# Where to look first for mistakes that show themselves rarely.
KNOWN_SEEDS = {"forget the epoch": (13, 244)}
