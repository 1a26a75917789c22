"""Properties of backfilling over random jobs, on nodes that matter and where GPUs are counted.

EASY never starts the first job in line later than it was reserved for; conservative backfilling never starts
any job later than it was first reserved for. Both hold whenever no job runs longer than believed.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blox import Experiment
from blox.schedulers.backfill.policy import Backfill
from blox.schedulers.backfill.waiting import Memory

JOBS = st.lists(
    st.tuples(
        st.integers(0, 30), st.sampled_from([1, 1, 2, 3, 4, 8]), st.integers(1, 30), st.integers(0, 30)
    ),
    min_size=2,
    max_size=25,
)  # seconds since the one before, GPUs, seconds that it runs, seconds that it is believed to run longer


def promises(jobs, kind, placement, folder):
    """What was promised and when jobs started: (row -> every start that it was reserved for, starts)."""
    submit, lines = 0, []
    for row, (gap, gpus, seconds, longer) in enumerate(jobs):
        submit += gap // 6
        lines.append(f"{row},{submit},{gpus},{seconds},{seconds + longer}")
    trace = folder / "trace.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s,limit_s\n" + "\n".join(lines))
    prepared = Experiment(
        workload=str(trace), cluster="2x4", placement=placement, clock="events", belief="limit",
        scheduler=f"backfill:kind={kind}",
    ).prepare()  # fmt: skip
    policy = prepared.composition.scheduler
    assert isinstance(policy, Backfill)
    seen: dict[int, list[float]] = {}
    _, job_state = prepared._loop(lambda _, job_state: note(policy, job_state, seen))
    return seen, job_state.columns.first_start_s[: job_state.submitted]


def note(policy, job_state, seen):
    memory = job_state.memory(policy, Memory)
    for row, begin in memory.reserved.items():
        seen.setdefault(row, []).append(begin)


@pytest.mark.parametrize("placement", ["count", "consolidated"])
@settings(max_examples=40, deadline=None)
@given(jobs=JOBS)
def test_easy_never_delays_the_job_at_the_head(placement, jobs, tmp_path_factory):
    seen, starts = promises(jobs, "easy", placement, tmp_path_factory.mktemp("easy"))
    for row, reserved in seen.items():
        assert starts[row] <= reserved[0] + 1e-6, "it started later than it was first reserved for"
        assert reserved == sorted(reserved, reverse=True), "a reservation never moves back"


@pytest.mark.parametrize("placement", ["count", "consolidated"])
@settings(max_examples=40, deadline=None)
@given(jobs=JOBS)
def test_conservative_delays_no_job(placement, jobs, tmp_path_factory):
    seen, starts = promises(jobs, "conservative", placement, tmp_path_factory.mktemp("conservative"))
    for row, reserved in seen.items():
        assert starts[row] <= reserved[0] + 1e-6
        assert reserved == sorted(reserved, reverse=True)
