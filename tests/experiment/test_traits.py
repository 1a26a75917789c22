"""Policies that read durations or draw random numbers say so, and are held to it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from blox import Experiment, registry
from blox.experiment.traits import distinct

READ = ("srtf", "ftf", "themis", "optimus", "backfill")
DRAW = ("themis", "pollux")
OWN_RATES = ("pollux", "optimus")  # their performance model might follow beliefs: run twice
SMALLER = {"pollux": "pollux:population=4,generations=2"}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Forty jobs on eight GPUs: most of them wait."""
    rng = np.random.default_rng(3)
    lines = ["job_id,submit_s,gpus,duration_s,model"]
    for row in range(40):
        gpus, seconds = rng.choice([1, 1, 1, 2, 4]), rng.integers(600, 20_000)
        lines.append(f"{row},{200 * row},{gpus},{seconds},Resnet-18")
    path = tmp_path_factory.mktemp("trace") / "jobs.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def small(trace: str, **settings: object) -> Experiment:
    return Experiment(workload=trace, cluster="2x4", **settings)  # type: ignore[arg-type]


def finishes(experiment: Experiment) -> list[float]:
    result = experiment.run()
    return [*result.jobs["finish_s"].tolist(), *result.jobs["first_start_s"].tolist()]


@pytest.mark.parametrize("scheduler", registry.names("scheduling"))
def test_a_scheduler_reads_durations_and_draws_where_it_says_so(trace: str, scheduler: str) -> None:
    plain = small(trace, scheduler=SMALLER.get(scheduler, scheduler))
    doubtful = dataclasses.replace(plain, belief="noisy:sigma=2")
    reseeded = dataclasses.replace(plain, seed=1)
    assert plain.prepare().oracle == (scheduler in READ)
    assert (finishes(plain) != finishes(doubtful)) == (scheduler in READ)
    assert (distinct([plain, doubtful])[doubtful] is plain) == (scheduler not in (*READ, *OWN_RATES))
    assert (distinct([plain, reseeded])[reseeded] is plain) == (scheduler not in DRAW)
    if scheduler not in DRAW:
        assert finishes(plain) == finishes(reseeded)


@pytest.mark.parametrize("placement", registry.names("placement"))
def test_a_placement_draws_where_it_says_so(trace: str, placement: str) -> None:
    plain = small(trace, placement=placement)
    reseeded = dataclasses.replace(plain, seed=1)
    same = distinct([plain, reseeded])[reseeded] is plain
    assert same == (placement != "random")
    stints = [experiment.run().stints["gpu"].tolist() for experiment in (plain, reseeded)]
    assert (stints[0] == stints[1]) == same


@pytest.mark.parametrize(
    ("compat", "oracle"),
    [
        ("blox:policy=Srtf", True), ("blox:policy=Las", False),
        ("tiresias:schedule=shortest,scheme=count", True), ("tiresias:schedule=dlas-gpu,scheme=count", False),
        ("gavel:policy=finish_time_fairness_perf", True), ("gavel:policy=max_min_fairness", False),
        ("synergy:schedule=SRTF", True), ("synergy:schedule=LAS", False),
        ("pollux:policy=optimus", True), ("pollux:policy=tiresias", False),
    ],
)  # fmt: skip
def test_presets_say_so_too(compat: str, oracle: bool) -> None:
    from blox.experiment.traits import know_durations

    parts = registry.build("compat", compat).compose(300.0)
    assert bool(know_durations("oracle", parts)) == oracle
    assert not know_durations("noisy:sigma=0.5", parts)


@pytest.mark.parametrize(
    ("scheduler", "oracle"),
    [("gavel:policy=min_total_duration_perf", True), ("gavel:policy=sjf", True), ("gavel", False),
     ("pollux", False), ("pollux:beliefs=oracle", True), ("promote:policy=srtf", True),
     ("promote:policy=las", False), ("sjf", False)],
)  # fmt: skip
def test_options_decide_whether_it_is_an_oracle(trace: str, scheduler: str, oracle: bool) -> None:
    assert small(trace, scheduler=scheduler).prepare().oracle == oracle


DIRECT = "return blox.Schedule.ordered(job_state, by=job_state.remaining_s())"
BY_COLUMN = 'return blox.Schedule.ordered(job_state, by=job_state.column("expected_s"))'
BY_FUNCTION = "return blox.Schedule.ordered(job_state, by=key(job_state))"
NOT = "return blox.Schedule.ordered(job_state, by=job_state.gpus)"
FILE = """import blox
{declared}

def key(job_state):
    return job_state.remaining_s()


class Mine:
    {trait}
    def schedule(self, job_state, cluster_state):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "trait", "oracle", "runs"),
    [
        (DIRECT, "", True, 2),
        (BY_COLUMN, "", True, 2),
        (BY_FUNCTION, "", True, 2),
        (NOT, "", False, 2),  # it might, in a way that is not seen
        (NOT, "reads_durations = False", False, 1),
        (DIRECT, "reads_durations = True", True, 2),
    ],
)
def test_a_policy_of_ones_own(
    trace: str, tmp_path: Path, body: str, trait: str, oracle: bool, runs: int
) -> None:
    (tmp_path / "mine.py").write_text(FILE.format(body=body, trait=trait, declared=""))
    plain = small(trace, scheduler=f"{tmp_path}/mine.py:Mine")
    assert plain.prepare().oracle == oracle
    doubtful = dataclasses.replace(plain, belief="noisy:sigma=2")
    assert len(set(distinct([plain, doubtful]).values())) == runs


def test_jobs_that_are_drawn_depend_on_the_seed() -> None:
    first, second = Experiment(workload="philly"), Experiment(workload="philly", seed=1)
    assert distinct([first, second]) == {first: first, second: second}
