"""A workload on real processes: what happened becomes a result of the same form as a simulation's."""

import pytest

from blox import Experiment
from blox.cluster.central.records import LifeEntry
from blox.cluster.central.views import JobView
from blox.cluster.recorded import Timeline, result_of
from blox.cluster.replay import replay
from blox.errors import BloxError
from blox.experiment.prepared import Prepared
from blox.results.result import Result
from support.traces import trace


def view(job, end_s, *life):
    entries = tuple(LifeEntry(*entry) for entry in life)
    return JobView(job, "", "", 2, "finished", (), 0.0, end_s, 1, 0, -1, -1, None, (), entries)


def test_what_happened_is_worked_out_as_in_a_simulation(tmp_path):
    """The cluster's time 10 s is 0 s, and runs 60 times as fast. `a` is preempted at 2 minutes, for one
    minute."""
    jobs = trace(tmp_path / "jobs.csv", "a,0,2,200 b,30,2,60")
    prepared = Prepared(Experiment(workload=jobs, cluster="1x4", round_s=60.0))
    placed = "placed on node-0"
    first = [(10.0, "submitted"), (10.0, placed, (0, 1)), (12.0, "preempted"), (13.0, placed, (2, 3))]
    second = [(10.5, "submitted"), (11.0, placed, (2, 3)), (13.0, "finished")]
    views = [view(1, 14.5, *first, (15.0, "finished")), view(2, 12.2, *second)]
    result = result_of(prepared, Timeline.of(views, 10.0, 60.0), {})
    assert result.jobs["first_start_s"].tolist() == [0.0, 60.0]
    assert result.jobs["finish_s"].tolist() == pytest.approx([270.0, 132.0])
    assert result.jobs["run_s"].tolist() == pytest.approx([210.0, 72.0])
    assert result.jobs["preemptions"].tolist() == [1, 0]
    assert sorted(result.stints["start_s"].tolist()) == [0, 0, 60, 60, 180, 180]


def test_a_replay_gives_results_like_a_simulation(tmp_path):
    """Two jobs fill the cluster, a third waits for both. Processes start late, never early."""
    jobs = trace(tmp_path / "jobs.csv", "a,0,2,300 b,0,2,600 c,0,4,300")
    experiment = Experiment(workload=jobs, cluster="1x4", round_s=100.0)
    result = replay(experiment, speedup=200.0)
    simulated = experiment.run()
    late = result.jobs["finish_s"] - simulated.jobs["finish_s"]
    assert (late >= -1).all() and (late < 6000).all(), late
    assert result.jobs["first_start_s"][2] >= 600
    result.save(tmp_path / "out")
    assert Result.load(tmp_path / "out").jobs["job_id"].tolist() == ["a", "b", "c"]


def test_nodes_of_different_sizes_are_refused():
    experiment = Experiment(workload="constant:jobs=2", cluster="a=1x2,b=1x4")
    with pytest.raises(BloxError, match="differ in their number of GPUs"):
        replay(experiment, 60.0)


@pytest.mark.parametrize("speedup", [0.0, -1.0, float("inf"), float("nan")])
def test_a_speedup_that_cannot_be_is_refused(speedup):
    with pytest.raises(BloxError, match="speedup"):
        replay(Experiment(workload="constant:jobs=2", cluster="1x2"), speedup)
