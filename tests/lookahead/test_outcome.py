"""The result of a look ahead, by hand: energy while nodes are down, jobs that end near its horizon."""

import pytest

from blox.lookahead.ahead import Believed, look_ahead
from blox.lookahead.outcome import Measured, outcome
from support.moments import moments
from support.worlds import World


def outcome_from(world, at_s, measured, **options):
    """The result of a look ahead from the round at `at_s`, with the true durations."""
    moment = next(m for m in moments(world.experiment()) if m.job_state.now == at_s)
    states, believed = (moment.cluster_state, moment.job_state), Believed(moment.true_work_s)
    ahead = look_ahead(*states, moment.policies, moment.conditions, believed, **options)
    return outcome(ahead, round_s=world.round_s, measured=measured)


@pytest.mark.parametrize("notice_s", [None, 0.0, 600.0])
def test_a_node_takes_no_energy_while_it_is_down(notice_s):
    """Two nodes of one GPU; a runs on node 0 until 7200, node 1 is down from 600 to 4200.

    From 600 on node 1 is idle for 3000 s, at 60 W, if its return is known. A failure has no known end.
    """
    world = World(
        (("a", 0.0, 1, 7200.0, "", "", "", "", 0),), (1, 1), outages=((1, 600.0, 4200.0, notice_s),)
    )
    energy = Measured(power="300/60")
    known_idle_s = {0.0: {None: 7200.0, 0.0: 7200.0, 600.0: 3600.0}[notice_s]}
    known_idle_s[600.0] = 0.0 if notice_s is None else 3000.0
    known_idle_s[900.0] = known_idle_s[600.0]
    known_idle_s[4200.0] = 3000.0
    for at_s, idle_s in known_idle_s.items():
        summary = outcome_from(world, at_s, energy).summary
        idle_kwh, busy_kwh = 0.06 * idle_s / 3600, 0.3 * (7200 - at_s) / 3600
        assert summary["idle_energy_kwh"] == pytest.approx(idle_kwh), at_s
        assert summary["energy_kwh"] == pytest.approx(busy_kwh + idle_kwh), at_s


@pytest.mark.parametrize("until_s", [700.0, 800.0, 900.0])
def test_a_job_that_ends_inside_the_last_round_ends_when_its_work_is_done(until_s):
    """Two GPUs: a runs until 700, b goes on by itself behind the horizon, c begins to run there."""
    world = World(
        tuple(
            (name, 0.0, 1, work_s, "", "", "", "", 0) for name, work_s in zip("abc", (700.0, 7200.0, 900.0))
        ),
        (1, 1),
    )
    result = outcome_from(world, 0.0, Measured(), until_s=until_s)
    assert result.jobs["finish_s"].tolist() == [700.0, 7200.0, until_s + 900.0]
    assert result.jobs["gpu_seconds"].tolist() == [700.0, 7200.0, 900.0]
    assert result.stints["end_s"].tolist() == [700.0, until_s]


def test_a_job_that_is_drained_inside_the_last_round_goes_on_at_the_horizon():
    """a has done 650 of its 750 s when its node goes down, and 100 s are left at 900."""
    world = World((("a", 0.0, 1, 750.0, "", "", "", "", 0),), (1,), outages=((0, 650.0, 7200.0, 300.0),))
    result = outcome_from(world, 600.0, Measured(), until_s=900.0)
    assert result.jobs["finish_s"].tolist() == [1000.0]


def test_jobs_that_were_just_admitted_wait_once():
    """Jobs b and c wait for the one GPU; the look ahead begins after `accept`."""
    names = (("a", 0.0), ("b", 100.0), ("c", 100.0))
    world = World(tuple((name, at, 1, 1000.0, "", "", "", "", 0) for name, at in names), (1,))
    moment = next(m for m in moments(world.experiment()) if m.job_state.now >= 100.0)
    states, believed = (moment.cluster_state, moment.job_state), Believed(moment.true_work_s)
    moment.job_state.add_new_jobs(moment.job_state.waiting)
    assert moment.job_state.just_admitted.tolist() == [1, 2]
    result = outcome(look_ahead(*states, moment.policies, moment.conditions, believed), round_s=world.round_s)
    assert (result.rounds["held"] == 0).all() and result.summary["wait_admission_s"] == 0.0
    assert result.rounds["queued"].tolist()[:1] == [2] and result.rounds["queued"].tolist()[-1] == 0


def test_jobs_admitted_before_and_in_the_first_round_are_both_just_admitted():
    world = World(tuple((name, 0.0, 1, 1000.0, "", "", "", "", 0) for name in "abc"), (1,))
    job_state = next(moments(world.experiment())).job_state
    job_state.add_new_jobs(job_state.waiting[:1])
    ahead = job_state.fork()
    ahead.add_new_jobs(ahead.waiting)
    assert ahead.just_admitted.tolist() == [0, 1, 2] and job_state.just_admitted.tolist() == [0]
