"""The worked examples of Themis and of finish-time fairness as others simplify it, to 1e-6.

Every entry of `themis.json` in the shared folder and in `tests/golden/data` is a case; what is asked of it is
told by its input, not by its number, so any file of that layout will do.
"""

import math

import numpy as np
import pytest

from blox.schedulers.ftf_forms import shockwave_rho, smallest_max_rho, synergy_rho
from blox.schedulers.gavel.policies.finish_time_fairness import FinishTimeFairness
from blox.schedulers.gavel.problem import Problem
from blox.schedulers.themis.auction import auction, bid_by_machine
from blox.schedulers.themis.rho import AppJob, cluster_time_s, ideal_time_s, rho, shared_time_s, worst_off
from support.goldens import check_cases, label, worked_examples

CASES = worked_examples("themis.json")


def close(want):
    return pytest.approx(want, rel=1e-6, abs=1e-12)


def test_there_are_cases():
    check_cases("themis.json", CASES)


@pytest.mark.parametrize("case", CASES, ids=[label(case, case["id"]) for case in CASES])
def test_worked_example(case):
    given = case["input"]
    for field, check in CHECKS.items():
        if field in given:
            return check(given, case["output"])
    pytest.fail(f"{case['id']}: an example of a kind that this test does not know: {sorted(given)}")


def app_job(job, gpus=0, slowdown=1.0):
    return AppJob(job["iter_total"], job["iter_left"], job["serial"], job["max_par"], gpus, slowdown)


def check_auction(given, output):
    free = tuple(given["free_gpus_per_machine"])
    bids = []
    for app in given["apps"].values():
        held = app.get("held", 0)

        def worth(bundle, app=app, held=held):
            spread = app.get("spread", 1.0) if np.count_nonzero(bundle) > 1 else 1.0
            job = app_job(app["job"], held + sum(bundle), spread)
            return 1 / rho([job], given["cluster_gpus"], given["n_avg"], app["elapsed"])

        bids.append(bid_by_machine(free, app["job"]["max_par"] - held, worth))
    outcomes = auction(bids, free)
    for (name, want), have in zip(output["apps"].items(), outcomes):
        assert have.bundle == tuple(want["pf"]), name
        assert sum(have.bundle) == want["pf_gpus"], name
        assert have.value == close(want["value_pf"]), name
        assert 1 / have.value == close(want["rho_pf"]), name
        assert have.with_it == close(want["others_product_with"]), name
        assert have.without_it == close(want["others_product_without"]), name
        assert have.kept == close(want["c"]), name
        assert 1 - have.kept == pytest.approx(want["hidden_payment"], rel=1e-6, abs=1e-9), name
        assert have.share == close(want["final_fractional"]), name
        assert have.whole_gpus == want["final_floor"], name
    assert math.prod(outcome.value for outcome in outcomes) == close(output["nash_product"])
    assert sum(free) - sum(outcome.whole_gpus for outcome in outcomes) == output["leftover_after_floor"]


def check_offer(given, output):
    names = list(given["rho"])
    for f in given["f"]:
        assert [names[i] for i in worst_off(list(given["rho"].values()), f)] == output[str(f)], f"f = {f}"


def check_rho(given, output):
    jobs = [app_job(job, job["gpus"], job["S"]) for job in given["jobs"]]
    gpus, apps, elapsed = given["cluster_gpus"], given["n_avg"], given["elapsed_s"]
    have = {
        "T_cluster": cluster_time_s(jobs, gpus),
        "T_id": ideal_time_s(jobs, gpus, apps),
        "T_sh": shared_time_s(jobs, elapsed),
        "rho": rho(jobs, gpus, apps, elapsed),
    }
    for name, want in output.items():
        assert have[name] == (math.inf if want is None else close(want)), name


def check_program(given, output):
    """By our bisection, and by Gavel's own policy: the same largest rho."""
    width, left, speed, elapsed, so_far = (
        np.array([float(job.get(name, 0.0)) for job in given["jobs"]])
        for name in ("sf", "left", "thr", "elapsed", "iso_done")
    )
    found = smallest_max_rho(given["gpus"], width, left, speed, elapsed, so_far)
    assert found.max_rho == close(output["max_rho"])
    assert found.fraction == close(output["x_minimal"])
    assert found.isolated_speed == close(output["isolated_thr"])
    assert found.isolated_s == close(output["isolated_time"])
    memory = {"jobs": {row: (steps, 1.0, past) for row, (steps, past) in enumerate(zip(left, so_far))}}
    problem = Problem(
        ("gpu",), [given["gpus"]], speed[:, None], width=width, remaining_steps=left, elapsed_s=elapsed
    )
    assert FinishTimeFairness().allocate(problem, memory).objective == close(output["max_rho"])


def check_simplified(given, output):
    waited, total = given["now"] - given["arrival"], given["iters_total"] * given["iter_time"]
    left = given["iters_left"] * given["iter_time"]
    assert synergy_rho(waited, left, total) == close(output["synergy_ftf_fair"])
    assert synergy_rho(waited, left / given["speed_now"], total) == close(output["synergy_ftf_tuned"])
    contention = given["n_jobs"] / given["gpus"]
    assert shockwave_rho(given["jct"], given["exclusive"], contention) == close(output["shockwave_rho"])
    assert shockwave_rho(given["jct"], given["exclusive"], 0.0) == close(output["shockwave_rho_uncontended"])


CHECKS = {
    "free_gpus_per_machine": check_auction,
    "f": check_offer,
    "elapsed_s": check_rho,
    "gpus": None,  # told apart below: Gavel's program has jobs, the simplified figures have not
}
CHECKS["gpus"] = lambda given, output: (check_program if "jobs" in given else check_simplified)(given, output)
