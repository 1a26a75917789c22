"""What the recorder works out after a run, against a plain count over jobs and stints."""

from __future__ import annotations

import numpy as np
import pytest

from support.no_slower import NO_SLOWER


@pytest.fixture(params=[5, 200], ids=["few at a time", "many at once"])
def result(request, run):
    """Bursts of jobs of several sizes: below and above the number that is counted by itself."""
    rng = np.random.default_rng(1)
    jobs = [
        (burst * 1000.0, rng.choice([1, 2, 4, 8]), rng.integers(100, 4000))
        for burst in range(4)
        for _ in range(request.param)
    ]
    rows = [(f"job-{number}", *job) for number, job in enumerate(jobs)]
    return run(rows, "2x8", scheduler="las", placement="consolidated", round_s=300.0)


def test_the_queue_and_the_demand_are_those_of_the_jobs(result):
    jobs, stints, rounds = result.jobs, result.stints, result.rounds
    submit, finish, gpus = (np.asarray(jobs[name]) for name in ("submit_s", "finish_s", "gpus"))
    for index, now in enumerate(rounds["time_s"].tolist()):
        there = (submit <= now) & (finish > now)
        on = np.unique(stints["job"][(stints["start_s"] <= now) & (stints["end_s"] > now)])
        waits = there.copy()
        waits[on] = False
        assert rounds["queued"][index] == waits.sum(), f"jobs that wait at {now} s"
        assert rounds["gpus_demanded"][index] == gpus[there].sum(), f"GPUs asked for at {now} s"


def test_gpus_that_two_jobs_share_are_handed_out_once(tmp_path, run):
    """`a` and `b` start on the same two GPUs while `first` keeps the others: too few for `large`."""
    (tmp_path / "pair.py").write_text(
        NO_SLOWER
        + """
@dataclass(frozen=True)
class Pair:
    \"\"\"The first job on two GPUs, the next two together on the others, the last one after them.\"\"\"

    def schedule(self, job_state, cluster_state):
        on = {0: (2, 3), 1: (0, 1), 2: (0, 1), 3: (0, 1, 2, 3)}
        jobs = job_state.active[job_state.active < 3] if len(job_state.active) > 1 else job_state.active
        paired = np.isin([1, 2], jobs).all()
        partner = np.where((jobs > 0) & paired, 3 - jobs, -1)
        return Schedule(jobs, pinned={row: on[row] for row in jobs.tolist()}, share_group=partner)
"""
    )
    found = run(
        [("first", 0, 2, 400), ("a", 100, 2, 300), ("b", 100, 2, 300), ("large", 100, 4, 100)],
        scheduler=f"{tmp_path / 'pair.py'}:Pair",
        performance=f"{tmp_path / 'pair.py'}:NoSlower",
    )
    assert found.rounds["handed_out"][:2].tolist() == [2, 2]
    assert found.summary["wait_capacity_s"] == 300.0
    assert found.summary["wait_priority_s"] == 0.0
