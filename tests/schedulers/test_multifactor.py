"""Slurm's priorities by hand: factors, weights, slurm.conf, and usage that decays."""

import numpy as np
import pytest

from blox import BloxError, Experiment
from blox.registry import build
from blox.schedulers.fair_share.accounts import Accounts
from blox.schedulers.fair_share.usage import Usage
from support.states import admitted, idle_cluster

CONF = """
# weights as of the example of Slurm's documentation
PriorityType=priority/multifactor
PriorityDecayHalfLife=14-0
PriorityFavorSmall=NO
PriorityMaxAge=14-0
PriorityWeightAge=1000
PriorityWeightFairshare=10000   # the predominant one
PriorityWeightJobSize=1000
PriorityWeightPartition=1000
PriorityWeightQOS=0
PriorityFlags=NO_FAIR_TREE
PriorityWeightTRES=CPU=1000,GRES/gpu=3000
PartitionName=gpu Nodes=gpu[1-8] PriorityJobFactor=10 PriorityTier=2
PartitionName=debug Nodes=gpu1 PriorityJobFactor=5
"""


def state(**columns):
    extra = {name: columns.pop(name) for name in ("partition", "qos") if name in columns}
    job_state = admitted([1, 4, 8], 3600.0, **columns)
    for name, values in extra.items():
        job_state.columns.put_extra(name, 0, np.array(values, dtype=object))
    return job_state


def test_the_sum_of_factors():
    """On 16 GPUs, 84 h after submission: half of the age, 1/16, 4/16 and 8/16 of the size."""
    job_state = state()
    job_state.now = 84 * 3600.0
    policy = build("scheduling", "multifactor:age=1000,jobsize=160")
    assert policy.priority(job_state, idle_cluster("2x8")).tolist() == [510, 540, 580]
    small = build("scheduling", "multifactor:jobsize=160,favor_small=true")
    assert small.priority(job_state, idle_cluster("2x8")).tolist() == [160, 130, 90]


def test_partitions_and_qos(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "shares.toml").write_text("[qos]\nhigh = 100\nnormal = 10\n")
    job_state = state(partition=["gpu", "debug", "other"], qos=["normal", "high", "low"])
    spec = f"multifactor:conf={tmp_path / 'slurm.conf'},shares={tmp_path / 'shares.toml'}"
    policy = build("scheduling", f"{spec},fairshare=0,jobsize=0,tres=0,qos=200")
    assert policy.priority(job_state, idle_cluster("2x8")).tolist() == [1000 + 20, 500 + 200, 0]
    order = policy.schedule(job_state, idle_cluster("2x8")).order.tolist()
    assert order == [0, 1, 2], "the tier of gpu is above the others, then by priority"


def test_slurm_conf_is_read(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    policy = build("scheduling", f"multifactor:conf={tmp_path / 'slurm.conf'}")
    assert policy._weights == {
        "age": 1000, "fairshare": 10000, "jobsize": 1000, "partition": 1000, "qos": 0, "tres": 3000,
    }  # fmt: skip
    assert policy._half_life_s == policy._max_age_s == 14 * 86400
    assert policy._conf.classic and not policy.reads_durations
    assert policy._conf.partition_tier == {"gpu": 2}


def test_usage_halves_in_a_half_life():
    """100 s on 2 GPUs, all before t = 100; a half-life of 1000 s later half of it is left, less the 50 s."""
    job_state = admitted([2, 1], 1e6, user=["ann", "bob"], tenant=["x", "y"])
    usage = Usage(Accounts())
    job_state.start(np.array([0]), np.array([2]), 1.0, 0.0)
    job_state.now = 100.0
    job_state.stop(np.array([0]), 100.0)
    assert usage.update(job_state, 1000.0) == {("x", "ann"): 200 * 2 ** (-0.05), ("y", "bob"): 0}
    job_state.now = 1100.0
    assert usage.update(job_state, 1000.0)["x", "ann"] == pytest.approx(100 * 2 ** (-0.05))
    assert usage.update(job_state, 1000.0)["x", "ann"] == pytest.approx(100 * 2 ** (-0.05)), "asked again"


SHORT = [f"{name}half_life=1h" for name in ("fairtree:", "multifactor:fairshare=10000,")]


@pytest.mark.parametrize("clock", ["rounds", "events"])
@pytest.mark.parametrize("scheduler", SHORT)
def test_usage_does_not_depend_on_rounds_that_are_passed_over(scheduler, clock, tmp_path):
    """Ann had a GPU until 30,000 s, Bob two since: she has used more, though much of it has decayed.

    Taken as used at 15,000 s, as it was when no round between was executed, hers was the smaller.
    """
    rows = ["a,0,1,30000,ann", "b,30000,2,2000,bob", "c,31800,4,600,ann", "d,31800,4,600,bob"]
    (tmp_path / "t.csv").write_text("\n".join(("job_id,submit_s,gpus,duration_s,user", *rows)))
    experiment = Experiment(workload=str(tmp_path / "t.csv"), cluster="1x4", scheduler=scheduler, clock=clock)
    for skip in (True, False):
        first_c, first_d = experiment.run(skip=skip).jobs["first_start_s"].tolist()[2:]
        assert first_d < first_c


@pytest.mark.parametrize("scheduler", ["fairtree", "multifactor:fairshare=10000,age=1"])
def test_the_tenant_that_has_had_less_goes_first(scheduler, tmp_path):
    """x runs alone on both GPUs until 1000; then y's jobs come before those that x has submitted earlier."""
    lines = ["a,0,2,1000,x,p", "b,10,2,100,x,p", "c,20,2,100,x,q", "d,30,2,100,y,r"]
    trace = tmp_path / "trace.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s,tenant,user\n" + "\n".join(lines))
    result = Experiment(workload=str(trace), cluster="1x2", scheduler=scheduler, clock="events").run()
    assert result.jobs["first_start_s"].tolist() == [0, 1200, 1100, 1000], (
        "then q, who has had nothing, before p"
    )


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("multifactor:age=0", "weights"),
        ("multifactor:age=-1,qos=3", "weights"),
        ("multifactor:age=5,max_age=0", "max_age is 0 s"),
        ("multifactor:half_life=0", "half_life is 0 s"),
        ("multifactor:conf=nowhere.conf", "no such file"),
        ("fairtree:shares=nowhere.toml", "no such file"),
    ],
)
def test_bad_options_are_told(spec, words):
    with pytest.raises(BloxError, match=words):
        build("scheduling", spec)


def test_a_slurm_conf_that_is_wrong_is_told_with_its_line(tmp_path):
    (tmp_path / "slurm.conf").write_text("\nPriorityWeightAge=many\n")
    with pytest.raises(BloxError, match=r"slurm.conf:2: priorityweightage is 'many'"):
        build("scheduling", f"multifactor:conf={tmp_path / 'slurm.conf'}")
