"""The Pollux artifact's own functions, case by case: step times, efficiency, goodput, batch sizes, fits.

Every case of every file in `pollux/functions/` of the shared folder and of `tests/golden/data` is run; each
file is a kind of case, and a kind that nothing here compares is an error. Numbers agree to 1e-9; fits may be
better, not worse.
"""

from functools import cache

import numpy as np
import pytest

from blox.performance.goodput import GradientNoise, ThroughputModel, goodput
from blox.performance.goodput_batch import BatchLimits, best_batch
from blox.performance.goodput_fit import Observations, fit, fit_error
from blox.profiles.pollux_application import PolluxApplication, normalised
from blox.schedulers.pollux import fitness as pollux
from blox.schedulers.pollux.fitness import Round, restart_factor, speedups
from blox.schedulers.pollux.repair import feasible
from blox.schedulers.pollux.repair import repair as repaired
from blox.schedulers.pollux.speedup import fair_share, speedup_table
from support.goldens import cases_by_file, check_cases, label
from support.places import SHARED


def close(value, expected):
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-300)


def limits_of(case):
    return BatchLimits(
        case["init_batch_size"],
        case["max_batch_size"],
        *case["atomic_bsz_range"],
        case.get("accumulation", True),
    )


def throughput(case, meta):
    model = ThroughputModel(**case["perf_params"])
    where = case["num_nodes"], case["num_replicas"]
    atomic, accumulation = case["atomic_bsz"], case["accum_steps"]
    close(model.pass_s(atomic), case["accum_time"])
    close(model.network_s(*where), case["network_time"])
    close(model.step_s(*where, atomic), case["optim_step_time"])
    close(np.log(model.step_s(*where, atomic)), case["log_optim_time"])
    close(model.iteration_s(*where, atomic, accumulation), case["iteration_time"])
    close(model.throughput(*where, atomic, accumulation), case["throughput"])


def efficiency_goodput(case, meta):
    noise = GradientNoise(**case["grad_params"])
    close(noise.gain(case["scale"]), case["gain"])
    close(noise.efficiency(case["scale"]), case["efficiency"])
    asked = case.get("evaluate")
    if asked:
        model = ThroughputModel(**asked["perf_params"])
        where = [asked[name] for name in ("num_nodes", "num_replicas", "atomic_bsz", "accum_steps")]
        close(model.throughput(*where), asked["throughput"])
        close(goodput(model, noise, case["init_batch_size"], *where), asked["goodput"])


def goodput_optimize(case, meta):
    model, noise = ThroughputModel(**case["perf_params"]), GradientNoise(**case["grad_params"])
    for form in ("artifact", "production"):
        if "goodput" not in case[form]:
            continue  # where the original ends in an error there is nothing to compare
        found = best_batch(
            model, noise, limits_of(case), case["num_nodes"], case["num_replicas"], clip=form == "production"
        )
        close(found.goodput, case[form]["goodput"])
        assert np.array_equal(found.atomic, case[form]["atomic_bsz"])
        assert np.array_equal(found.accumulation, case[form]["accum_steps"])


def fit_perf_params(case, meta):
    names = ("num_nodes", "num_replicas", "atomic_bsz", "accum_time", "step_time")
    observed = Observations(*([row[name] for row in case["observations"]] for name in names))
    close(fit_error(ThroughputModel(**case["fitted"]), observed), case["objective"])
    theirs = max(case["objective"], case.get("objective_modern", case["objective"]))
    assert fit_error(fit(observed), observed) <= 1.01 * theirs


def speedup(case, meta):
    model, noise = ThroughputModel(**case["perf_params"]), GradientNoise(**case["grad_params"])
    nodes, replicas = np.array(case["points"]).T
    alone = best_batch(model, noise, limits_of(case), 1, 1).goodput
    close(alone, case["base_goodput_1x1"])
    found = best_batch(model, noise, limits_of(case), nodes, replicas).goodput
    if case["speedup_vs_1gpu"] is not None:
        close(found / alone, case["speedup_vs_1gpu"])
    fair = case["fair"]
    assert fair_share(fair["cluster_gpus"], fair["num_jobs"]) == fair["fair_num_replicas"]
    base = best_batch(model, noise, limits_of(case), fair["fair_num_nodes"], fair["fair_num_replicas"])
    close(base.goodput, fair["base_goodput"])
    # the table of a round: as many equal jobs as the case says, on nodes that hold any of its points
    count = fair["num_jobs"]
    columns = ThroughputModel.of(np.tile(model.array(), (count, 1)))
    most = np.full(count, fair["cluster_gpus"])
    table = speedup_table(
        columns, noise, limits_of(case), most, total_gpus=fair["cluster_gpus"], node_gpus=replicas.max()
    )
    close(table[0, np.minimum(nodes, 2) - 1, replicas], fair["speedup_vs_fair"])


