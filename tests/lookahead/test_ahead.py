"""Looking ahead leaves no trace, and with the true durations it is the run itself, for every policy."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from blox import Experiment, registry
from blox.checks.find import find
from blox.checks.probe import _fingerprint as fingerprint
from blox.experiment.pause import paused_at
from blox.lookahead.ahead import Believed, look_ahead
from blox.lookahead.clocks import patient
from blox.schedulers.srtf import Srtf
from blox.state.node_events import NodeEvent
from support.examples import examples
from support.moments import moments
from support.worlds import World, worlds

RIGID = Experiment(
    workload="philly:load=60,max_gpus=8", jobs=24, cluster="4x4", performance="spread", scheduler="las",
    overheads="launch=30,restart=60", seed=3,
)  # fmt: skip
OTHERS = {  # what some policies are made for
    **dict.fromkeys(
        ("pollux", "optimus"),
        Experiment(
            workload="elastic:jobs=10,load=60,max_gpus=8", cluster="4x4", performance="goodput", round_s=60.0,
            overheads="launch=30,restart=30,resize=10", seed=1,
        ),
    ),
    "synergy": Experiment(
        workload="synergy:load=30,jobs=24,max_gpus=8", cluster="4x4:cpu=24,memory_gb=500", scheduler="las",
        performance="sensitivity",
    ),
    "gavel": Experiment(workload="gavel:load=30,jobs=16", cluster="v100=2x4,k80=1x4"),
}  # fmt: skip
SETTINGS = {
    "admission": "admission", "scheduling": "scheduler", "placement": "placement",
    "termination": "termination",
}  # fmt: skip
EVERY_POLICY = [(kind, name) for kind in SETTINGS for name in registry.names(kind)]
MEASURED = ("admit_s", "first_start_s", "finish_s", "preemptions", "moves")


def with_policy(kind, name):
    """An experiment with the policy as `blox check` builds it."""
    return replace(OTHERS.get(name, RIGID), **{SETTINGS[kind]: registry.spec_of(find(name, kind).policy)})


def look(moment, **options):
    """Ahead from a moment, with the true durations."""
    return look_ahead(
        moment.cluster_state,
        moment.job_state,
        moment.policies,
        moment.conditions,
        Believed(moment.true_work_s),
        **options,
    )


MOST_LOOKS = 24  # into one run: a long one is looked into less often


def looks_as_it_comes(experiment, every=5):
    """From every fifth round on, once all jobs have come: the origin is unchanged, and the rest is the run's.

    Returns how often it has looked.
    """
    result, looked = experiment.run(), 0
    rounds = int(result.summary["end_s"] / experiment.round_s)
    truth, every = result.jobs, max(every, rounds // MOST_LOOKS)
    for number, moment in enumerate(moments(experiment)):
        if not moment.prepared.feed.ended or number % every:
            continue
        before, memory = fingerprint(moment.job_state, moment.cluster_state), repr(moment.job_state._memory)
        ahead = look(moment)
        assert fingerprint(moment.job_state, moment.cluster_state) == before
        assert repr(moment.job_state._memory) == memory
        columns, count = ahead.job_state.columns, ahead.job_state.submitted
        for name in MEASURED:
            assert getattr(columns, name)[:count].tolist() == truth[name].tolist(), name
        assert columns.run0[:count].tolist() == truth["run_s"].tolist()
        looked += 1
    return looked


@pytest.mark.parametrize(("kind", "name"), EVERY_POLICY, ids=lambda each: each)
def test_with_the_true_durations_it_is_the_run_itself(kind, name):
    assert looks_as_it_comes(with_policy(kind, name)) >= 3


@pytest.mark.slow
def test_so_it_is_where_jobs_share_gpus():
    packed = replace(OTHERS["gavel"], scheduler="gavel:policy=max_min_fairness_packed")
    assert looks_as_it_comes(packed) >= 3


@pytest.mark.parametrize("name", ["las", "srtf", "backfill", "optimus", "gavel"])
def test_so_it_is_where_all_that_happens_to_nodes_is_announced(name):
    """The notice is given at the beginning. Node 1 keeps its jobs, and is down from 1 to 3 h."""
    drain = "drain:node=1,at=1h,lasts=2h,notice=1h"
    drained = replace(with_policy("scheduling", name), failures=drain)
    assert drained.run().summary["node_drains"] == 1
    assert looks_as_it_comes(drained, every=2) >= 2


@examples(40)
@given(worlds())
def test_so_it_is_in_any_world(world):
    looks_as_it_comes(replace(world.experiment(), max_rounds=None), every=7)


def one_gpu(*jobs, **settings):
    """A world of one GPU: (name, submission, duration) of each job."""
    return World(
        tuple((name, at, 1, length, "", "", "", "", 0) for name, at, length in jobs), (1,), **settings
    )


def test_jobs_that_come_later_are_not_known():
    world = one_gpu(("a", 0.0, 3000.0), ("b", 600.0, 300.0), scheduler="srtf")
    moment = next(moments(world.experiment()))
    ahead = look(moment)
    assert ahead.job_state.submitted == 1 and ahead.rows.tolist() == [0]
    assert ahead.end_s == 3000.0, "b, which would go first, has not been submitted"
    later = replace(world, jobs=world.jobs[1:]).table()
    ahead = look(moment, arrivals=[later])
    assert ahead.rows.tolist() == [0, 1]
    assert ahead.job_state.columns.finish_s[:2].tolist() == [3300.0, 900.0]


def test_beliefs_stand_in_place_of_durations():
    """a is taken to be short and is run to its end; what policies see of it is the belief as well."""
    world = one_gpu(("a", 0.0, 9000.0), ("b", 0.0, 600.0), scheduler="srtf")
    moment = next(moments(world.experiment()))
    parts = (moment.cluster_state, moment.job_state, moment.policies, moment.conditions)
    short = np.array([300.0, 600.0])
    ahead = look_ahead(*parts, Believed(short, short))
    assert ahead.job_state.columns.finish_s[:2].tolist() == [300.0, 900.0]
    ahead = look_ahead(*parts, Believed(short))  # policies still think that a is long
    assert ahead.job_state.columns.finish_s[:2].tolist() == [900.0, 600.0]


def test_other_policies_are_not_bound_by_what_the_present_ones_promise():
    """b fits beside nothing: FIFO keeps it waiting behind a for ever, SRTF starts it at once."""
    world = one_gpu(("a", 0.0, 9000.0), ("b", 0.0, 600.0))
    paused = paused_at(world.experiment().prepare(), 3000.0)
    assert paused.cluster_state.promised_until == np.inf
    parts, work_s = paused.policies, np.array([9000.0, 600.0])
    states = paused.cluster_state, paused.job_state
    ahead = look_ahead(*states, replace(parts, scheduler=Srtf()), paused.conditions, Believed(work_s))
    assert ahead.job_state.columns.finish_s[:2].tolist() == [9600.0, 3600.0]


def test_it_ends_at_its_horizon():
    world = one_gpu(("a", 0.0, 9000.0), ("b", 0.0, 600.0))
    ahead = look(next(moments(world.experiment())), until_s=1000.0)
    assert ahead.truncated and ahead.end_s == 1000.0
    assert np.isnan(ahead.job_state.columns.finish_s[:2]).all()


def test_it_ends_where_nothing_would_change_any_more():
    """The only node is down for good: on a cluster it might come back, ahead nothing does."""
    world = one_gpu(("a", 0.0, 900.0), failures="none", outages=((0, 300.0, 1200.0, None),))
    moments_with_a_node_down = [m for m in moments(world.experiment()) if not m.cluster_state.node_up[0]]
    assert len(moments_with_a_node_down) > 1
    for moment in moments(world.experiment()):
        if not moment.cluster_state.node_up[0]:
            ahead = look(moment)
            assert ahead.truncated and ahead.end_s == moment.job_state.now
            break


DRAINED = World(  # a has both nodes when node 1 is drained
    (("a", 0.0, 8, 3600.0, "", "", "", "", 0),), (4, 4), outages=((1, 1800.0, 2400.0, 300.0),)
)  # fmt: skip


def end_of_a(world, at_s):
    """When a ends according to a look ahead, and that look."""
    moment = next(m for m in moments(world.experiment()) if m.job_state.now >= at_s)
    ahead = look(moment)
    return float(ahead.job_state.columns.finish_s[0]), ahead


@pytest.mark.parametrize("clock", ["rounds", "events:quantum_s=60"])
@pytest.mark.parametrize(("at_s", "end_s"), [(0.0, 3600.0), (1500.0, 4200.0), (1800.0, 4200.0)])
def test_a_drain_is_known_ahead_from_its_notice_on(at_s, end_s, clock):
    """a stops at 1800 with its work saved, and goes on at 2400. The notice is given at 1500."""
    world = replace(DRAINED, clock=clock)
    assert end_of_a(world, at_s)[0] == end_s
    assert world.run().jobs["finish_s"].tolist() == [4200.0]


def test_a_failure_that_has_not_happened_is_not_known_ahead():
    """The same without notice: a loses 1800 s of work in the run. Nobody knows when the node is back."""
    world = replace(DRAINED, outages=((1, 1800.0, 2400.0, None),))
    assert world.run().jobs["finish_s"].tolist() == [6000.0]
    assert end_of_a(world, 0.0)[0] == 3600.0
    end_s, ahead = end_of_a(world, 1800.0)
    assert np.isnan(end_s) and ahead.truncated and ahead.end_s == 1800.0
    assert end_of_a(world, 2400.0)[0] == 6000.0


def test_a_node_that_failed_at_random_comes_back_ahead_after_a_mean_repair():
    """One node that is up for an hour on average: a, of 3600 s, begins anew once it is back."""
    world = one_gpu(("a", 0.0, 3600.0), failures="mtbf=1h,repair=2h", clock="events:quantum_s=60")
    moment = next(m for m in moments(world.experiment()) if not m.cluster_state.node_up[0])
    assert look(moment).end_s == moment.job_state.now + 7200.0 + 3600.0


def test_what_is_announced_during_a_look_ahead_is_not_known_in_it():
    """A look ahead from within a look ahead knows no more of nodes than that one did at its beginning."""

    def known(cluster_state, job_state, now):
        job_state.now = now
        return [event.time_s for event in cluster_state.node_events_ahead(job_state)]

    for at_s, expected in ((0.0, []), (1500.0, [1800.0, 2400.0])):
        moment = next(m for m in moments(DRAINED.experiment()) if m.job_state.now == at_s)
        ahead = look(moment)
        assert known(ahead.cluster_state, ahead.job_state, 1500.0) == expected
        assert known(ahead.cluster_state, ahead.job_state, 1800.0) == expected[1:]
        assert known(moment.cluster_state, moment.job_state, 1500.0) == [1800.0, 2400.0], "the run's own"


def test_any_number_of_node_events_may_come_ahead_while_nothing_runs():
    """Both nodes are needed and one is down for good: the look ahead ends, it is not stuck."""
    world = replace(DRAINED, outages=((1, 300.0, "", None),))
    moment = next(m for m in moments(world.experiment()) if not m.cluster_state.node_up[1])
    events = [NodeEvent(1000.0 + number, 0, "up") for number in range(10_100)]
    moment.cluster_state.node_events_ahead = lambda job_state: events
    assert look(moment).truncated


@pytest.mark.parametrize("clock", ["rounds", "events:quantum_s=60"])
def test_a_patient_clock_asks_policies_that_share_time_less_often(clock):
    world = one_gpu(*((f"j{i}", 0.0, 36_000.0) for i in range(5)), scheduler="las", clock=clock)
    moment = next(moments(world.experiment()))
    exact = look(moment)
    moment.prepared.clock = patient(moment.prepared.clock, moment.job_state.now, 0.25)
    coarse = look(moment)
    assert exact.manager.rounds > 400 and coarse.manager.rounds < 60
    assert coarse.end_s == pytest.approx(exact.end_s) == pytest.approx(180_000.0)


@pytest.mark.parametrize("clock", ["rounds", "events:quantum_s=60"])
def test_rounds_that_grow_act_later_on_what_happens(clock):
    """40 jobs of ten minutes, one after the other: ever more of an hour passes before the next is started."""
    world = one_gpu(*((f"j{i}", 0.0, 600.0) for i in range(40)), clock=clock)
    moment = next(moments(world.experiment()))
    assert look(moment).end_s == 24_000.0
    moment.prepared.clock = patient(moment.prepared.clock, moment.job_state.now, 0.25, 3600.0)
    starts = np.sort(look(moment).job_state.columns.first_start_s[:40])
    assert starts[:2].tolist() == [0.0, 600.0]
    assert (np.diff(starts) <= 3600.0).all() and np.diff(starts)[-10:].tolist() == [3600.0] * 10


def test_policies_that_wait_for_events_are_exact_with_a_patient_clock():
    experiment = replace(RIGID, scheduler="srtf")
    for number, moment in enumerate(moments(experiment)):
        if number % 10 or not moment.prepared.feed.ended:
            continue
        exact = look(moment).job_state.columns.finish_s
        moment.prepared.clock, usual = (
            patient(moment.prepared.clock, moment.job_state.now, 0.25),
            moment.prepared.clock,
        )
        assert look(moment).job_state.columns.finish_s.tolist() == exact.tolist()
        moment.prepared.clock = usual
