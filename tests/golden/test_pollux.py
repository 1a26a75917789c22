"""The Pollux artifact's own results, run by run and job by job, equal to the last digit.

Every row of `pollux/summary.csv` in the shared folder with `deterministic` = 1 is a case, and so is
every run of a deterministic policy whose JCTs were shipped with the artifact and whose workload is there.
Pollux draws random numbers: its averages are held to the shipped ones (`make pollux`, minutes).
"""

import pytest

from blox import Experiment
from blox.experiment.parallel import Task, run_tasks
from support.goldens import WHOLE, check_cases, listed_cases, rows_of
from support.places import SHARED

WORKLOADS = SHARED / "data" / "pollux" / "workloads"
SHIPPED = WHOLE / "pollux" / "shipped_per_job.csv"
RESULTS = WHOLE / "pollux" / "shipped_results.csv"
SEEDS = range(3)
CASES = [case for case in listed_cases("pollux") if case["deterministic"] == "1"]


def shipped_runs():
    """(policy, interval, workload) -> {job: JCT} of the deterministic policies at load 1.0."""
    found = {}
    for row in rows_of(SHIPPED) if SHIPPED.is_file() else []:
        there = (WORKLOADS / f"{row['workload']}.csv").is_file()
        if row["policy"] in ("optimus", "tiresias") and float(row["job_load"]) == 1.0 and there:
            key = (row["policy"], row["interval"], row["workload"])
            found.setdefault(key, {})[row["job"]] = float(row["jct"])
    return found


SHIPPED_RUNS = shipped_runs()


def experiment(workload, seed=0, **options):
    trace = WORKLOADS / f"{workload}.csv"
    if not trace.is_file():
        pytest.skip(f"absent: {trace}")
    given = ",".join(f"{name}={value}" for name, value in options.items())
    return Experiment(workload=f"pollux:{trace}", compat=f"pollux:{given}", seed=seed)


def test_there_are_cases():
    check_cases("pollux", CASES)


@pytest.mark.parametrize("case", CASES, ids=[case["file"] for case in CASES])
def test_equals_the_original(case):
    run = experiment(
        case["workload"],
        policy=case["policy"],
        interval=case["interval"],
        nodes=case["nodes"],
        interference=case["interference"],
    ).run()
    jobs = {
        name: (jct, moves + stops, held)
        for name, jct, moves, stops, held in zip(
            *(
                run.jobs[column].tolist()
                for column in ("job_id", "jct_s", "moves", "preemptions", "gpu_seconds")
            )
        )
    }
    expected = {
        row["name"]: (float(row["jct"]), int(row["num_restarts"]), float(row["attained_service"]))
        for row in rows_of(case["origin"] / case["file"])
    }
    apart = [
        f"{name}: {jobs.get(name)}, the original's {of}"
        for name, of in expected.items()
        if jobs.get(name) != of
    ]
    assert expected and len(jobs) == len(expected) and not apart, "\n".join(apart[:5])


@pytest.mark.parametrize("case", SHIPPED_RUNS, ids="-".join)
def test_equals_what_was_shipped(case):
    policy, interval, workload = case
    run = experiment(workload, policy=policy, interval=interval).run()
    jobs = dict(zip(run.jobs["job_id"].tolist(), run.jobs["jct_s"].tolist()))
    apart = {job: (jobs.get(job), jct) for job, jct in SHIPPED_RUNS[case].items() if jobs.get(job) != jct}
    assert not apart, dict(list(apart.items())[:5])


@pytest.mark.long
def test_pollux_is_as_good_as_what_was_shipped():
    """Average JCT within 5 % of the shipped one for every workload at load 1.0; within 2 % on the mean."""
    shipped = {
        row["workload"]: float(row["avg_jct"])
        for row in (rows_of(RESULTS) if RESULTS.is_file() else [])
        if row["tag"] == "pollux-1.0" and (WORKLOADS / f"{row['workload']}.csv").is_file()
    }
    if not shipped:
        pytest.skip(f"absent: {RESULTS}, or every workload in {WORKLOADS}")
    asked = [(name, seed) for name in shipped for seed in SEEDS]
    tasks = [Task(experiment(name, seed, policy="pollux", interval=60)) for name, seed in asked]
    found: dict[str, list[float]] = {}
    for (name, _), outcome in zip(asked, run_tasks(tasks, 2)):
        assert outcome.result is not None, outcome.error
        found.setdefault(name, []).append(outcome.result.summary["avg_jct_s"])
    means = {name: sum(each) / len(each) for name, each in found.items()}
    off = {name: means[name] / shipped[name] - 1 for name in shipped}
    told = "; ".join(f"{name} {means[name]:.0f} s, {100 * off[name]:+.1f} %" for name in sorted(shipped))
    whole = sum(means.values()) / sum(shipped.values()) - 1
    print(f"\n{told}; mean {100 * whole:+.2f} %")
    assert max(map(abs, off.values())) <= 0.05 and abs(whole) <= 0.02, f"{told}; mean {100 * whole:+.2f} %"
