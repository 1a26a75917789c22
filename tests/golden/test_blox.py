"""The public Blox simulator's own results, run by run and job by job, equal to the last digit.

Every row of `blox/summary.csv` in the shared folder and in `tests/golden/data` is a case: its columns are the
options of the run, `results/<run>.csv` is what came of it. The small ones were made by a replay of the
original's rules (`tests/support/blox_replay.py`), which is itself compared with every case here.
"""

import numpy as np
import pytest

from blox import Experiment
from support.blox_replay import replay_case
from support.goldens import check_cases, label, listed_cases, rows_of

CASES = listed_cases("blox")


def experiment_of(case):
    """The experiment that a row of the summary describes; an empty cell is an option not given."""
    options = ("policy", "placement", "accept", "load")
    given = [f"{name}={case[name]}" for name in options if case.get(name)]
    return Experiment(
        workload=f"blox:{case['origin'] / case['jobs_csv']}",
        cluster=f"{case['nodes']}x{case['gpus_per_node']}",
        compat=f"blox:{','.join(given)}",
        window=f"{case['track_start']}-{case['track_end']}",
        max_rounds=int(case["max_rounds"]) if case.get("max_rounds") else None,
    )


def number(cell):
    return float(cell) if cell else float("nan")


def differences(expected, jobs, columns):
    """In words, the first few jobs that differ; nothing if all are equal, nan being equal to nan."""
    found = []
    for name, original in columns.items():
        want = np.array([number(row[original]) for row in expected])
        have = np.asarray(jobs[name], dtype=np.float64)
        apart = ~((want == have) | (np.isnan(want) & np.isnan(have)))
        found += [
            f"job {expected[i]['job_id']}: {name} is {have[i]}, the original's is {want[i]}"
            for i in np.flatnonzero(apart)[:5]
        ]
    return "\n".join(found)


def test_there_are_cases():
    check_cases("blox", CASES)


def slow_if_long(case):
    marks = [] if case["source"] != "reference" else [pytest.mark.slow]  # 20,000 rounds
    return pytest.param(case, id=label(case, case["run"]), marks=marks)


def results_of(case):
    return rows_of(case["origin"] / "results" / f"{case['run']}.csv")


@pytest.mark.parametrize("case", CASES, ids=[label(case, case["run"]) for case in CASES])
def test_equals_the_original(case):
    expected = results_of(case)
    result = experiment_of(case).run()
    credited = (result.jobs["in_window"] == 1) & ~np.isnan(result.jobs["responsiveness_s"])
    jobs = {name: column[credited] for name, column in result.jobs.items()}
    listed = {row["job_id"]: row for row in expected}
    assert [str(each) for each in jobs["job_id"]] == sorted(listed, key=int), (
        "the jobs that were ever credited"
    )
    expected = [listed[str(each)] for each in jobs["job_id"]]
    columns = {
        "submit_s": "arrival_s",
        "finish_s": "completion_s",
        "jct_s": "jct_s",
        "responsiveness_s": "responsiveness_s",
        "preemptions": "preemptions",
    }
    given = {name: original for name, original in columns.items() if expected and original in expected[0]}
    assert not differences(expected, jobs, given)
    if case.get("preemptions"):
        assert result.summary["preemptions"] == int(case["preemptions"])


@pytest.mark.parametrize("case", [slow_if_long(case) for case in CASES])
def test_the_replay_equals_the_original(case):
    first, last = int(case["track_start"]), int(case["track_end"])
    ended = replay_case(case, case["origin"])
    found = [
        (job.job_id, float("nan") if job.completion is None else job.completion, job.responsiveness)
        for job in ended
        if first <= job.job_id <= last and job.credited
    ]
    columns = ("job_id", "completion_s", "responsiveness_s")
    original = [tuple(number(row[name]) for name in columns) for row in results_of(case)]
    np.testing.assert_array_equal(found, sorted(original))
    assert sum(job.preemptions for job in ended) == int(case["preemptions"])


def test_results_by_hand():
    """What three of the small cases must say, worked out from the rules.

    `blocked`, two nodes of 4: job 0 holds GPUs 0 to 2. Job 1 needs 2; the original offers it GPU 3 and then
    two of the second node, three in all, and gives up, so nothing starts before job 0 ends at 600 s.
    With the search mended, job 1 starts at once. `starving`, one GPU: job 0 goes first, being shorter.
    Job 1, accepted at 300 s, has waited 3,600,000 s at 3,600,300 s and goes first for good. Job 0 waits
    3,600,600 s from its last round (3,600,000 s) on, goes first at 7,200,600 s with 399,700 s left, and
    ends 1,333 rounds later; job 1 has 899,700 s left, 2,999 rounds.
    """
    expected = {
        "blocked_Fifo_asis": [("0", 600), ("1", 900), ("2", 900)],
        "blocked_Fifo_fixed": [("0", 600), ("1", 300), ("2", 600)],
        "starving_Srtf": [("0", 7_200_600 + 1333 * 300), ("1", 7_600_500 + 2999 * 300)],
    }
    small = {case["run"]: case for case in CASES if case["source"] == "replay"}
    for run, want in expected.items():
        assert [(row["job_id"], int(row["completion_s"])) for row in results_of(small[run])] == want
