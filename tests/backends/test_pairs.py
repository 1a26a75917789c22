"""Two jobs on the same GPUs: only where the performance model knows how fast they are together."""

import pytest

from blox import BloxError, Experiment, loop

PAIR = """
import numpy as np

@dataclass(frozen=True)
class Mine:
    '''Puts two jobs on GPU 0, while its node is up.'''

    def schedule(self, job_state, cluster_state):
        jobs = job_state.active[: 2 * cluster_state.node_up[0]]
        pinned = {int(row): (0,) for row in jobs}
        return Schedule(jobs, pinned=pinned, share_group=jobs[::-1].copy() if len(jobs) == 2 else None)
"""
IMPORTS = """from dataclasses import dataclass
import numpy as np
from blox.backends.shared import SharedSimulation
"""
MODEL = """
@dataclass(frozen=True)
class Mine:
    '''Jobs that share run at half their speed.'''

    simulation = SharedSimulation

    def kinds(self, rows, cluster_state, job_state):
        return np.zeros(len(rows), dtype=np.int64)

    def speeds(self, grants, kinds, cluster_state, job_state):
        alone = np.ones(len(grants.jobs))
        return alone if grants.share_group is None else alone - 0.5 * (grants.share_group >= 0), alone, alone

    def rate(self, grants, cluster_state, job_state):
        return 1.0
"""


@pytest.fixture
def settings(tmp_path, policy_file):
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("job_id,submit_s,gpus,duration_s,model\na,0,1,3000,A3C\nb,0,1,3000,A3C\n")
    return {"workload": str(jobs), "cluster": "v100=1x4", "scheduler": policy_file(PAIR), "round_s": 60.0}


@pytest.mark.parametrize("performance", ["duration", "sensitivity", "goodput"])
def test_jobs_that_share_are_refused_where_nothing_says_how_fast_they_are(settings, performance):
    """Each would run at its full speed, and such a policy would beat all others."""
    with pytest.raises(BloxError) as stop:
        Experiment(**settings, performance=performance).run()
    assert stop.value.what.startswith("jobs 'a' and 'b' share GPUs, and the performance model does not know")
    assert "--performance throughputs" in stop.value.fix and "at 0 s" in stop.value.where


@pytest.mark.parametrize("performance", ["throughputs", "spread"])
def test_measured_pairs_run_at_their_measured_speed(settings, performance):
    result = Experiment(**settings, performance=performance).run()
    assert result.summary["finished"] == 2 and result.summary["avg_jct_s"] > 3000


def test_a_model_of_ones_own_may_know_pairs(settings, tmp_path):
    (tmp_path / "speeds.py").write_text(f"{IMPORTS}{MODEL}")
    result = Experiment(**settings, performance=f"{tmp_path / 'speeds.py'}:Mine").run()
    assert result.jobs["jct_s"].tolist() == [6000.0, 6000.0]


@pytest.mark.parametrize("failures", ["none", "fails"])
def test_a_partner_runs_alone_once_its_partner_is_ended_early(settings, tmp_path, failures):
    """Job a ends at its limit, 1200 s; b has done 600 s by then and goes on at full speed."""
    jobs = "job_id,submit_s,gpus,duration_s,model,limit_s\na,0,1,3000,A3C,1200\nb,0,1,3000,A3C,\n"
    (tmp_path / "jobs.csv").write_text(jobs)
    (tmp_path / "speeds.py").write_text(f"{IMPORTS}{MODEL}")
    settings |= {"performance": f"{tmp_path / 'speeds.py'}:Mine", "termination": "time-limit"}
    if failures == "fails":  # what b has done by 1800 s is lost; the node is back 60 s later
        (tmp_path / "down.csv").write_text("node,down,up\nv100-0,1800,1860\n")
        settings["failures"] = f"trace:{tmp_path / 'down.csv'}"
    finish_s = Experiment(**settings).run().jobs["finish_s"].tolist()
    assert finish_s == [1200.0, 3600.0 if failures == "none" else 4860.0]


def test_a_job_reports_its_speed_alone_once_its_partner_has_ended(settings, tmp_path):
    """Job a ends at 6000 s; b, of 6000 s, has run beside it at half its speed until then."""
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,1,3000\nb,0,1,6000\n")
    (tmp_path / "speeds.py").write_text(f"{IMPORTS}{MODEL}")
    prepared = Experiment(**settings, performance=f"{tmp_path / 'speeds.py'}:Mine").prepare()
    backend = prepared.backend()
    cluster_state, job_state = prepared.states()
    told = {}

    def on_round(manager, job_state):
        if job_state.submitted == 2:
            told[manager.now] = job_state.metrics_of(1).get("steps_per_s")

    parts = prepared.composition
    loop.run(
        prepared.manager(backend),
        cluster_state,
        job_state,
        admission=parts.admission,
        scheduler=parts.scheduler,
        placement=parts.placement,
        on_round=on_round,
    )
    assert told[3000.0] == 0.5 and told[6120.0] == 1.0