def round_of(case):
    """The decision that a case of fitness describes; what an unprofiled job lacks is never looked at."""
    jobs, nodes, size = case["jobs"], case["num_nodes"], case["gpus_per_node"]
    profiled = np.array([job["kind"] == "profiled" for job in jobs])
    model = ThroughputModel.of(
        np.array([list(job.get("perf_params", {}).values()) or [1.0] * 7 for job in jobs])
    )
    noise = GradientNoise(
        *(np.array([job.get("grad_params", {}).get(n, 1.0) for job in jobs]) for n in ("sqr", "var"))
    )
    limits = BatchLimits(
        np.array([job.get("init_batch_size", 1) for job in jobs]),
        np.array([job.get("max_batch_size", 1) for job in jobs]),
        *np.array([job.get("atomic_bsz_range", [1, 1]) for job in jobs]).T,
        True,
    )
    total = nodes * size
    table = speedup_table(
        model, noise, limits, np.full(len(jobs), total), total_gpus=total, node_gpus=size, profiled=profiled
    )
    ages, restarts = (np.array([job[name] for job in jobs]) for name in ("age", "num_restarts"))
    return Round(
        table,
        np.array(case["base_state"]),
        np.full(nodes, size),
        np.array([job["max_replicas"] for job in jobs]),
        restart_factor(ages, restarts),
    )


def fitness(case, meta):
    problem, states = round_of(case), np.array(case["states"])
    close(problem.restart, case["restart_factor"])
    close(speedups(problem, states), case["speedups"])
    close(pollux.fitness(problem, states), case["fitness"])
    close(pollux.utility(problem, states), case["utility"])
    close(
        -np.stack([pollux.fitness(problem, states), pollux.utility(problem, states)], 1), case["objective_F"]
    )


def repair(case, meta):
    given, expected = np.array(case["input"]), np.array(case["output"])
    jobs, nodes = given.shape[1:]
    problem = Round(
        np.zeros((jobs, 2, 1)),
        np.zeros((jobs, nodes), dtype=int),
        np.full(nodes, case["gpus_per_node"]),
        np.array(case["max_replicas"]),
        np.ones(jobs),
    )
    rng = np.random.default_rng(0)
    found = repaired(problem, given, rng, as_artifact=True)
    if case["deterministic"]:
        assert np.array_equal(found, expected)
    for answer in (found, repaired(problem, given, rng)):
        assert feasible(problem, answer).all()
        assert (answer <= given).all()


@cache
def application(name):
    folder = SHARED / "data" / "pollux" / "applications" / name
    if not folder.is_dir():
        pytest.skip(f"absent: {folder}")
    return PolluxApplication(folder)


def applications(case, meta):
    measured = application(case["application"])
    about = meta["applications"][case["application"]]
    assert measured.initial_batch == about["init_batch_size"]
    assert measured.largest_batch == about["max_batch_size"]
    assert measured.atomic_range == (about["min_local_bsz"], about["max_local_bsz"])
    assert measured.batch_sizes == about["validated_batch_sizes"]
    assert (measured.epochs, len(measured.measured)) == (about["max_epochs"], about["n_placements"])
    close(measured.progress(measured.epochs), about["total_progress"])
    assert measured.epochs - 1 == case["completion_epoch"]
    assert normalised(case["placement"]) == tuple(case["normalized"])
    assert (normalised(case["placement"]) in measured.measured) == case["measured_placement"]
    close(measured.times(case["placement"], case["local_bsz"]), (case["step_time"], case["sync_time"]))
    batch, epoch = case["batch_size"], case["epoch"]
    close(measured.gradient(batch, epoch), (case["grad_sqr"], case["grad_var"]))
    close(measured.progress(epoch), case["progress_at_epoch"])
    close(measured.iterations(batch, epoch), case["iteration_at_epoch"])
    best = measured.best_metric(batch, epoch)
    assert best == case["best_metric"] or best == pytest.approx(case["best_metric"], rel=1e-9)


CHECKS = {
    check.__name__: check
    for check in (
        throughput,
        efficiency_goodput,
        goodput_optimize,
        fit_perf_params,
        speedup,
        fitness,
        repair,
        applications,
    )
}


CASES = cases_by_file("pollux/functions")


def test_there_are_cases():
    check_cases("pollux/functions", CASES)


@pytest.mark.parametrize(
    "case", CASES, ids=[label(case, f"{case['file']}-{case['number']}") for case in CASES]
)
def test_equals_the_original(case):
    assert case["file"] in CHECKS, f"nothing compares {case['file']}"
    CHECKS[case["file"]](case, case["content"]["meta"])
