"""What GPUs cost and how much energy they take: by hand, and against Gavel's own book-keeping."""

import numpy as np
import pytest

from blox import BloxError, Experiment
from blox.results.accounting import Tariff, account, shared_out
from blox.state.cluster_spec import cluster_from_spec

CLUSTER = "v100=1x2,k80=1x2"  # GPUs 0 and 1, 2 and 3


def stints(*rows):
    job, gpu, start, end = (np.array(column) for column in zip(*rows))
    return {"job": job, "gpu": gpu, "start_s": start.astype(float), "end_s": end.astype(float)}


def test_cost_and_energy_by_hand():
    """Job 0: two V100s for an hour; job 1: a K80 for half an hour. The run takes two hours."""
    cluster = cluster_from_spec(CLUSTER)
    tariff = Tariff.of("v100=3,k80=1", "v100=300/50,k80=150/25", cluster)
    table = stints((0, 0, 0, 3600), (0, 1, 0, 3600), (1, 3, 1800, 3600))
    columns, figures = account(tariff, table, cluster, jobs=3, begin_s=0.0, end_s=7200.0, shared=False)
    assert columns["cost_dollars"].tolist() == [6.0, 0.5, 0.0]
    assert columns["energy_kwh"].tolist() == [0.6, 0.075, 0.0]
    idle_kwh = (2 * 50 + 3.5 * 25) / 1000  # GPU-hours: 2 of 4 on V100s, 3.5 of 4 on K80s
    assert figures["cost_dollars"] == 6.5
    assert figures["idle_energy_kwh"] == pytest.approx(idle_kwh)
    assert figures["energy_kwh"] == pytest.approx(0.675 + idle_kwh)


def test_jobs_that_share_a_gpu_bear_half_each():
    """0 to 10 one, 10 to 20 both, 20 to 30 the other; on the next GPU one alone, and a stint of no length."""
    table = stints((0, 0, 0, 20), (1, 0, 10, 30), (2, 1, 5, 25), (3, 1, 25, 25))
    assert shared_out(table).tolist() == [15.0, 15.0, 20.0, 0.0]


def test_every_scheduler_has_the_figures_and_one_price_does_for_all_types(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s\na,0,2,3600\nb,0,1,1800\n")
    for scheduler in ("fifo", "srtf", "tiresias"):
        result = Experiment(
            workload=str(trace), cluster="1x4", scheduler=scheduler, prices="2", power="300/60"
        ).run()
        assert result.summary["cost_dollars"] == 5.0, scheduler
        assert result.jobs["cost_dollars"].tolist() == [4.0, 1.0], scheduler
        assert result.summary["energy_kwh"] == pytest.approx((2.5 * 300 + 1.5 * 60) / 1000), scheduler
        assert result.by("gpus")["cost_dollars"].tolist() == [1.0, 4.0], scheduler


def test_without_prices_there_is_no_cost():
    result = Experiment(workload="constant", cluster="2x4", jobs=3).run()
    assert not {"cost_dollars", "energy_kwh"} & {*result.summary, *result.jobs}


@pytest.mark.parametrize("policy", ["max_sum_throughput_normalized_by_cost_perf", "max_min_fairness_packed"])
def test_the_same_prices_give_what_gavel_counts_itself(policy):
    """Gavel books round by round; this reads the stints, shared ones included."""
    settings = {"workload": "gavel:load=6,job_types=true,jobs=40", "round_s": 360.0}
    settings["cluster"] = "v100=1x4,p100=1x4,k80=1x4"
    prices = {"v100": 2.5, "p100": 1.5, "k80": 0.5}
    own = "+".join(f"{name}:{price}" for name, price in prices.items())
    given = ",".join(f"{name}={price}" for name, price in prices.items())
    scheduler = f"gavel:policy={policy},prices={own}"
    theirs = Experiment(scheduler=scheduler, **settings).run()
    ours = Experiment(scheduler=scheduler, prices=given, **settings).run()
    assert ours.summary["cost_dollars"] == pytest.approx(theirs.summary["cost_dollars"], rel=1e-9)
    assert ours.jobs["cost_dollars"].sum() == pytest.approx(theirs.summary["cost_dollars"], rel=1e-9)


@pytest.mark.parametrize(
    ("setting", "text", "told"),
    [
        ("prices", "a100=3", "no GPUs of type 'a100'(.|\n)*valid: k80, v100"),
        ("prices", "v100=3", "nothing is said of GPUs of type 'k80'(.|\n)*k80=2.5"),
        ("prices", "v100=three,k80=1", "'three' is not a number of dollars"),
        ("prices", "-1", "'-1' is not a number of dollars"),
        ("prices", "v100=1,v100=2,k80=1", "'v100' is given twice"),
        ("power", "60/300", "'60/300' has an idle GPU take more watts than a busy one(.|\n)*300/60"),
        ("power", "300", "'300' is not watts busy/idle(.|\n)*300/60"),
        ("power", "v100=300/60,k80=150", "'150' is not watts busy/idle"),
    ],
)
def test_faults_are_told_before_anything_runs(setting, text, told):
    with pytest.raises(BloxError, match=told):
        Experiment(cluster=CLUSTER, **{setting: text}).prepare()
