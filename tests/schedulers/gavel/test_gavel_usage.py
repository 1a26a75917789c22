"""What a run cost, how many SLOs it missed, how long jobs shared: held against its stints."""

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.report.words import remarks
from blox.schedulers.gavel.problem import COST_PER_HOUR

CLUSTER = "v100=1x4,p100=1x4,k80=1x4"
TYPE_OF_GPU = ("v100",) * 4 + ("p100",) * 4 + ("k80",) * 4
BY_COST = "max_sum_throughput_normalized_by_cost_perf"


def run_gavel(policy, workload="gavel:load=2,job_types=true,slos=true,jobs=40", cluster=CLUSTER, **settings):
    return Experiment(
        workload=workload, cluster=cluster, scheduler=f"gavel:policy={policy}", round_s=360.0, **settings
    ).run()


def spans(result):
    """GPU -> [(begin, end, job)] of every stint, in order of time."""
    found = {}
    stints = result.stints
    for gpu, job, begin, end in zip(*(stints[name].tolist() for name in ("gpu", "job", "start_s", "end_s"))):
        found.setdefault(gpu, []).append((begin, end, job))
    return {gpu: sorted(each) for gpu, each in found.items()}


def busy_s(stints):
    """Seconds in which anybody was there."""
    total, until = 0.0, -np.inf
    for begin, end, _ in stints:
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


@pytest.mark.parametrize(
    "policy", [BY_COST, f"{BY_COST}_SLOs", "max_sum_throughput_normalized_by_cost_packed_SLOs"]
)
def test_the_cost_is_that_of_the_gpus_that_jobs_were_on(policy):
    result = run_gavel(policy)
    wanted = sum(COST_PER_HOUR[TYPE_OF_GPU[gpu]] * busy_s(each) / 3600 for gpu, each in spans(result).items())
    assert wanted > 0
    assert result.summary["cost_dollars"] == pytest.approx(wanted, rel=1e-9)


def test_jobs_that_share_say_for_how_long():
    result = run_gavel("max_min_fairness_packed", "gavel:load=6,job_types=true,jobs=60")
    wanted = np.zeros(60)
    for each in spans(result).values():
        for place, (begin, end, job) in enumerate(each):
            for later, until, other in each[place + 1 :]:
                both = max(0.0, min(end, until) - max(begin, later))
                wanted[[job, other]] += both
    assert wanted.any()
    assert result.jobs["shared_s"] == pytest.approx(wanted, rel=1e-9)
    assert "shared_s" not in run_gavel("max_min_fairness_perf").jobs


def test_slos_that_were_missed_are_counted():
    result = run_gavel(f"{BY_COST}_SLOs")
    late = result.jobs["finish_s"] > result.jobs["deadline_s"]
    assert result.summary["slos"] == 40 and result.summary["slos_missed"] == int(late.sum())
    told = remarks(result)
    assert f"{late.sum()} of 40 SLOs were missed" in told
    assert f"the GPUs in use cost ${result.summary['cost_dollars']:,.0f}" in told
    assert "slos" not in run_gavel("fifo", "gavel:load=2,jobs=5").summary


def test_prices_decide_where_the_cheap_steps_are():
    cost = {}
    for prices in ("v100:100+p100:1+k80:1", "v100:0.01+p100:1+k80:1"):
        result = run_gavel(f"{BY_COST},prices={prices}", "gavel:load=0.2,job_types=true,jobs=8")
        times = dict.fromkeys(TYPE_OF_GPU, 0.0)
        for gpu, each in spans(result).items():
            times[TYPE_OF_GPU[gpu]] += busy_s(each)
        cost[prices] = times["v100"] / sum(times.values()), result.summary["cost_dollars"]
    (dear, _), (cheap, little) = cost.values()
    assert dear < 0.01 and cheap > 0.99
    assert little == pytest.approx(0.01 * 8 * result.summary["avg_jct_s"] / 3600, rel=0.05)


def test_names_that_nobody_has_are_told_before_anything_runs(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("job_id,submit_s,gpus,duration_s,tenant\n0,0,1,600,red\n1,5000,1,600,blue\n")
    filling = "max_min_fairness_water_filling_perf,entities=tenant"
    assert run_gavel(f"{filling},entity_weights=blue:2,inside=red:fifo", str(path)).summary["finished"] == 2
    for option in ("entity_weights=blu:2", "inside=blu:fifo"):
        with pytest.raises(BloxError, match=r"(?s)no tenant 'blu'.*did you mean 'blue'"):
            run_gavel(f"{filling},{option}", str(path))
    with pytest.raises(BloxError, match=r"(?s)no GPU type 'v10'.*did you mean 'v100'"):
        run_gavel(f"{BY_COST},prices=v10:2", str(path))
    with pytest.raises(BloxError, match=r"(?s)is no price of a GPU type.*TYPE:DOLLARS"):
        run_gavel(f"{BY_COST},prices=v100", str(path))
