"""Every policy at the edges: nobody, one job, useless types, jobs that are too wide, thousands of jobs."""

import dataclasses

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.performance.throughputs import throughputs
from blox.schedulers.gavel.policies.by_name import POLICIES, policy
from blox.schedulers.gavel.problem import Pairs, Problem
from support.gavel_problems import TYPES, check, problem
from support.traces import trace

OVERCOMMITS = ("proportional",)  # a yardstick, not a schedule
UNAWARE = ("isolated", "gandiva", *OVERCOMMITS)  # give parts of types without asking who can run there


VARIANTS = [
    (name, choice)
    for name in POLICIES
    for choice in (("fairest", "centre", "any") if hasattr(policy(name), "choice") else (None,))
]


def allocate(name, choice, asked):
    chosen = policy(name) if choice is None else policy(name, choice=choice)
    found = chosen.allocate(asked, {})
    if name not in OVERCOMMITS:
        check(asked, found)
    return found


@pytest.mark.parametrize(("name", "choice"), VARIANTS)
def test_nobody(name, choice):
    assert allocate(name, choice, problem([], [3, 3, 3])).fractions.shape == (0, 3)


@pytest.mark.parametrize(("name", "choice"), VARIANTS)
def test_one_job_gets_all_its_time_where_it_is_fastest(name, choice):
    asked = problem([[1, 2, 3]], [3, 3, 3], remaining_steps=[100])
    found = allocate(name, choice, asked)
    assert found.fractions.sum() == pytest.approx(1)
    if name.endswith(("_perf", "_packed")) or name == "allox":
        most = 1 if "cost" in name else 3  # a K80 costs less than a third of a V100
        assert found.throughputs(asked)[0] == pytest.approx(most)


@pytest.mark.parametrize(("name", "choice"), VARIANTS)
def test_a_throughput_of_zero(name, choice):
    asked = problem([[0, 2, 3], [1, 0, 0], [1, 2, 3]], [1, 1, 1], remaining_steps=[100, 30, 20])
    found = allocate(name, choice, asked)
    if name.endswith(("_perf", "_packed", "_SLOs")) or name == "allox":
        assert not found.fractions[:3][asked.throughput == 0].any()
        assert (found.throughputs(asked) > 0).all()


@pytest.mark.parametrize(("name", "choice"), VARIANTS)
def test_a_type_that_no_job_can_use_and_one_without_gpus(name, choice):
    useless = problem([[0, 2, 3], [0, 1, 1], [0, 2, 3]], [4, 1, 1], remaining_steps=[100, 30, 20])
    absent = problem([[9, 2, 3], [9, 1, 1], [9, 2, 3]], [0, 1, 1], remaining_steps=[100, 30, 20])
    for asked in (useless, absent):
        found = allocate(name, choice, asked)
        if name not in ("allox", "fifo", "fifo_perf", "fifo_packed", "sjf", "sjf_perf"):
            assert (found.throughputs(asked) > 0).sum() >= 2
    assert not found.fractions[:, 0].any() or name in UNAWARE


# AlloX refuses wide jobs: see below.
@pytest.mark.parametrize(("name", "choice"), [variant for variant in VARIANTS if variant[0] != "allox"])
def test_a_job_is_never_given_a_type_with_too_few_gpus(name, choice):
    asked = problem([[1, 2, 3], [1, 1, 1], [3, 2, 3]], [2, 8, 1], width=[2, 1, 8], remaining_steps=[9, 9, 9])
    found = allocate(name, choice, asked)
    if name not in UNAWARE:
        assert not found.fractions[:3][asked.width[:, None] > asked.gpus].any()


def test_a_job_that_can_run_nowhere_is_told():
    with pytest.raises(BloxError, match="job 2 can run nowhere: it takes 8 GPUs"):
        problem([[1, 2, 3], [1, 1, 1], [3, 2, 3]], [2, 4, 1], width=[2, 1, 8])
    with pytest.raises(BloxError, match="job 1 can run nowhere"):
        problem([[1, 2, 3], [0, 0, 0]], [2, 4, 1])


