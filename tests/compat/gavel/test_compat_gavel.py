"""The preset of Gavel's simulator on a table of throughputs made up for the purpose, computed by hand."""

import json

import numpy as np
import pytest

from blox import Experiment
from blox.compat.gavel.as_original import as_the_original
from blox.compat.gavel.chosen import ChosenDuration, ChosenFinishTime, ChosenMaxMin
from blox.compat.gavel.run_state import gavel_run
from blox.errors import BloxError
from blox.schedulers.gavel.policies.by_name import policy
from blox.schedulers.gavel.problem import Problem
from blox.state.plan import Plan

ALONE = {"fast": {"v100": 1.0, "k80": 0.25}, "slow": {"v100": 0.5, "k80": 0.5}}  # steps/s
SHARED = {"v100": 0.8, "k80": 0.2}  # two that share: each, steps/s


@pytest.fixture
def run_gavel(tmp_path):
    """A function that runs jobs given as (type, steps, GPUs, arrival) under a policy."""
    kinds = [(name, gpus) for name in ALONE for gpus in (1, 2)]
    table = {
        gpu_type: {
            str((name, gpus)): {
                "null": ALONE[name][gpu_type] * gpus,
                **{str(other): [SHARED[gpu_type]] * 2 for other in kinds if other[1] == gpus == 1},
            }
            for name, gpus in kinds
        }
        for gpu_type in ("v100", "k80")
    }
    throughputs, trace = tmp_path / "throughputs.json", tmp_path / "jobs.trace"
    throughputs.write_text(json.dumps(table))

    def start(*jobs, policy="max_min_fairness_perf", cluster="v100=1x1,k80=1x1", slo=-1, **more):
        lines = [
            f"{name}\tcommand\tfolder\t-n\t0\t{steps}\t{gpus}\t1\t{slo}\t{at}"
            for name, steps, gpus, at in jobs
        ]
        trace.write_text("\n".join(lines) + "\n")
        options = ",".join(f"{key}={value}" for key, value in more.items())
        return Experiment(
            workload=f"gavel:{trace}?throughputs={throughputs}",
            cluster=cluster,
            compat=f"gavel:policy={policy},throughputs={throughputs},{options}".rstrip(","),
        ).run()

    return start


def test_a_job_ends_within_a_round_and_rounds_end_with_whole_steps(run_gavel):
    result = run_gavel(("slow", 301, 1, 0), ("fast", 1000, 1, 0), cluster="v100=2x1")
    # slow: 180 steps in 360 s, then 121 of them in 242 s; fast: 1,000 s in three rounds
    assert result.jobs["finish_s"].tolist() == [602.0, 1000.0]
    assert result.summary["rounds_run"] == 4  # and the last pass of the loop, which finds nobody
    assert result.summary["leases_extended"] == 1.0
    assert result.summary["utilisation"] == pytest.approx((602 + 1000) / 2000)


@pytest.mark.parametrize(
    ("jobs", "passes"),
    [
        ([("fast", 100, 1, 0)], [0, 100]),
        # the loop finds the cluster idle at 100, then jumps to the next arrival
        ([("fast", 100, 1, 0), ("fast", 100, 1, 5000)], [0, 100, 5000, 5100]),
        (
            [("fast", 100, 1, 0), ("fast", 100, 1, 5000), ("fast", 100, 1, 9000)],
            [0, 100, 5000, 5100, 9000, 9100],
        ),
        # its time begins with the first arrival
        ([("fast", 100, 1, 500), ("fast", 100, 1, 5000)], [500, 600, 5000, 5100]),
        # the second is allocated at 100; the third, at 200, is not until the loop finds nobody to run and
        # nobody to come, and looks again at once
        ([("fast", 100, 1, 0), ("fast", 100, 1, 50), ("fast", 100, 1, 120)], [0, 100, 200, 200, 300]),
        # at 5000 the second is allocated; at 6000 it is too early for another allocation, and at 7000 not
        (
            [("fast", 100, 1, 0), ("fast", 100, 1, 5000), ("fast", 100, 1, 6000), ("fast", 100, 1, 7000)],
            [0, 100, 5000, 5100, 6000, 7000, 7100],
        ),
    ],
)
def test_rounds_are_the_passes_of_the_originals_loop(run_gavel, jobs, passes):
    result = run_gavel(*jobs, cluster="v100=2x1")
    assert result.summary["rounds_run"] == len(passes)


