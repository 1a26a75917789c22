"""What policies see of jobs follows the belief in every column; the truth stays with the backend."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from blox import BloxError, Experiment
from blox.beliefs import belief_from_spec, misjudged
from blox.checks.scenarios import scenarios
from blox.schedulers.fifo import Fifo
from blox.workloads.columns import COLUMNS
from blox.workloads.table import JobTable
from support.places import SAMPLES

GUESSED = ("expected_s", "iterations", "iteration_s")
SEEN: dict[str, np.ndarray] = {}  # what the scheduler below saw of the last run


@dataclass(frozen=True)
class Looks(Fifo):
    """First come, first served, and a look at every column of every job that has been submitted."""

    def figures(self, job_state):
        names = [name for name in (*COLUMNS, "expected_s") if name != "duration_s"]
        SEEN.update({n: vars(job_state.columns)[n][: job_state.submitted].copy() for n in names})
        return {}


def steps_trace(folder, iterations=None, iteration_s=None, jobs=40):
    """Jobs from a minute to three hours long, made of so many steps, or of steps so long."""
    rng = np.random.default_rng(3)
    duration = np.round(np.exp(rng.uniform(np.log(60), np.log(10_000), jobs)), 3)
    iterations = duration / iteration_s if iterations is None else np.broadcast_to(iterations, jobs)
    lines = [
        f"j{i},{i * 10},{1 + i % 3},{d},{n!r},{d / n!r}\n"
        for i, (d, n) in enumerate(zip(duration.tolist(), iterations.tolist()))
    ]
    file = folder / "steps.csv"
    file.write_text("job_id,submit_s,gpus,duration_s,iterations,iteration_s\n" + "".join(lines))
    return str(file), duration


def look(workload, belief):
    SEEN.clear()
    result = Experiment(scheduler=Looks(), workload=workload, cluster="2x4", belief=belief, seed=5).run()
    return dict(SEEN), result


def test_the_oracle_sees_jobs_as_they_are(tmp_path):
    workload, duration = steps_trace(tmp_path, iterations=np.arange(1.0, 41.0))
    seen, _ = look(workload, "oracle")
    assert np.array_equal(seen["expected_s"], duration)
    assert np.array_equal(seen["iterations"], np.arange(1.0, 41.0))
    assert np.array_equal(seen["iteration_s"], duration / np.arange(1.0, 41.0))


@pytest.mark.parametrize(
    "steps",
    [
        {"iterations": 100.0},  # as many for all jobs: the seconds per step say how long a job is
        {"iteration_s": 0.25},  # as long for all: their number does
        {"iterations": np.arange(40) % 7 * 250.0 + 50},
    ],
    ids=["equal numbers", "equal steps", "both differ"],
)
def test_no_column_nor_any_product_of_columns_gives_the_true_duration_away(tmp_path, steps):
    workload, duration = steps_trace(tmp_path, **steps)
    seen, _ = look(workload, "noisy:sigma=0.5")
    logs = {name: np.log(seen[name]) for name in GUESSED}
    logs |= {name: np.log(1.0 + seen[name]) for name in ("submit_s", "gpus")}
    for powers in itertools.product((-2, -1, -0.5, 0, 0.5, 1, 2), repeat=len(GUESSED)):
        guess = sum(power * logs[name] for name, power in zip(GUESSED, powers))
        spread = np.std(guess - np.log(duration))
        assert spread > 0.15, f"{dict(zip(GUESSED, powers))} is the true duration, but for a constant"
    numbers = [n for n, values in seen.items() if values.dtype.kind in "if"]
    for name in numbers:
        assert not np.allclose(seen[name], duration, rtol=1e-3), name


def test_steps_are_unknown_where_limits_are_believed(tmp_path):
    workload, _ = steps_trace(tmp_path, iterations=100.0)
    seen, _ = look(workload, "limit:unlimited=7d")
    assert (seen["expected_s"] == 7 * 86400).all()
    assert np.isnan(seen["iterations"]).all() and np.isnan(seen["iteration_s"]).all()


def test_the_guesses_of_a_job_agree_with_each_other(tmp_path):
    workload, duration = steps_trace(tmp_path, iterations=500.0)
    seen, _ = look(workload, "noisy:sigma=0.5")
    np.testing.assert_allclose(seen["iterations"] * seen["iteration_s"], seen["expected_s"], rtol=1e-12)
    assert np.mean(np.abs(np.log(seen["expected_s"] / duration)) < 0.5) == pytest.approx(0.68, abs=0.2)


def test_the_errors_of_both_guesses_are_independent_and_alike():
    jobs = 20_000
    columns = {"job_id": np.arange(jobs), "submit_s": np.arange(jobs) * 1.0, "gpus": np.ones(jobs)}
    columns |= {name: np.full(jobs, 7.0) for name in ("iterations", "iteration_s")}
    table = JobTable.build({**columns, "duration_s": np.full(jobs, 49.0)}, source="test")
    seen = belief_from_spec("noisy:sigma=0.8", 1)(table)
    number, length = (np.log(seen.columns[name] / 7.0) for name in ("iterations", "iteration_s"))
    assert np.std(number) == pytest.approx(0.8 / np.sqrt(2), rel=0.02)
    assert np.std(length) == pytest.approx(0.8 / np.sqrt(2), rel=0.02)
    assert np.corrcoef(number, length)[0, 1] == pytest.approx(0.0, abs=0.03)
    assert np.std(np.log(seen.columns["duration_s"] / 49.0)) == pytest.approx(0.8, rel=0.02)
    assert table.columns["iterations"][0] == 7.0, "the truth is as it was"


def test_the_believed_duration_does_not_depend_on_whether_steps_are_known(tmp_path):
    workload, _ = steps_trace(tmp_path, iterations=500.0)
    plain = tmp_path / "plain.csv"
    lines = Path(workload).read_text().splitlines()
    plain.write_text("\n".join(",".join(line.split(",")[:4]) for line in lines) + "\n")
    with_steps, without = look(workload, "noisy")[0], look(str(plain), "noisy")[0]
    assert np.array_equal(with_steps["expected_s"], without["expected_s"])
    assert np.isnan(without["iterations"]).all() and np.isnan(without["iteration_s"]).all()


def test_the_figures_of_a_run_are_true_whatever_is_believed(tmp_path):
    workload, _ = steps_trace(tmp_path, iterations=500.0)
    known, guessed = (look(workload, belief)[1] for belief in ("oracle", "noisy:sigma=1"))
    for name, values in known.jobs.items():
        np.testing.assert_array_equal(values, guessed.jobs[name], err_msg=name)
    assert known.summary == guessed.summary


@pytest.mark.parametrize(
    ("compat", "workload"),
    [
        (
            f"gavel:policy=fifo,throughputs={SAMPLES}/gavel_throughputs.json",
            f"gavel:{SAMPLES}/gavel.trace?throughputs={SAMPLES}/gavel_throughputs.json",
        ),
        ("pollux:policy=tiresias", f"pollux:{SAMPLES}/pollux/workloads/workload.csv"),
    ],
)
def test_the_backends_of_presets_hold_the_truth_too(compat, workload):
    cluster = "v100=2x4,k80=2x4" if compat.startswith("gavel") else "4x4"
    known, guessed = (
        Experiment(compat=compat, workload=workload, cluster=cluster, belief=belief).run()
        for belief in ("oracle", "noisy:sigma=1")
    )
    for name, values in known.jobs.items():
        np.testing.assert_array_equal(values, guessed.jobs[name], err_msg=name)


def test_the_scenarios_of_the_conformance_suite_misjudge_steps_as_they_do_durations():
    case = next(case for case in scenarios("scheduling") if case.belief_factor != 1.0)
    jobs = case.jobs
    seen = misjudged(jobs, np.full(len(jobs), 4.0), np.full(len(jobs), 2.0))
    assert np.array_equal(seen.columns["duration_s"], 4 * jobs.columns["duration_s"])


@pytest.mark.parametrize("spec", ["noisy:sigma=-1", "noisy:sigma=x", "noisy:sigma=10", "oracle:sigma=1"])
def test_beliefs_out_of_range_are_refused(spec):
    with pytest.raises(BloxError, match="belief"):
        belief_from_spec(spec, 0)
