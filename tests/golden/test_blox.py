"""The public Blox simulator's own results, run by run and job by job, equal to the last digit.

Every row of `goldens/blox/summary.csv` in the shared folder is a case: its columns are the options of the
run, `results/<run>.csv` is what came of it. Any folder of that layout will do.
"""

import csv

import numpy as np
import pytest

from blox import Experiment
from support.places import SHARED

FOLDER = SHARED / "goldens" / "blox"
SUMMARY = FOLDER / "summary.csv"


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


CASES = rows_of(SUMMARY) if SUMMARY.is_file() else []


def experiment_of(case):
    """The experiment that a row of the summary describes; an empty cell is an option not given."""
    options = ("policy", "placement", "accept", "load")
    given = [f"{name}={case[name]}" for name in options if case.get(name)]
    return Experiment(
        workload=f"blox:{FOLDER / case['jobs_csv']}",
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
    if not FOLDER.is_dir():
        pytest.skip(f"absent: {FOLDER}")
    assert SUMMARY.is_file(), f"absent: {SUMMARY}"
    assert CASES, f"{SUMMARY} lists no run"


@pytest.mark.parametrize("case", CASES, ids=[case["run"] for case in CASES])
def test_equals_the_original(case):
    expected = rows_of(FOLDER / "results" / f"{case['run']}.csv")
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
