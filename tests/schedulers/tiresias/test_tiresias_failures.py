"""A job that loses its nodes keeps the place that its service gives it."""

import pytest

from blox import Experiment
from support.by_job import times
from support.traces import trace


@pytest.mark.parametrize("index", ["las", "gittins"])
@pytest.mark.parametrize("skip", [True, False])
def test_a_stint_lost_within_a_round_voids_the_demotion_of_the_one_before(tmp_path, index, skip):
    """Job a (4 GPUs) starts at 600 s and would have had 3,200 GPU-seconds at 1400. It loses its node at 990,
    starts again at 1200 and loses that node at 1410: it has had 390 + 210 = 600 s, 2,400 GPU-seconds. At 1500
    it is still in the first queue, started before b, and starts again at once.
    """
    jobs = trace(tmp_path / "jobs.csv", "a,510,4,9850 b,630,1,2490 c,1050,12,450")
    (tmp_path / "down.csv").write_text("node,down,up,notice\n0,990,2160,0\n2,1410,1650,0\n")
    settings = {"workload": jobs, "cluster": "3x4", "performance": "duration"}
    settings |= {"scheduler": f"tiresias:index={index}", "failures": f"trace:{tmp_path / 'down.csv'}"}
    result = Experiment(**settings).run(skip=skip)
    a = result.stints["job"] == 0
    assert sorted(set(result.stints["start_s"][a].tolist())) == [600, 1200, 1500, 4200]
    assert times(result)["a"] == (600, 11050)


@pytest.mark.parametrize("skip", [True, False])
def test_a_stint_that_ends_within_a_round_may_have_crossed_two_thresholds(tmp_path, skip):
    """Job a (12 GPUs) is promoted, starts at 4320 s and loses its nodes at 4680: 4,320 GPU-seconds since,
    more than both thresholds. It goes on in the third queue, behind b, with and without skipping rounds.
    """
    jobs = trace(tmp_path / "jobs.csv", "a,0,12,3310 b,330,1,4660")
    (tmp_path / "down.csv").write_text("node,down,up,notice\n0,4680,5040,0\n1,3960,4170,900\n")
    settings = {"workload": jobs, "cluster": "3x4", "performance": "duration", "round_s": 360.0}
    settings |= {"scheduler": "tiresias:queues=3,threshold=600+4000,promote=4", "placement": "count"}
    result = Experiment(**settings, failures=f"trace:{tmp_path / 'down.csv'}").run(skip=skip)
    assert result.jobs["finish_s"].tolist() == [7990, 5740]
