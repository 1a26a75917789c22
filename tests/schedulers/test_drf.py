"""Dominant resource fairness: the example of its paper, and cases by hand."""

import pytest

from blox import BloxError, Experiment
from blox.registry import build
from support.states import admitted, idle_cluster


def started(spec, cluster, gpus, **columns):
    """How many jobs of each tenant start on an idle cluster."""
    job_state = admitted(gpus, 3600.0, **columns)
    rows = build("scheduling", spec).schedule(job_state, idle_cluster(cluster)).jobs
    names = job_state.columns.tenant[rows].tolist()
    return {name: names.count(name) for name in sorted({*names})}


def test_the_example_of_the_paper():
    """9 CPUs, 18 GB. A's tasks take 1 CPU and 4 GB, B's 3 CPUs and 1 GB: A runs 3, B 2, both have 2/3."""
    tenant, cpu, memory = ["A"] * 6 + ["B"] * 6, [1.0] * 6 + [3.0] * 6, [4.0] * 6 + [1.0] * 6
    columns = {"tenant": tenant, "cpu": cpu, "memory_gb": memory}
    assert started("drf", "1x100:cpu=9,memory_gb=18", [1] * 12, **columns) == {"A": 3, "B": 2}


def test_weights(tmp_path):
    """With GPUs alone, twice the weight is twice the GPUs."""
    (tmp_path / "w.toml").write_text("[weights]\nB = 2\n")
    columns = {"tenant": ["A"] * 9 + ["B"] * 9}
    assert started("drf", "1x9", [1] * 18, **columns) == {"A": 5, "B": 4}
    assert started(f"drf:weights={tmp_path / 'w.toml'}", "1x9", [1] * 18, **columns) == {"A": 3, "B": 6}


def test_a_job_that_does_not_fit_ends_the_turn_of_its_tenant_alone():
    """A's first job wants 4 of 3 GPUs; its second would fit, and waits behind it. B goes on."""
    assert started("drf", "1x3", [4, 1, 1, 1, 1], tenant=["A", "A", "B", "B", "B"]) == {"B": 3}


def test_running_jobs_count(tmp_path):
    """a of A runs alone until b of B comes; when c of A and d of B both could start at 50, B has less."""
    lines = ["a,0,2,100,A", "b,10,1,40,B", "c,20,1,10,A", "d,30,1,10,B"]
    (tmp_path / "t.csv").write_text("job_id,submit_s,gpus,duration_s,tenant\n" + "\n".join(lines))
    result = Experiment(
        workload=str(tmp_path / "t.csv"), cluster="1x3", scheduler="drf", clock="events"
    ).run()
    assert result.jobs["first_start_s"].tolist() == [0, 10, 60, 50]


@pytest.mark.parametrize("text", ["", "[weights]\na = 0\n", "weights = 3\n"])
def test_weights_that_are_none(text, tmp_path):
    (tmp_path / "w.toml").write_text(text)
    with pytest.raises(BloxError, match="weights is"):
        build("scheduling", f"drf:weights={tmp_path / 'w.toml'}")
