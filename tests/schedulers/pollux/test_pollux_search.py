"""Pollux's search: the best allocation where all can be counted, feasible ones everywhere."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blox.errors import BloxError
from blox.schedulers.pollux.evolution import evolve
from blox.schedulers.pollux.fitness import Round, fitness, power_mean, restart_factor, utility
from blox.schedulers.pollux.repair import feasible, repair
from blox.schedulers.pollux.search import search
from support.examples import examples


def table(jobs, largest, rng):
    """Speedups that grow ever less, and are lower across nodes."""
    exponent = rng.uniform(0.2, 1.0, (jobs, 1))
    near = np.arange(largest + 1) ** exponent * rng.uniform(0.2, 2.0, (jobs, 1))
    far = near * rng.uniform(0.5, 1.0, (jobs, 1))
    return np.stack([near, far], axis=1)


def a_round(seed, jobs, capacity, *, power=-1.0, avoid=True):
    """A round of `jobs` on nodes of `capacity` GPUs, with some held already."""
    rng = np.random.default_rng(seed)
    capacity = np.asarray(capacity)
    total = int(capacity.sum())
    limit = rng.integers(1, total + 1, jobs)
    empty = Round(
        table(jobs, total, rng),
        np.zeros((jobs, len(capacity)), dtype=int),
        capacity,
        limit,
        restart_factor(rng.choice([0, 60, 600, 6000], jobs), rng.integers(0, 4, jobs)),
        power,
        avoid,
    )
    held = rng.integers(0, 2, (1, jobs, len(capacity))) * rng.integers(0, 3, (1, jobs, len(capacity)))
    current = repair(empty, held, rng)[0]
    return Round(empty.speedup, current, capacity, limit, empty.restart, power, avoid)


def all_allocations(problem):
    """Every feasible allocation of a small problem."""
    jobs = len(problem.current)
    columns = [
        [c for c in itertools.product(range(size + 1), repeat=jobs) if sum(c) <= size]
        for size in problem.capacity.tolist()
    ]
    every = np.array(list(itertools.product(*columns))).transpose(0, 2, 1)
    return every[feasible(problem, every)]


@pytest.mark.parametrize("power", [-1.0, -5.0, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("avoid", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_finds_the_best_of_all_where_they_can_be_counted(seed, avoid, power):
    problem = a_round(seed, 3, [2, 2, 3], power=power, avoid=avoid)
    best = fitness(problem, all_allocations(problem)).max()
    found = search(problem, np.random.default_rng(seed))
    assert feasible(problem, found[np.newaxis]).all()
    assert fitness(problem, found[np.newaxis])[0] == pytest.approx(best, rel=1e-6)


@examples(40)
@given(
    seed=st.integers(0, 10_000),
    jobs=st.integers(1, 12),
    capacity=st.lists(st.integers(1, 8), min_size=1, max_size=6),
    avoid=st.booleans(),
    power=st.sampled_from([-1.0, 0.0, 1.0]),
)
def test_answers_are_feasible_and_not_worse_than_what_is(seed, jobs, capacity, avoid, power):
    problem = a_round(seed, jobs, capacity, power=power, avoid=avoid)
    now = fitness(problem, problem.current[np.newaxis])[0]
    for answer in (
        search(problem, np.random.default_rng(seed), population=4, generations=5),
        evolve(problem, np.random.default_rng(seed), population=6, generations=4).best,
    ):
        assert feasible(problem, answer[np.newaxis]).all()
        assert fitness(problem, answer[np.newaxis])[0] >= now * (1 - 1e-9)


def test_the_same_generator_gives_the_same_answer():
    problem = a_round(1, 20, [4] * 8)
    one, other = (search(problem, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(one, other)
    one, other = (evolve(problem, np.random.default_rng(7), generations=5).best for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("jobs", [3, 20, 50])
def test_beats_the_artifacts_search(jobs):
    problem = a_round(jobs, jobs, [4] * 8)
    ours = fitness(problem, search(problem, np.random.default_rng(1))[np.newaxis])[0]
    theirs = fitness(problem, evolve(problem, np.random.default_rng(1), generations=50).best[np.newaxis])[0]
    assert ours >= theirs * (1 - 1e-9)


def test_a_job_does_not_span_more_nodes_than_it_may():
    speedup = np.tile(np.arange(13.0), (2, 2, 1))
    narrow = Round(
        speedup, np.zeros((2, 6), dtype=int), np.full(6, 2), np.full(2, 12), np.ones(2), most_nodes=2
    )
    found = search(narrow, np.random.default_rng(0))
    assert ((found > 0).sum(axis=1) <= 2).all()
    assert found.sum() == 8


def test_gpus_that_nobody_else_wants_go_to_a_job_of_this_very_moment():
    problem = Round(
        np.tile(np.arange(5.0), (1, 2, 1)),
        np.zeros((1, 1), dtype=int),
        np.array([4]),
        np.array([4]),
        restart_factor(np.array([0.0]), np.array([0])),
    )
    assert problem.restart[0] == 0
    assert search(problem, np.random.default_rng(0)).tolist() == [[4]]


def test_what_can_no_longer_be_held_is_given_up():
    before = a_round(5, 4, [4, 4, 4])
    current = np.array([[4, 0, 0], [0, 4, 0], [0, 0, 2], [0, 0, 2]])
    lost = Round(before.speedup, current, np.array([4, 0, 4]), np.array([2, 12, 12, 12]), np.ones(4))
    found = search(lost, np.random.default_rng(0))
    assert feasible(lost, found[np.newaxis]).all()
    assert found.sum() == 8


def test_nothing_to_do():
    problem = Round(
        np.zeros((0, 2, 1)), np.zeros((0, 3), dtype=int), np.full(3, 4), np.zeros(0, dtype=int), np.zeros(0)
    )
    assert search(problem, np.random.default_rng(0)).shape == (0, 3)


def test_restarts_are_spread_over_a_jobs_age():
    assert restart_factor(3600.0, 4) == pytest.approx(3480 / 3630)
    assert restart_factor(60.0, 3) == 0
    assert restart_factor(3600.0, 4, restart_s=60.0) == pytest.approx(3360 / 3660)


def test_power_means():
    values = np.array([1.0, 4.0])
    assert power_mean(values, 1.0) == pytest.approx(2.5)
    assert power_mean(values, 0.0) == pytest.approx(2.0)
    assert power_mean(values, -1.0) == pytest.approx(1.6)


def test_utility_counts_nodes_in_use():
    problem = a_round(0, 2, [4, 4])
    one = np.array([[[1, 0], [0, 0]]])
    assert utility(problem, one)[0] == pytest.approx(problem.speedup[0, 0, 1] / 4)


def test_bystanders_stay_unless_the_artifact_is_wanted():
    problem = Round(
        np.zeros((3, 2, 13)), np.zeros((3, 3), dtype=int), np.full(3, 4), np.full(3, 12), np.ones(3)
    )
    given = np.array([[[1, 1, 0], [1, 0, 1], [2, 0, 0]]])
    rng = np.random.default_rng(0)
    assert repair(problem, given, rng).tolist() == [[[1, 1, 0], [0, 0, 1], [2, 0, 0]]]
    assert repair(problem, given, rng, as_artifact=True).tolist() == [[[1, 1, 0], [0, 0, 1], [0, 0, 0]]]


def test_bad_settings_are_told_in_words():
    problem = a_round(0, 2, [4, 4])
    with pytest.raises(BloxError, match="population is 1"):
        search(problem, np.random.default_rng(0), population=1)
    with pytest.raises(BloxError, match="p is 2"):
        Round(problem.speedup, problem.current, problem.capacity, problem.most, problem.restart, power=2)
    with pytest.raises(BloxError, match="most has 1 rows, not 2"):
        Round(problem.speedup, problem.current, problem.capacity, problem.most[:1], problem.restart)


def test_a_budget_of_time_ends_the_search():
    problem = a_round(1, 50, [4] * 16)
    start = time.process_time()
    search(problem, np.random.default_rng(0), population=100, generations=100_000, budget_s=0.05)
    assert time.process_time() - start < 5, "of computing; all generations take many minutes"
