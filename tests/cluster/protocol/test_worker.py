"""The worker manager, by hand: assignments, two-phase exit, leases. Grace 4 s, lease 10 s, heartbeat 1 s."""

import pytest
from msgspec.structs import replace

from blox.cluster.protocol.messages import (
    SCHEDULER,
    Assignment,
    ExitAt,
    ExitKnown,
    Grant,
    JobSpec,
    Renewed,
    Report,
)
from blox.cluster.protocol.outputs import Allow, ExtendLease, FixExit, Kill, Outputs, Revoke, Start, Terminate
from blox.cluster.protocol.timing import Timing
from blox.cluster.protocol.worker import WorkerManager
from blox.errors import BloxError

TIMING = Timing(round_s=3, heartbeat_s=1, lease_s=10, margin_s=1, grace_s=4)
IDENTITY = Report("a", 1, 0, 0, 4, ())
ONE = Grant(1, 1, (0,), (2,), 1, ("a",), ("",), False, JobSpec(("train",)))
WIDE = Grant(2, 1, (0, 1), (0, 1), 4, ("a", "b"), ("", ""), False, JobSpec(("train",), 4))


@pytest.fixture
def worker():
    made = WorkerManager(IDENTITY, TIMING, 100.0)
    made.tick(100.0)  # report 1
    return made


def assign(worker, *grants, version=1, answers=1, now=100.5, incarnation=1):
    return worker.receive(Assignment("a", incarnation, version, answers, grants), now)


def reports(out):
    return [message for address, message in out.sends if isinstance(message, Report)]


def test_a_grant_is_started_and_reported(worker):
    out = assign(worker, ONE)
    assert out.actions == [ExtendLease(110.0), Start(ONE, 0, 2)]
    (report,) = reports(out)
    assert report.applied == 1
    assert [(part.job, part.live, part.started) for part in report.parts] == [(1, True, True)]


def test_the_lease_counts_from_when_the_answered_report_was_sent(worker):
    out = assign(worker, now=108.0)
    assert out.actions == [ExtendLease(110.0)]


def test_an_older_assignment_and_one_for_an_earlier_incarnation_change_nothing(worker):
    assign(worker, version=5)
    assert assign(worker, ONE, version=4).actions == []
    assert assign(worker, ONE, version=6, incarnation=2).actions == []
    assert worker.parts == {}


def test_a_part_that_ended_is_not_started_again(worker):
    assign(worker, ONE)
    worker.ended((1, 1), 0, "done", 101.0)
    assert assign(worker, ONE, version=2, now=101.5).actions == []
    (report,) = reports(worker.tick(103.0))
    assert [(part.live, part.outcome) for part in report.parts] == [(False, "done")]


def test_what_is_not_assigned_any_more_is_killed_and_then_forgotten(worker):
    assign(worker, ONE)
    assert assign(worker, version=2).actions == [Kill(1, 1, 0)]
    assert worker.parts[1, 1].report().live, "until the process has ended"
    worker.ended((1, 1), 0, "killed", 101.0)
    assign(worker, version=3)
    assert worker.parts == {}


def test_slots_are_handed_on_when_the_process_in_them_has_ended(worker):
    other = replace(ONE, job=9)
    assign(worker, ONE)
    assert assign(worker, other, version=2).actions == [Kill(1, 1, 0)]
    assert worker.ended((1, 1), 0, "killed", 101.0).actions == [Start(other, 0, 2)]


def test_a_rank_that_fails_takes_the_others_of_its_node_with_it(worker):
    assign(worker, WIDE)
    out = worker.ended((2, 1), 1, "failed", 101.0, "exit code 3")
    assert out.actions == [Kill(2, 1, 0)]
    part = reports(out)[0].parts[0]
    assert (part.live, part.outcome, part.detail) == (True, "failed", "exit code 3")


def test_so_does_a_rank_whose_guard_was_killed(worker):
    assign(worker, WIDE)
    out = worker.ended((2, 1), 1, "lost", 101.0)
    assert out.actions == [Kill(2, 1, 0)]
    assert reports(worker.ended((2, 1), 0, "killed", 102.0))[0].parts[0].outcome == "lost"


def test_a_revocation_reaches_the_lead_alone(worker):
    assign(worker, WIDE)
    out = assign(worker, replace(WIDE, stop=True), version=2)
    assert out.actions == [Revoke(2, 1, 0)]


def test_a_node_without_the_lead_revokes_nothing():
    other = WorkerManager(Report("b", 1, 0, 0, 4, ()), TIMING, 100.0)
    other.tick(100.0)
    grant = replace(WIDE, ranks=(2, 3))
    assign(other, grant)
    assert assign(other, replace(grant, stop=True), version=2).actions == []


def test_the_lead_learns_its_exit_when_every_node_knows_it(worker):
    assign(worker, WIDE)
    assign(worker, replace(WIDE, stop=True), version=2)
    out = worker.proposed((2, 1), 8, 101.0)
    assert out.actions == [FixExit(2, 1, 1, 8)], "rank 1 is here, the lead waits"
    assert ("b", ExitAt(2, 1, 8, "a")) in out.sends
    assert ("b", ExitAt(2, 1, 8, "a")) in worker.tick(102.5).sends, "told again until confirmed"
    out = worker.receive(ExitKnown(2, 1, "b"), 103.0)
    assert FixExit(2, 1, 0, 8) in out.actions
    assert not any(isinstance(message, ExitAt) for _, message in worker.tick(104.5).sends)