def test_newcomers_wait_for_an_allocation(run_gavel):
    jobs = [("fast", 5000, 1, 0), ("fast", 100, 1, 400), ("fast", 100, 1, 800)]
    late = run_gavel(*jobs, cluster="v100=3x1")
    # the allocation of time 0 does not count, that of 720 does: the next is due from 2640 on
    assert late.jobs["first_start_s"].tolist() == [0.0, 720.0, 2880.0]
    prompt = run_gavel(*jobs, cluster="v100=3x1", minimum_time_between_allocation_resets=0)
    assert prompt.jobs["first_start_s"].tolist() == [0.0, 720.0, 1080.0]


def test_newcomers_do_not_wait_where_nothing_else_will_happen(run_gavel):
    result = run_gavel(("fast", 100, 1, 0), ("fast", 100, 1, 50), ("fast", 100, 1, 120), cluster="v100=1x1")
    assert result.jobs["first_start_s"].tolist() == [0.0, 100.0, 200.0]


def test_two_share_a_gpu_and_end_together(run_gavel):
    result = run_gavel(("fast", 80, 1, 0), ("fast", 160, 1, 0), policy="gandiva", cluster="v100=1x1")
    assert result.jobs["finish_s"].tolist() == [200.0, 200.0]  # the first is done after 100 s
    assert result.jobs["shared_s"].tolist() == [200.0, 200.0]
    assert result.stints["gpu"].tolist() == [0, 0]
    assert result.summary["utilisation"] == 1.0


def test_jobs_whose_rounds_never_count_are_dropped(run_gavel):
    result = run_gavel(("fast", 1, 2, 0), ("fast", 100, 1, 0), cluster="v100=3x1")
    assert np.isnan(result.jobs["finish_s"][0]) and result.jobs["finish_s"][1] == 100.0
    assert result.jobs["state"][0] != "finished"


def test_a_prepared_run_can_be_run_again(run_gavel, tmp_path):
    run_gavel(("fast", 100, 1, 0))
    prepared = Experiment(
        workload=f"gavel:{tmp_path / 'jobs.trace'}?throughputs={tmp_path / 'throughputs.json'}",
        cluster="v100=1x1",
        compat=f"gavel:throughputs={tmp_path / 'throughputs.json'}",
    ).prepare()
    first, second = prepared.run(), prepared.run()
    assert first.summary == second.summary


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"compat": "gavel:policy=max_min_fair"}, "no policy is called"),
        ({"compat": "gavel:time_per_iteration=0"}, "time_per_iteration"),
        ({"compat": "gavel:minimum_time_between_allocation_resets=-1"}, "allocation_resets"),
        ({"compat": "gavel", "round_s": 60.0}, "time_per_iteration"),
        ({"compat": "gavel", "workload": "philly:max_gpus=8", "jobs": 5}, "has no count of steps"),
    ],
)
def test_faults_are_told(settings, words):
    with pytest.raises(BloxError, match=words):
        Experiment(**settings).run()


def problem(jobs, seed=0):
    draws = np.random.default_rng(seed)
    speed = draws.uniform(1.0, 10.0, (jobs, 3)) * np.array([0.3, 0.7, 1.0])
    return Problem(
        ("k80", "p100", "v100"),
        np.array([4.0, 3.0, 5.0]),
        speed,
        width=draws.choice([1.0, 2.0], jobs),
        weight=draws.choice([1.0, 5.0], jobs),
        remaining_steps=speed[:, 2] * draws.uniform(1e3, 1e5, jobs),
        elapsed_s=draws.uniform(0.0, 1e4, jobs),
    )


