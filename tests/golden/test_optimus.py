"""Optimus, worked examples: every case of `optimus.json`, to 1e-6 (O2, a noisy fit: 1e-3).

The file is read from the shared folder and from `tests/golden/data`. Cases are told apart by what they
give and ask for, so that further ones of the same kinds are run as well.
"""

import numpy as np
import pytest

from blox.schedulers.optimus.allocation import ServerJob, allocate, allocate_replicas, dominant, gain
from blox.schedulers.optimus.convergence import LossCurve, fit_loss
from blox.schedulers.optimus.placement import Tasks, place, transfer
from blox.schedulers.optimus.speed import (
    Asynchronous,
    Replicas,
    Synchronous,
    fit_asynchronous,
    fit_synchronous,
)
from support.goldens import check_cases, label, worked_examples

CASES = worked_examples("optimus.json")


def close(value, expected, rel=1e-6):
    assert value == pytest.approx(expected, rel=rel, abs=1e-9)


def curve(given, wanted):
    found = fit_loss(given["k"], given["loss"])
    noisy = "fit" in wanted
    expected = wanted["fit"] if noisy else wanted
    rel = 1e-3 if noisy else 1e-6
    for name in ("b0", "b1", "b2"):
        close(getattr(found, name), expected[name], rel)
    close(found.error, expected["sse"], rel)
    for name, value in wanted.items():
        if name.startswith("pred_k"):
            close(float(found.loss(int(name.removeprefix("pred_k")))), value, rel)
        if name.startswith("true_k"):
            close(float(LossCurve(**given["true"]).loss(int(name.removeprefix("true_k")))), value)


def convergence(given, wanted):
    for delta, patience in given["cases"]:
        expected = wanted[f"delta={delta:g},patience={patience}"]
        assert LossCurve(**given["b"]).converges_at(delta, patience) == expected


def speed(given, wanted):
    servers, workers, speeds = np.array(given["points"]).T
    if "M" in given:
        found = fit_synchronous(servers, workers, speeds, given["M"])
    else:
        found = fit_asynchronous(servers, workers, speeds)
    close(found.theta, tuple(wanted["theta"]))
    for name, value in wanted.items():
        if name.startswith("pred_"):
            close(1 / float(found.step_s(*map(int, name.split("_")[1:]))), value)


def job_of(given):
    theta = tuple(given["th"])
    model = Synchronous(theta, given["M"]) if given["kind"] == "sync" else Asynchronous(theta)
    return ServerJob(given["Q"], model, given["worker"], given["ps"], given.get("prio", 1.0))


def one_gain(given, wanted):
    job, capacity = job_of(given["job"]), given["capacity"]
    close(job.seconds(1, 1), wanted["t_now"])
    close(gain(job, 1, 1, "worker", capacity), wanted["gain_worker"])
    close(gain(job, 1, 1, "ps", capacity), wanted["gain_ps"])
    assert dominant(job.worker, capacity) == wanted["dominant_worker"]
    assert dominant(job.server, capacity) == wanted["dominant_ps"]


def allocation(given, wanted):
    names, capacity = list(given["jobs"]), given["capacity"]
    jobs = [job_of(given["jobs"][name]) for name in names]
    found = allocate(jobs, capacity)
    for number, name in enumerate(names):
        assert found.servers[number] == wanted["alloc"][name]["ps"]
        assert found.workers[number] == wanted["alloc"][name]["workers"]
        close(jobs[number].seconds(found.servers[number], found.workers[number]), wanted["est_time"][name])
    close({r: capacity[r] - found.free[r] for r in capacity}, wanted["used"])
    assert [(names[number], task) for number, task, _ in found.grants] == [
        (name, task) for name, task, _ in wanted["trace"]
    ]
    close([each[2] for each in found.grants], [each[2] for each in wanted["trace"]])


def replicas(given, wanted):
    names = list(given["jobs"])
    steps = np.array([given["jobs"][name]["left"] for name in names])
    models = [Replicas(tuple(given["jobs"][name][each] for each in "abc")) for name in names]
    times = np.array([model.step_s(np.arange(1, given["gpus"] + 1)) for model in models])
    found, grants = allocate_replicas(times, steps, given["gpus"])
    assert dict(zip(names, found.tolist())) == wanted["replicas"]
    assert given["gpus"] - found.sum() == wanted["free"]
    assert [names[number] for number, _ in grants] == [name for name, _ in wanted["trace"]]
    close([each[1] for each in grants], [each[1] for each in wanted["trace"]])
    for number, name in enumerate(names):
        close(steps[number] * times[number, found[number] - 1], wanted["est_time"][name])


def placement(given, wanted):
    names = list(given["jobs"])
    jobs = [
        Tasks(job["ps"], job["workers"], job["ps_req"], job["worker_req"]) for job in given["jobs"].values()
    ]
    found = place(jobs, given["servers"])
    assert [names[number] for number in found.order] == wanted["order"]
    for number, name in enumerate(names):
        expected = wanted["placement"][name]
        where = {
            str(machine): {"ps": servers, "workers": workers}
            for machine, (servers, workers) in found.where[number].items()
        }
        assert where == (expected["per_server"] if expected else {})
        assert len(where) == (expected["servers"] if expected else 0)
    for free, expected in zip(found.free, wanted["free_after"], strict=True):
        close(free, expected)


def layouts(given, wanted):
    for name, layout in given["layouts"].items():
        close(transfer(layout), wanted[name])


def check_for(given):
    """Which of the above a case asks for, by what it gives."""
    if "loss" in given:
        return curve
    if "b" in given and "cases" in given:
        return convergence
    if "points" in given:
        return speed
    if "job" in given:
        return one_gain
    if "layouts" in given:
        return layouts
    if "servers" in given:
        return placement
    return replicas if "gpus" in given else allocation


def test_there_are_cases():
    check_cases("optimus.json", CASES)


@pytest.mark.parametrize("case", CASES, ids=[label(case, case["id"]) for case in CASES])
def test_equals_the_worked_example(case):
    check_for(case["input"])(case["input"], case["output"])