def test_allox_refuses_wide_jobs():
    with pytest.raises(BloxError, match="takes 2 GPUs"):
        policy("allox").allocate(problem([[1, 2, 3]], [2, 4, 2], width=[2]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"width": [0, 1]}, "width has values below 1"),
        ({"weight": [1, -1]}, "weight has values"),
        ({"elapsed_s": [1, 2, 3]}, "elapsed_s has 3 entries instead of 2"),
    ],
)
def test_nonsense_is_told(change, words):
    with pytest.raises(BloxError, match=words):
        problem([[1, 2, 3], [3, 2, 1]], [1, 1, 1], **change)


def test_a_packed_policy_without_pairs_is_told():
    asked = dataclasses.replace(problem([[1, 2, 3]], [1, 1, 1]), pairs=None)
    with pytest.raises(BloxError, match="needs the throughputs of pairs"):
        policy("max_min_fairness_packed").allocate(asked)


def test_unknown_names_are_told():
    with pytest.raises(BloxError, match="did you mean 'max_min_fairness'"):
        policy("max_min_fairnes")
    with pytest.raises(BloxError, match="has no parameter 'alpha'"):
        policy("fifo", alpha=1)


def thousands(count, gpus):
    draws, table = np.random.default_rng(0), throughputs()
    kinds = [kind for kind in table.alone if kind[1] == 1]
    kind = draws.integers(len(kinds), size=count)
    speeds = table.of(kinds)[kind]
    return Problem(
        TYPES,
        np.full(3, gpus),
        speeds,
        remaining_steps=draws.uniform(1e3, 1e5, count) * speeds[:, 2],
        elapsed_s=draws.uniform(0, 1e5, count),
        pairs=Pairs(kind, table.shared(kinds)),
    )


def test_allox_refuses_thousands_of_jobs_and_says_what_to_do():
    asked = thousands(5000, 36)
    with pytest.raises(BloxError, match=r"alpha=0\.16"):
        policy("allox").allocate(asked)
    check(asked, policy("allox", alpha=0.16).allocate(asked))


UNLIKE = ("finish_time_fairness_packed", "min_total_duration_packed")  # no two jobs have the same steps left


@pytest.mark.parametrize("name", [name for name in POLICIES if name not in (*UNLIKE, "allox")])
def test_five_thousand_jobs(name):
    asked = thousands(5000, 36)
    found = policy(name).allocate(asked)
    if name in OVERCOMMITS:
        return
    first, second = found.members.T
    time = np.bincount(first, found.fractions.sum(axis=1), 5000)
    time += np.bincount(second[second >= 0], found.fractions[second >= 0].sum(axis=1), 5000)
    assert time.max() <= 1 + 1e-7
    assert (found.fractions.sum(axis=0) <= 36 * (1 + 1e-6)).all()


@pytest.mark.parametrize("name", UNLIKE)
def test_five_thousand_unlike_jobs_that_could_share_are_refused_in_words(name):
    with pytest.raises(BloxError, match="5000 kinds of job could share in"):
        policy(name).allocate(thousands(5000, 36))


@pytest.mark.parametrize(
    ("policy", "failures"),
    [
        ("max_min_fairness_packed", "drain:node=1,at=5h,lasts=8h,notice=2h"),  # no job joins one that stays
        ("fifo_packed", "mtbf=1d,repair=4h"),  # at times no node is up
    ],
)
def test_jobs_that_share_run_while_nodes_drain_and_fail(policy, failures):
    result = Experiment(
        workload="gavel:jobs=25",
        cluster="v100=2x4",
        scheduler=f"gavel:policy={policy}",
        failures=failures,
        overheads="checkpoint=1800,restart=60",
    ).run()
    assert result.summary["finished"] == 25


PACKED = [name for name in POLICIES if policy(name).packed]


@pytest.mark.parametrize("name", PACKED)
def test_jobs_that_are_bound_to_a_type_share_gpus_of_that_type_only(tmp_path, name):
    """Six jobs that may use the V100 only; the P100 stays idle."""
    jobs = [f"{job},0,1,20000,LM (batch size 20),v100" for job in "abcdef"]
    workload = trace(tmp_path / "jobs.csv", jobs, "job_id,submit_s,gpus,duration_s,model,gpu_types")
    settings = {"workload": workload, "cluster": "v100=1x1,p100=1x1", "performance": "throughputs"}
    stints = Experiment(**settings, scheduler=f"gavel:policy={name}").run().stints
    assert set(stints["gpu"].tolist()) == {0}
