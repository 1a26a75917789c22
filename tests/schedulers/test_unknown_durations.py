"""On a cluster nothing may be known of a duration: `expected_s` is then nan. Every policy copes with that."""

import numpy as np
import pytest

from blox.placement import Consolidated
from blox.registry import build, names
from blox.schedulers.themis.apps import AppHistory, Apps
from blox.state.believed import UNKNOWN_S
from blox.state.windows import Window
from support.states import admitted, idle_cluster

FORMS = {
    "backfill": ["backfill:kind=easy", "backfill:kind=conservative"],
    "ftf": ["ftf:form=themis", "ftf:form=gavel", "ftf:form=synergy"],
    "queues": ["queues:{folder}/queues.toml"],
}
SPECS = [spec for name in names("scheduling") for spec in FORMS.get(name, [name])]


def state(expected_s):
    """Jobs of 2 GPUs, of which these durations are believed, on two nodes of four."""
    jobs = admitted([2] * len(expected_s), 100.0)
    jobs.columns.expected_s[: len(expected_s)] = expected_s
    cluster = idle_cluster("2x4")
    cluster.node_rule = Consolidated().node_rule
    return jobs, cluster


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("expected_s", [[np.nan] * 3, [np.nan, 50.0, np.nan]], ids=["none", "one"])
def test_jobs_of_unknown_duration_are_scheduled_where_there_is_room(spec, expected_s, tmp_path):
    (tmp_path / "queues.toml").write_text("[queues.all]\nguaranteed = 1.0\n")
    policy = build("scheduling", spec.format(folder=tmp_path))
    schedule = policy.schedule(*state(expected_s))
    assert sorted(schedule.jobs.take(schedule.order).tolist()) == [0, 1, 2]


def test_a_week_is_believed_where_nothing_is():
    jobs, cluster = state([np.nan, 3600.0])
    history = AppHistory()
    history.update(jobs, "job")
    apps = Apps.of(jobs, history, cluster.total_gpus)
    assert apps.longest_s.tolist() == [UNKNOWN_S, 3600.0]
    window = Window("maintenance", 86400.0, 2 * 86400.0, np.array([0]))
    assert window.bars(jobs.active, jobs).tolist() == [True, False], "it may still run in a day"
