"""The central scheduler, by hand: requests, grants, preemption, failures, restarts. Rounds of 3 s."""

import pytest

from blox.cluster.central.records import Policies
from blox.cluster.central.views import jobs_view, policies_view
from blox.cluster.protocol.messages import (
    Accepted,
    Ask,
    Assignment,
    Cancel,
    JobSpec,
    Refused,
    Renewed,
    Report,
    SetNode,
    SetPolicies,
    Submit,
)
from blox.cluster.protocol.queries import ListJobs
from support.by_hand_cluster import Cluster, ended, running


@pytest.fixture
def cluster():
    made = Cluster()
    made.parts = {}
    made.report("a")
    made.report("b")
    return made


def test_a_job_is_granted_in_the_next_round(cluster):
    job = cluster.submit(2)
    assert job == 1
    cluster.until(3.0)
    assert cluster.grants("a") == [(1, 1, (0, 1), False)]
    assert cluster.grants("b") == []
    assert cluster.life(1) == ["submitted", "admitted", "placed on a"]


def test_ranks_of_a_wide_job_are_spread_over_nodes_in_order(cluster):
    cluster.submit(3)
    cluster.until(3.0)
    cluster.report("b")
    (grant,) = cluster.assigned["b"].grants
    assert (grant.ranks, grant.slots, grant.world, grant.nodes) == ((2,), (0,), 3, ("a", "b"))


