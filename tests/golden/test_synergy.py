"""The public Synergy simulator's own results, run by run and job by job, equal to the last digit.

Every row of `synergy/summary.csv` in the shared folder and in `tests/golden/data` whose `compare` is
`jobs` is a case: first start and finish of every job. `opt_instances.json` are single rounds of OPT,
whose optimum is compared, since who gets what is not unique.
"""

import json

import numpy as np
import pytest

from blox import Experiment
from blox.placement.synergy.program import Choice, best_points
from blox.profiles.synergy import best_case, model_wants, surfaces
from support.goldens import WHOLE, check_cases, label, listed_cases, places_of, rows_of
from support.linear_bound import linear_bound

CASES = [case for case in listed_cases("synergy") if case["compare"] == "jobs"]
OPT = [case for path in places_of("synergy/opt_instances.json") for case in json.loads(path.read_text())]


def cluster_of(servers):
    """The original's servers have 3 cores and 62.5 GB per GPU."""
    gpus = int(servers.partition("x")[2])
    return f"{servers}:cpu={3 * gpus},memory_gb={62.5 * gpus:g}"


def experiment_of(case):
    options = f"schedule={case['sched']},allocation={case['place']},consolidate={case['consolidate']}"
    if case["first_round_s"]:
        options += f",first_round={case['first_round_s']}"
    workload = f"synergy:{case['origin'] / case['input']}"
    first, behind = (int(cell) for cell in case["window"].split(","))
    known = len(Experiment(workload=workload).prepare().workload.table)
    return Experiment(
        workload=workload,
        cluster=cluster_of(case["servers"]),
        compat=f"synergy:{options}",
        window=f"{first}-{behind - 1}" if behind <= known else "",
    )


def test_there_are_cases():
    check_cases("synergy", CASES)


@pytest.mark.parametrize("case", CASES, ids=[label(case, case["run"]) for case in CASES])
def test_equals_the_original(case):
    original = {
        row["job_id"]: row
        for row in rows_of(case["origin"] / case["output"])
        if row.get("in_window", "1") == "1"
    }
    result = experiment_of(case).run()
    place = {str(name): i for i, name in enumerate(result.jobs["job_id"].tolist())}
    apart = [
        f"job {name}: {ours} is {result.jobs[ours][place[name]]}, the original's is {row[ours]}"
        for name, row in original.items()
        for ours in ("first_start_s", "finish_s")
        if result.jobs[ours][place[name]] != float(row[ours])
    ]
    assert not apart, f"{len(apart)} differ\n" + "\n".join(apart[:10])
    assert original, "the original lists no job"
    if case["source"] == "original":
        assert result.summary["avg_jct_s"] / 3600 == pytest.approx(float(case["avg_jct_h"]), abs=5e-7)


def test_the_published_value():
    """The artifact's own: FIFO with tune, 9 jobs an hour, 128 GPUs."""
    published = [row for row in CASES if row["run"].startswith("P9") and row["place"] == "tune"]
    if not published:
        pytest.skip(f"absent: {WHOLE / 'synergy'}, or the run P9... with tune in it")
    result = experiment_of(published[0]).run()
    jct_h = result.jobs["jct_s"][result.jobs["in_window"] == 1] / 3600
    assert round(float(jct_h.mean()), 10) == 21.8766005556
    assert round(float(np.percentile(jct_h, 99)), 7) == 156.9330778


@pytest.mark.parametrize("case", OPT, ids=[str(case["instance"]) for case in OPT])
def test_opt_reaches_the_same_optimum(case):
    fair = (
        case["cpus_per_server"] / case["gpus_per_server"],
        case["mem_per_server"] / case["gpus_per_server"],
    )
    known = surfaces()
    jobs = [Choice.of(known[job["model"]], fair, ((0, job["gpus"]),)) for job in case["jobs"]]
    cpu, memory = (case["servers"] * case[name] for name in ("cpus_per_server", "mem_per_server"))
    found = best_points(jobs, [cpu], [memory])
    assert found.objective == pytest.approx(case["ilp"]["objective"], rel=1e-9)
    assert found.gap == pytest.approx(0.0, abs=1e-9)
    whole = [Choice(tuple(known[job["model"]].points()), ((0, job["gpus"]),)) for job in case["jobs"]]
    floors = [known[job["model"]].at(*fair) for job in case["jobs"]]
    assert linear_bound(whole, floors, [cpu], [memory]) == pytest.approx(case["lp"]["objective"], abs=1e-6)
    assert sum(floors) == pytest.approx(case["fair_objective"], rel=1e-9)
    for axis, limit in ((0, cpu), (1, memory)):
        used = sum(point[axis] * job["gpus"] for point, job in zip(found.points, case["jobs"]))
        assert used <= limit * (1 + 1e-9)


def test_demands_are_the_originals(shared):
    """Every model, 1 to 16 GPUs, both sizes of server."""
    rows = rows_of(shared("data/synergy/demand_by_gpus.csv"))
    for row in rows:
        gpus, cpu, memory = (
            int("".join(filter(str.isdigit, part))) for part in row["server_shape"].split("_")
        )
        found = best_case(model_wants()[row["model"]], int(row["gpus"]), gpus, cpu, memory)
        want = tuple(float(row[name]) for name in ("cpu_demand", "mem_demand_gb", "speed_at_demand"))
        assert (found.cpu, found.memory_gb, found.speed) == want, row
    assert rows


def test_the_originals_profiles_are_read(shared):
    theirs, ours = surfaces(str(shared("data/synergy/sensitivity_tput.csv"))), surfaces()
    assert theirs.keys() == ours.keys()
    for model, surface in theirs.items():
        np.testing.assert_array_equal(surface.speed, ours[model].speed, err_msg=model)