def test_a_node_that_is_told_the_exit_shows_its_ranks_and_confirms(worker):
    assign(worker, replace(WIDE, ranks=(2, 3), nodes=("b", "a")))
    out = worker.receive(ExitAt(2, 1, 8, "b"), 101.0)
    assert out.actions == [FixExit(2, 1, 2, 8), FixExit(2, 1, 3, 8)]
    assert out.sends == [("b", ExitKnown(2, 1, "a"))]


def test_an_exit_of_another_epoch_is_ignored(worker):
    assign(worker, replace(WIDE, epoch=2))
    out = worker.receive(ExitAt(2, 1, 8, "b"), 101.0)
    assert out.actions == out.sends == []


def test_a_job_that_does_not_leave_is_killed_after_the_grace_period(worker):
    assign(worker, replace(ONE, stop=False))
    assign(worker, replace(ONE, stop=True), version=2, now=101.0)
    assert Kill(1, 1, 0) not in worker.tick(104.9).actions
    assert worker.wake_s <= 105.0
    assert Kill(1, 1, 0) in worker.tick(105.0).actions


@pytest.mark.parametrize(("preemption", "actions"), [("signal", [Terminate(1, 1, 0)]), ("never", [])])
def test_preemption_by_signal_and_not_at_all(worker, preemption, actions):
    grant = replace(ONE, spec=JobSpec(("train",), preemption=preemption))
    assign(worker, grant)
    assert assign(worker, replace(grant, stop=True), version=2).actions == actions
    killed = Kill(1, 1, 0) in worker.tick(105.0).actions
    assert killed == (preemption == "signal")


def test_without_contact_jobs_are_asked_to_leave_and_are_lost_at_the_end_of_the_lease(worker):
    assign(worker, ONE)
    assert Revoke(1, 1, 0) not in worker.tick(105.9).actions
    assert Revoke(1, 1, 0) in worker.tick(106.0).actions, "4 s before the lease runs out at 110 s"
    assert Kill(1, 1, 0) in worker.tick(110.0).actions
    worker.ended((1, 1), 0, "killed", 110.1)
    assert worker.parts[1, 1].report().outcome == "lost", "it is not the job's fault"


def test_nothing_is_started_without_contact(worker):
    assert not any(isinstance(action, Start) for action in assign(worker, ONE, now=107.0).actions)


def test_what_could_not_start_without_contact_starts_when_it_is_back(worker):
    assign(worker, ONE, answers=0, now=107.0)  # an answer to no report that is known: no lease
    worker.receive(Assignment("a", 1, 1, 0, (ONE,)), 107.5)
    worker._report(108.0, Outputs())  # report 2
    assert Start(ONE, 0, 2) in assign(worker, ONE, version=2, answers=2, now=108.5).actions


def test_central_renewal_asks_the_scheduler_and_passes_its_answer_on(worker):
    assign(worker, ONE)
    out = worker.asked((1, 1), 5, 101.0)
    assert [address for address, _ in out.sends] == [SCHEDULER]
    assert worker.receive(Renewed(1, 1, 5, True), 101.1).actions == [Allow(1, 1, 0, 5)]
    worker.asked((1, 1), 6, 101.2)
    assert worker.receive(Renewed(1, 1, 6, False), 101.3).actions == [Revoke(1, 1, 0)]


def test_a_lease_must_outlast_the_grace_period_and_some_heartbeats():
    with pytest.raises(BloxError, match="lease_s is 5"):
        Timing(lease_s=5, grace_s=4, heartbeat_s=1)


def test_backoff_doubles_up_to_a_limit():
    timing = Timing(backoff_s=5, longest_backoff_s=30)
    assert [timing.backoff(n) for n in (1, 2, 3, 4, 9)] == [5, 10, 20, 30, 30]


def test_how_a_part_ended_is_stored_until_the_scheduler_has_answered(worker):
    assign(worker, ONE)
    ((key, record),) = worker.ended((1, 1), 0, "done", 101.0).saves
    again = WorkerManager(replace(IDENTITY, incarnation=2), TIMING, 200.0, [record])
    (report,) = reports(again.tick(200.0))
    assert [(part.job, part.epoch, part.live, part.outcome) for part in report.parts] == [
        (1, 1, False, "done")
    ]
    assert again.tick(201.0).saves == [], "it is told until an assignment answers"
    assert assign(again, now=202.0, incarnation=2).saves == [(key, None)]
    assert reports(again.tick(203.0))[0].parts == ()


def test_a_record_that_cannot_be_read_tells_nothing():
    made = WorkerManager(IDENTITY, TIMING, 100.0, [b"", b"half"])
    assert reports(made.tick(100.0))[0].parts == ()


def test_the_end_of_a_part_is_forgotten_with_the_part(worker):
    assign(worker, ONE)
    ((key, _),) = worker.ended((1, 1), 0, "failed", 101.0, "exit code 1").saves
    assert assign(worker, version=2, now=102.0).saves == [(key, None)]
