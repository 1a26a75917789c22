"""The public Tiresias simulator's own results, run by run and job by job, equal to the last second.

Every row of `tiresias/summary.csv` in the shared folder and in `tests/golden/data` that is marked
deterministic is a case: its columns are the options of the run, its `file` is what came of it.
"""

from pathlib import Path

import pytest

from blox import Experiment
from support.goldens import check_cases, label, listed_cases, rows_of
from support.places import SHARED

DISTRIBUTION = SHARED / "data" / "tiresias" / "yarn-gput1000.csv"
NEEDS_DISTRIBUTION = ("shortest-expected", "dlas-gpu-gittins", "gittins")
CASES = [case for case in listed_cases("tiresias") if case["deterministic"] == "1"]


def options_of(case):
    """The preset's options for a row. Variants: K<queues>_<limits>, memfix; others mend crashes."""
    options = {"schedule": case["schedule"], "scheme": case["placement"]}
    variant = case["variant"]
    if variant == "memfix":
        options["memfix"] = "true"
    elif variant.startswith("K"):
        queues, _, limits = variant[1:].partition("_")
        options |= {"num_queue": queues, "queue_limit": limits.replace("-", "+")}
    if case["schedule"] in NEEDS_DISTRIBUTION:
        options["distribution"] = str(DISTRIBUTION)
    return options


def experiment_of(case):
    options = ",".join(f"{key}={value}" for key, value in options_of(case).items())
    return Experiment(
        workload=f"tiresias:{case['origin'] / 'inputs' / case['trace']}.csv",
        cluster=f"tiresias:{case['origin'] / 'clusters' / case['cluster']}.csv",
        compat=f"tiresias:{options}",
    )


def test_there_are_cases():
    check_cases("tiresias", CASES)


def name_of(case):
    return label(case, Path(case["file"]).name.removesuffix(".jobs.csv"))


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_equals_the_original(case):
    if case["schedule"] in NEEDS_DISTRIBUTION and not DISTRIBUTION.is_file():
        pytest.skip(f"absent: {DISTRIBUTION}")
    original = {row["job_id"]: row for row in rows_of(case["origin"] / case["file"])}
    jobs = experiment_of(case).run().jobs
    names = [str(name) for name in jobs["job_id"]]
    columns = {
        "first_start_s": "start_time",
        "finish_s": "end_time",
        "jct_s": "jct",
        "preemptions": "preempt",
        "promotions": "promote",
    }
    ours = {ours: jobs[ours].tolist() if ours in jobs else [0] * len(names) for ours in columns}
    finished = [name for name, end in zip(names, ours["finish_s"]) if end == end]
    assert sorted(finished, key=int) == sorted(original, key=int), "the jobs that were completed"
    apart = [
        f"job {name}: {column} is {ours[column][i]}, the original's is {original[name][theirs]}"
        for i, name in enumerate(names)
        if name in original
        for column, theirs in columns.items()
        if ours[column][i] != float(original[name][theirs])
    ]
    apart += waits_apart(jobs, names, original)
    assert not apart, "\n".join(apart[:10])


def waits_apart(jobs, names, original):
    """Waiting and starts of the jobs that ran to their end: a stale completion leaves work and waits out."""
    found = []
    for i, name in enumerate(names):
        row = original.get(name)
        if row is None or jobs["run_s"][i] != float(row["duration"]):
            continue
        if jobs["queueing_s"][i] != float(row["pending_time"]):
            found.append(f"job {name}: waited {jobs['queueing_s'][i]}, the original {row['pending_time']}")
        if row.get("resume") and row["preempt"] != "0" and jobs["preemptions"][i] + 1 != int(row["resume"]):
            found.append(
                f"job {name}: started {jobs['preemptions'][i] + 1} times, the original {row['resume']}"
            )
    return found
