"""One job on nodes that fail: the measured ratio against Young's and Daly's formulas.

J. W. Young, "A first order approximation to the optimum checkpoint interval", 1974. J. T. Daly, "A higher
order estimate of the optimum checkpoint interval for restart dumps", 2006: with exponential failures of mean
M, a restart of R, and checkpoints that take d after every t of work, T of work take
M exp(R/M) (exp((t + d)/M) - 1) T/t.
"""

import math

import pytest

from blox import Experiment

DAY, MTBF, RESTART, COST = 86400.0, 86400.0, 120.0, 60.0


def daly_ratio(interval, mtbf=MTBF, restart=RESTART, cost=COST):
    return interval / mtbf * math.exp(-restart / mtbf) / math.expm1((interval + cost) / mtbf)


def daly_best(mtbf=MTBF, cost=COST):
    """Daly's estimate of the best interval."""
    part = math.sqrt(cost / (2 * mtbf))
    return math.sqrt(2 * cost * mtbf) * (1 + part / 3 + part**2 / 9) - cost


@pytest.fixture
def measured(tmp_path):
    """A function that runs one job for so many days of work, and gives the summary."""

    def run(interval, failures="mtbf=1d,repair=1h", *, gpus=8, cluster="1x8", days=300, **settings):
        trace = tmp_path / "one.csv"
        trace.write_text(f"job_id,submit_s,gpus,duration_s\none,0,{gpus},{days * DAY}\n")
        overheads = f"launch={RESTART},restart={RESTART},checkpoint={interval},checkpoint_cost={COST}"
        experiment = Experiment(
            workload=str(trace), cluster=cluster, failures=failures, overheads=overheads, **settings
        )
        return experiment.run().summary

    return run


@pytest.mark.parametrize("interval", [300, 900, 3600, 7200, 21600])
def test_the_ratio_is_dalys_within_2_percent_over_200_failures(measured, interval):
    summary = measured(interval)
    assert summary["evictions"] > 200
    assert summary["effective_training_ratio"] == pytest.approx(daly_ratio(interval), rel=0.02)


@pytest.mark.parametrize(
    ("failures", "settings"),
    [
        ("mtbf=1d,repair=0", {"clock": "events"}),
        ("mtbf=4d,repair=1h", {"gpus": 32, "cluster": "4x8"}),  # four nodes: one of them fails every day
        ("job_mtbf=8d", {}),  # by GPU time, of 8 GPUs
        ("mtbf=2d,repair=1h,job_mtbf=16d", {}),  # both: rates add up
    ],
)
def test_it_is_so_however_failures_come_about(measured, failures, settings):
    summary = measured(3600, failures, **settings)
    assert summary["evictions"] > 200
    assert summary["effective_training_ratio"] == pytest.approx(daly_ratio(3600), rel=0.02)


def test_the_best_interval_is_where_young_and_daly_say(measured):
    young, daly = math.sqrt(2 * COST * MTBF), daly_best()
    assert (round(young), round(daly)) == (3220, 3180)
    intervals = (800, 1600, daly, 6400, 12800)
    ratio = {interval: measured(interval)["effective_training_ratio"] for interval in intervals}
    assert max(ratio, key=ratio.get) == daly