def test_a_request_that_is_repeated_is_the_same_job(cluster):
    request = Submit("once", JobSpec(("train",), 1))
    assert cluster.ask(request) == cluster.ask(request) == Accepted("once", 1)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Submit("", JobSpec(("train",))), "no name"),
        (Submit("x" * 201, JobSpec(("train",))), "no name, or a long one"),
        (Submit("r", JobSpec(())), "no command"),
        (Submit("r", JobSpec(("train",), 0)), "gpus is 0"),
        (Submit("r", JobSpec(("train",), -1)), "gpus is -1"),
        (Submit("r", JobSpec(("train",), 5)), "needs 5 GPUs, and the cluster has 4"),
        (Submit("r", JobSpec(("train",), 2, min_gpus=3)), "min_gpus 3"),
        (Submit("r", JobSpec(("train",), 2, max_gpus=1)), "max_gpus 1"),
        (Submit("r", JobSpec(("train",), expected_s=-1.0)), "expected_s is -1"),
        (Submit("r", JobSpec(("train",), loss_threshold=0.0)), "loss_threshold is 0"),
        (Submit("r", JobSpec(("train",), expected_s=float("nan"))), "expected_s is nan"),
        (Cancel("r", 77), "no job 77"),
        (SetNode("r", "c", "draining"), "no node is called 'c'"),
        (SetPolicies("r"), "no policy was named"),
        (SetPolicies("r", scheduler="lass"), "lass"),
        (SetPolicies("r", admission="threshold:factor=x"), "'x' is not a number"),
        (SetPolicies("r", placement="first-free:wrong=1"), "wrong"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(cluster, request_, words):
    before = dict(cluster.journal)
    answer = cluster.ask(request_)
    assert isinstance(answer, Refused)
    assert words in answer.what
    assert cluster.journal == before


def test_a_finished_job_ends_once_and_frees_its_slots(cluster):
    cluster.submit(2)
    cluster.until(3.0)
    cluster.report("a", running(1))
    cluster.report("a", ended(1, "done"))
    cluster.until(6.0)
    assert cluster.job(1).end == "finished"
    assert cluster.life(1)[-1] == "finished"
    cluster.submit(2)
    cluster.until(9.0)
    assert cluster.grants("a") == [(2, 1, (0, 1), False)]


def test_slots_are_granted_when_their_former_job_is_known_to_have_ended():
    cluster = Cluster(Policies(scheduler="fifo-priority"))
    cluster.report("a")
    low = cluster.submit(2)
    cluster.until(3.0)
    cluster.report("a", running(low))
    high = cluster.submit(2, priority=1.0)
    cluster.until(6.0)
    cluster.report("a", running(low))
    assert [(g.job, g.stop) for g in cluster.assigned["a"].grants] == [(low, True)]
    cluster.report("a", ended(low, "left", checkpoint=4))
    assert [(g.job, g.stop) for g in cluster.assigned["a"].grants] == [(high, False)], (
        "at once, not in a round"
    )
    assert f"preempted by job {high}" in cluster.life(low)


def test_a_job_that_fails_is_tried_again_after_a_while_and_then_given_up(cluster):
    cluster.submit(1)
    cluster.until(3.0)
    cluster.report("a", ended(1, "failed", detail="exit code 1: no such file"))
    cluster.until(6.0)
    assert cluster.grants("a") == [], "it waits for 6 s"
    assert jobs_view(cluster.scheduler, ListJobs(True))[0].state == "failed, to be tried again"
    cluster.until(12.0)
    assert cluster.grants("a") == [(1, 2, (0,), False)]
    cluster.report("a", ended(1, "failed", 2, detail="exit code 1: no such file"))
    cluster.until(15.0)
    assert cluster.job(1).end == "failed 2 times: exit code 1: no such file"
    assert cluster.grants("a") == []


@pytest.mark.parametrize(("preemption", "failures"), [("never", 1), ("signal", 0), ("iteration", 0)])
def test_a_job_that_ends_badly_was_told_to_leave_or_has_failed(preemption, failures):
    """One that is never told to leave fails by itself, also while another waits for its GPUs."""
    cluster = Cluster(Policies(scheduler="fifo-priority"))
    cluster.report("a")
    low = cluster.submit(2, preemption=preemption)
    cluster.until(3.0)
    cluster.report("a", running(low))
    cluster.submit(2, priority=1.0)
    cluster.until(6.0)
    cluster.report("a", ended(low, "failed", detail="exit code 75"))
    cluster.until(9.0)
    assert cluster.job(low).failures == failures


def test_a_node_that_is_silent_for_a_lease_and_a_margin_is_lost(cluster):
    cluster.submit(1)
    cluster.until(3.0)
    cluster.report("a", running(1))
    for second in range(4, 15):
        cluster.until(float(second))
        cluster.report("b")
    cluster.until(18.0)
    assert cluster.life(1)[-2:] == ["lost its node", "placed on b"]
    assert cluster.grants("b") == [(1, 2, (0,), False)]


def test_processes_of_an_earlier_incarnation_are_lost(cluster):
    cluster.submit(1)
    cluster.until(3.0)
    cluster.report("a", running(1))
    cluster.report("a", incarnation=2)
    cluster.until(6.0)
    assert cluster.grants("b") == []
    cluster.report("a", incarnation=2)
    assert [(g.job, g.epoch) for g in cluster.assigned["a"].grants] == [(1, 2)]


def test_what_an_earlier_incarnation_has_stored_of_its_processes_counts(cluster):
    cluster.submit(1)
    cluster.submit(1)
    cluster.until(3.0)
    cluster.report("a", running(1), running(2))
    cluster.report("a", ended(1, "done"), incarnation=2)
    cluster.until(6.0)
    assert cluster.job(1).end == "finished"
    assert (cluster.job(1).epoch, cluster.job(2).epoch) == (1, 2)


def test_a_scheduler_that_stood_still_does_not_take_that_for_silence_of_its_nodes(cluster):
    cluster.submit(1)
    cluster.until(3.0)
    cluster.report("a", running(1))
    cluster.now = 30.0
    cluster.scheduler.stood_still(27.0)
    cluster.until(33.0)
    cluster.report("a", ended(1, "done"))
    cluster.until(36.0)
    assert (cluster.job(1).end, cluster.job(1).epoch) == ("finished", 1)


@pytest.mark.parametrize(
    "stranger",
    [
        Report("a", 9, 1, 0, 2, (), identity="another"),
        Report("a", 9, 1, 0, 8, (), identity="a"),
        Report("", 1, 1, 0, 2, ()),
        Report("c" * 101, 1, 1, 0, 2, ()),
        Report("c", 1, 1, 0, 0, ()),
        Report("c", 1, 1, 0, 10**9, ()),
    ],
)
def test_a_machine_that_cannot_be_what_it_says_is_not_heard(cluster, stranger):
    before = dict(cluster.journal)
    assert cluster.take(cluster.scheduler.receive(stranger, stranger.node, 0.0)) == []
    assert cluster.assigned == {}
    assert cluster.journal == before


def test_a_node_that_starts_again_is_found_at_its_new_address(cluster):
    moved = Report("a", 2, 1, 0, 2, (), identity="a", address="127.0.0.1:77")
    cluster.take(cluster.scheduler.receive(moved, "a", cluster.now))
    cluster.restart()
    assert cluster.scheduler.nodes.records["a"].address == "127.0.0.1:77"


def test_a_cancelled_job_is_killed_and_one_that_waits_is_withdrawn():
    cluster = Cluster(Policies(admission="threshold:factor=1"))
    cluster.report("a")
    first, second = cluster.submit(2), cluster.submit(2)
    cluster.until(3.0)
    cluster.report("a", running(first))
    assert cluster.ask(Cancel("c1", first)) == Accepted("c1")
    assert cluster.ask(Cancel("c2", second)) == Accepted("c2")
    third = cluster.submit(1)
    assert cluster.ask(Cancel("c3", third)) == Accepted("c3")
    cluster.until(6.0)
    assert [cluster.job(n).end for n in (first, second, third)] == ["cancelled"] * 3
    cluster.report("a", running(first))
    assert cluster.assigned["a"].grants == (), "so it is killed there"
    assert isinstance(cluster.ask(Cancel("c4", 1)), Accepted), "again is no mistake"


def test_jobs_leave_a_node_that_is_taken_down(cluster):
    cluster.submit(1)
    cluster.until(3.0)
    cluster.report("a", running(1))
    cluster.ask(SetNode("d", "a", "down"))
    cluster.until(6.0)
    cluster.report("a", running(1))
    assert [(g.job, g.stop) for g in cluster.assigned["a"].grants] == [(1, True)]
    cluster.report("a", ended(1, "left"))
    cluster.until(9.0)
    assert cluster.grants("b") == [(1, 2, (0,), False)]


def test_policies_are_changed_while_jobs_run_and_nothing_restarts(cluster):
    cluster.submit(2)
    cluster.until(3.0)
    cluster.report("a", running(1))
    cluster.ask(SetPolicies("p", scheduler="las", admission="threshold:factor=1.2"))
    cluster.until(9.0)
    cluster.report("a", running(1))
    assert [(g.job, g.epoch, g.stop) for g in cluster.assigned["a"].grants] == [(1, 1, False)]
    cluster.restart()
    assert cluster.scheduler.policies == Policies("threshold:factor=1.2", "las", "first-free")


def test_a_restarted_scheduler_adopts_what_runs_and_remembers_what_waits(cluster):
    for _ in range(3):
        cluster.submit(2)
    cluster.until(3.0)
    cluster.report("a", running(1))
    cluster.restart()
    cluster.report("a", running(1))
    cluster.report("b", running(2))
    cluster.until(9.0)
    assert [(g.job, g.epoch, g.stop) for g in cluster.assigned.get("a", _NONE).grants] in (
        [],
        [(1, 1, False)],
    )
    cluster.report("a", ended(1, "done"))
    cluster.report("b", running(2))
    cluster.until(12.0)
    assert cluster.grants("a") == [(3, 1, (0, 1), False)]
    assert [cluster.job(n).epoch for n in (1, 2, 3)] == [1, 1, 1]


_NONE = Assignment("", 0, 0, 0, ())


def test_a_restarted_scheduler_waits_for_the_lease_of_a_node_that_it_has_not_heard(cluster):
    cluster.submit(1)
    cluster.until(3.0)
    cluster.report("a", running(1))
    cluster.restart()
    for second in range(4, 13):
        cluster.until(float(second))
        cluster.report("b")
        assert cluster.assigned["b"].grants == ()
    cluster.until(18.0)
    assert cluster.grants("b") == [(1, 2, (0,), False)]


@pytest.mark.parametrize(
    "policy", ["tiresias:queues=2,threshold=20", "las", "ftf", "promote:policy=las,after_s=9"]
)
def test_a_restart_between_rounds_changes_no_decision(policy):
    """The same jobs with and without restarts: what policies remember survives them."""

    def history(restarts):
        cluster = Cluster(Policies(scheduler=policy))
        cluster.report("a")
        cluster.report("b")
        decided = []
        for second in range(1, 90):
            cluster.until(float(second))
            if second % 7 == 1 and second < 60:
                cluster.submit(1 + second % 3, expected_s=30.0)
            stints = list(cluster.scheduler.stints.all.values())
            for node in ("a", "b"):
                told = []
                for stint in stints:
                    for share in stint.shares:
                        if share.node == node and stint.phase == "granted":
                            told.append(running(stint.job, stint.epoch))
                        elif share.node == node and stint.phase == "stopping":
                            told.append(ended(stint.job, "left", stint.epoch))
                cluster.report(node, *told)
            decided.append([(s.job, s.epoch, s.phase) for s in cluster.scheduler.stints.all.values()])
            if restarts and second % 9 == 0:
                cluster.restart()
        return decided

    kept, again = history(restarts=False), history(restarts=True)
    assert kept[-1] == again[-1]
    assert [len(each) for each in kept if each]


def test_central_renewal_is_refused_once_the_lease_is_revoked(cluster):
    cluster.submit(1)
    cluster.until(3.0)
    cluster.report("a", running(1))
    ask = Ask(1, 1, 5, "a")
    answers = [m for _, m in cluster.scheduler.receive(ask, "a", cluster.now).sends]
    assert answers == [Renewed(1, 1, 5, True)]
    cluster.ask(SetNode("d", "a", "down"))
    cluster.until(6.0)
    answers = [m for _, m in cluster.scheduler.receive(ask, "a", cluster.now).sends]
    assert answers == [Renewed(1, 1, 5, False)]


def test_a_policy_that_raises_is_told_and_the_cluster_goes_on(cluster, tmp_path):
    cluster.submit(1)
    cluster.until(3.0)
    cluster.report("a", running(1))
    mine = tmp_path / "mine.py"
    mine.write_text("class Mine:\n    def schedule(self, *states):\n        raise ValueError('no idea')\n")
    assert isinstance(cluster.ask(SetPolicies("p", scheduler=f"{mine}:Mine")), Accepted)
    cluster.until(6.0)
    assert "no idea" in cluster.scheduler.fault
    assert cluster.grants("a") == [(1, 1, (0,), False)]
    cluster.ask(SetPolicies("q", scheduler="fifo"))
    cluster.until(9.0)
    assert cluster.scheduler.fault == ""


def test_a_scheduler_starts_again_without_the_file_of_its_policy(cluster, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("from blox.schedulers.las import Las\n\n\nclass Mine(Las):\n    pass\n")
    assert isinstance(cluster.ask(SetPolicies("p", scheduler=f"{mine}:Mine")), Accepted)
    cluster.journal["memory"] = b"no pickle"
    mine.unlink()
    cluster.restart()
    assert cluster.scheduler.policies.scheduler == "fifo"
    assert "could not be built" in policies_view(cluster.scheduler, 0.0).fault
    cluster.submit(1)
    cluster.report("a")
    cluster.until(6.0)
    assert cluster.grants("a") == [(1, 1, (0,), False)]


def test_metrics_that_jobs_push_reach_the_policies(cluster):
    cluster.submit(1)
    cluster.until(3.0)
    cluster.report("a", running(1, metrics={"loss": 0.25}))
    cluster.until(6.0)
    assert cluster.scheduler.job_state.metric("loss").tolist() == [0.25]


@pytest.mark.parametrize(
    ("policy", "own", "pushed", "why"),
    [
        ("loss:target=0.3", {}, [0.5, 0.25], "its loss reached 0.3"),
        ("loss:patience=2", {}, [0.5, 0.4999, 0.4998], "its loss fell by less than 0.2 % in 2 epochs"),
        (
            "loss:patience=2",
            {"loss_threshold": 0.5},
            [0.5, 0.4, 0.35],
            "its loss fell by less than 50 % in 2 epochs",
        ),
    ],
)
def test_a_job_ends_by_the_losses_that_it_pushes(cluster, policy, own, pushed, why):
    """The policy of the simulator, on metrics: the job's lease is revoked, it ends, and its slot is free."""
    cluster.ask(SetPolicies("p", termination=policy))
    cluster.submit(1, **own)
    cluster.until(3.0)
    for number, loss in enumerate(pushed):
        assert not cluster.job(1).end
        cluster.report("a", running(1, metrics={"loss": loss}))
        cluster.until(6.0 + 3 * number)
    assert cluster.job(1).end == why
    assert cluster.grants("a") == [(1, 1, (0,), True)]
    cluster.report("a", ended(1, "left"))
    cluster.submit(2)
    cluster.until(18.0)
    assert [grant[0] for grant in cluster.grants("a")] == [2]
    cluster.restart()
    assert cluster.scheduler.policies.termination == policy


def test_work_is_counted_from_the_start_and_back_to_the_checkpoint(cluster):
    """Started at 4 s, saved at 6 s, lost at 9 s: 2 s of work are left."""
    cluster.submit(1)
    cluster.until(4.0)
    cluster.report("a", running(1))
    cluster.until(5.0)
    cluster.report("a", running(1, checkpoint=10))
    cluster.until(8.0)
    assert cluster.scheduler.job_state.done_s().tolist() == [2.0], "at 6 s, when the round began"
    cluster.report("a", ended(1, "failed"))
    cluster.until(9.0)
    assert cluster.scheduler.job_state.done_s().tolist() == [2.0]
    assert cluster.scheduler.job_state.now == 9.0


def test_a_round_that_is_late_takes_place_at_its_boundary(cluster):
    """Service is counted in whole rounds; what came after the boundary is for the next one."""
    early = cluster.submit(1)
    cluster.now = 3.4
    late = cluster.submit(1)
    cluster.take(cluster.scheduler.tick(3.5))
    assert cluster.scheduler.job_state.now == 3.0
    assert cluster.life(early)[-1] == "placed on a" and cluster.life(late) == ["submitted"]
    assert cluster.scheduler.job_state.columns.held_since[0] == 3.0
    cluster.until(6.0)
    assert cluster.life(late)[-1] == "placed on a"


def test_a_scheduler_that_stood_still_goes_on_at_the_latest_boundary(cluster):
    cluster.submit(1)
    cluster.take(cluster.scheduler.tick(10.0))
    assert cluster.scheduler.job_state.now == 9.0
    assert cluster.scheduler.wake_s <= 12.0


def test_another_machine_with_the_name_of_a_node_is_refused_while_that_may_live(cluster):
    def second(now, wall_s=None):
        report = Report("a", 7, 1, 0, 2, (), identity="other", address="b:1")
        out = cluster.scheduler.receive(report, "a", now)
        cluster.take(out)
        return [message.what for _, message in out.sends if isinstance(message, Refused)]

    (reason,) = second(1.0)
    assert "another machine has the name a" in reason
    cluster.restart()
    assert second(2.0), "the scheduler has not heard of the first since it started: it may be alive"
    cluster.until(20.0)
    assert second(20.0) == [], "its lease has run out"
    assert cluster.scheduler.nodes.records["a"].identity == "other"


def test_a_node_that_starts_with_its_clock_an_hour_off_is_refused(cluster):
    def reasons(report):
        out = cluster.scheduler.receive(report, report.node, 1.0, wall_s=1e9)
        return [message.what for _, message in out.sends if isinstance(message, Refused)]

    fast = Report("c", 1, 1, 0, 2, (), identity="c", wall_s=1e9 + 3600)
    assert reasons(fast) == ["the clock of c is 3,600 s fast: set it (NTP); 300 s are tolerated"]
    assert "c" not in cluster.scheduler.nodes.records
    jumped = Report("a", 1, 99, 0, 2, (), identity="a", wall_s=1e9 - 3600)
    assert reasons(jumped) == [], "one that runs already is not disturbed: no two clocks are compared"