@pytest.mark.parametrize("jobs", [1, 2, 9, 40])
@pytest.mark.parametrize("aware", [True, False])
def test_where_the_originals_solver_ends_is_an_optimum(jobs, aware):
    asked, perf = problem(jobs), "_perf" if aware else ""
    fractions = ChosenMaxMin(aware, policy("isolated")).allocate(asked).fractions
    speed = asked.throughput if aware else np.ones((jobs, 3))
    level = (asked.width / asked.weight / (speed @ asked.share)) * (speed * fractions).sum(axis=1)
    best = policy(f"max_min_fairness{perf}").allocate(asked).objective
    assert level.min() == pytest.approx(best, rel=1e-6)

    shortest = policy(f"min_total_duration{perf}")
    speed = asked.throughput if aware else np.repeat(asked.throughput[:, [2]], 3, axis=1)
    found = ChosenDuration(aware, shortest).allocate(asked)
    assert (asked.remaining_steps / (speed * found.fractions).sum(axis=1)).max() <= found.objective * (
        1 + 1e-6
    )
    assert found.objective <= 1.05 * shortest.allocate(asked).objective

    fractions = ChosenFinishTime(aware).allocate(asked).fractions
    alone = (asked.isolated_fractions() * speed).sum(axis=1)
    usual = asked.remaining_steps / alone
    rho = (asked.elapsed_s + asked.remaining_steps / (speed * fractions).sum(axis=1)) / usual
    best = policy(f"finish_time_fairness{perf}").allocate(asked).objective
    assert rho.max() == pytest.approx(best, rel=1e-5)
    for each in (fractions, found.fractions):
        assert ((asked.width[:, None] * each).sum(axis=0) <= asked.gpus * (1 + 1e-6)).all()
        assert (each.sum(axis=1) <= 1 + 1e-6).all()


def test_other_policies_are_as_they_are():
    assert as_the_original("gandiva", 3) == policy("gandiva", seed=3, sum_over_types=True)


def test_slos_that_cannot_be_held_are_counted(run_gavel):
    policy = "max_sum_throughput_normalized_by_cost_perf_SLOs"
    jobs = [("fast", 36_000, 1, 0)] * 2
    assert run_gavel(*jobs, policy=policy, cluster="v100=1x1", slo=1.2).summary["slo_relaxed"] == 2
    assert run_gavel(*jobs, policy=policy, cluster="v100=2x1", slo=1.2).summary["slo_relaxed"] == 0


def test_a_fork_of_the_state_has_a_run_of_its_own(run_gavel, tmp_path):
    jobs = [("fast", 2000, 1, 0), ("slow", 2000, 1, 0), ("fast", 2000, 2, 400)]
    run_gavel(*jobs, policy="max_min_fairness_packed", cluster="v100=2x1")  # which writes the files
    throughputs = tmp_path / "throughputs.json"
    prepared = Experiment(
        workload=f"gavel:{tmp_path / 'jobs.trace'}?throughputs={throughputs}",
        cluster="v100=2x1",
        compat=f"gavel:policy=max_min_fairness_packed,throughputs={throughputs}",
    ).prepare()
    parts, (cluster_state, job_state) = prepared.composition, prepared.states()
    manager = prepared.manager(prepared.backend())

    def known(state):
        found = gavel_run(state)
        return vars(found.counts).copy(), found.steps_left.tolist(), found.dropped.copy()

    def decide(jobs, cluster):
        schedule = parts.scheduler.schedule(jobs, cluster)
        return parts.placement.place(schedule, cluster, jobs)

    for _ in range(4):
        manager.update_metrics(cluster_state, job_state)
        manager.prune_completed_jobs(cluster_state, job_state)
        job_state.add_new_jobs(manager.pop_wait_queue())
        fork, fork_cluster, before = job_state.fork(), cluster_state.fork(), known(job_state)
        assert known(fork) == before
        forked = [*decide(fork, fork_cluster)]
        assert known(job_state) == before, "what a fork decides is not counted in its origin"
        wanted = decide(job_state, cluster_state)
        assert [*wanted] == forked
        frozen = known(fork)
        manager.exec_jobs(Plan.diff(cluster_state.allocation, wanted), cluster_state, job_state)
        manager.next_round(cluster_state, job_state)
        assert known(fork) == frozen, "what happens to the origin does not reach its fork"
    assert known(job_state)[0]["passes"] == 4
    assert gavel_run(prepared.states()[1]).counts.passes == 0, "another run begins anew"
