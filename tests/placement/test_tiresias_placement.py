"""Which jobs `tiresias` and `profile` keep together, on nodes of 4 GPUs, worked out by hand.

Unless a case says otherwise, three 1-GPU jobs hold a GPU on each of three nodes (3 + 3 + 3 GPUs are left) and
the fourth node is empty; then jobs come whose models are skewed (VGG-16, LSTM) or not (Resnet-50).
"""

import numpy as np
import pytest

from blox import BloxError, Schedule
from blox.checks import check
from blox.placement.fragments import Fragments
from blox.placement.profile import Profile
from blox.placement.tiresias import Tiresias
from blox.state.plan import Allocation
from support.states import admitted, idle_cluster

FIRST_GPUS = {0: (0,), 1: (4,), 2: (8,)}  # row -> GPUs: one on each of the nodes 0, 1 and 2


def placed(policy, jobs, held=FIRST_GPUS, cluster="v100=4x4:network_gbps=10"):
    """Job -> node -> GPUs, for new jobs of (model, GPUs) in order of their arrival."""
    sizes = [*(len(gpus) for gpus in held.values()), *(gpus for _, gpus in jobs)]
    models = [*[""] * len(held), *(model for model, _ in jobs)]
    job_state, cluster_state = admitted(sizes, model=models), idle_cluster(cluster)
    now = Allocation.from_dict(held)
    job_state.start(now.jobs, now.counts, 1.0, 0.0)
    cluster_state.holdings.replace(now)
    schedule = Schedule.ordered(job_state, by=np.zeros(len(sizes)), preempt=False)
    found = {}
    plan = policy.place(schedule, cluster_state, job_state)
    for row, gpus in plan.outcome(cluster_state.allocation).as_dict().items():
        if row not in held:
            nodes = cluster_state.gpu_node[list(gpus)].tolist()
            found[row - len(held)] = {node: nodes.count(node) for node in nodes}
    return found


def test_a_skewed_job_goes_together_and_the_others_fill_gaps():
    assert placed(Tiresias(), [("VGG-16", 4), ("Resnet-50", 4)]) == {0: {3: 4}, 1: {0: 3, 1: 1}}


def test_a_skewed_job_waits_where_the_gaps_would_do():
    """The first takes node 3; for the second 9 GPUs are free, but nowhere 4. One without skew takes them."""
    jobs = [("VGG-16", 4), ("LSTM", 4), ("Resnet-50", 4)]
    assert placed(Tiresias(), jobs) == {0: {3: 4}, 2: {0: 3, 1: 1}}


def test_the_smallest_gaps_are_filled_first():
    """Gaps of 2, 3, 1 and 4: a job of 5 takes 1 + 2 + 2, and leaves 1 and the empty node."""
    held = {0: (0, 1), 1: (4,), 2: (8, 9, 10)}
    assert placed(Fragments(), [("Resnet-50", 5)], held) == {0: {2: 1, 0: 2, 1: 2}}
    assert placed(Tiresias(), [("Resnet-50", 5)], held) == {0: {2: 1, 0: 2, 1: 2}}


def test_the_rest_may_stay_together_where_there_is_room():
    jobs = [("Resnet-50", 4), ("Resnet-50", 4)]
    assert placed(Tiresias(), jobs) == {0: {0: 3, 1: 1}, 1: {1: 2, 2: 2}}
    assert placed(Tiresias(rest="spread"), jobs) == {0: {3: 4}, 1: {0: 3, 1: 1}}


def test_the_limit_of_the_skew_is_an_option():
    """Resnet-18's largest tensor holds 21 % of its parameters."""
    assert placed(Tiresias(), [("Resnet-18", 2)]) == {0: {0: 2}}
    assert placed(Tiresias(), [("Resnet-18", 4)]) == {0: {0: 3, 1: 1}}
    assert placed(Tiresias(skew=0.2), [("Resnet-18", 4)]) == {0: {3: 4}}
    assert placed(Tiresias(skew=0.22), [("Resnet-18", 4)]) == {0: {0: 3, 1: 1}}


def test_a_job_without_a_known_model_has_the_default_skew():
    assert placed(Tiresias(), [("", 4)]) == placed(Tiresias(), [("Resnet-50", 4)])
    assert placed(Tiresias(), [("no such network", 4)]) == {0: {0: 3, 1: 1}}


@pytest.mark.parametrize("spelling", ["vgg16", "VGG-16", "Vgg_16 (batch size 64)"])
def test_models_are_known_by_any_spelling(spelling):
    assert placed(Tiresias(), [(spelling, 4)]) == {0: {3: 4}}


def test_a_profile_keeps_together_who_loses_on_this_hardware():
    """Resnet-50, 0.818 Gb, 4 GPUs: together 0.227 + 0.818 x 1.5/400 s, apart 0.227 + 0.818 x 1.5/10: +52 %.

    Over 100 Gb/s it is +4 %. A VGG-16 (4.43 Gb, 0.249 s) still loses 19 % there.
    """
    jobs = [("Resnet-50", 4), ("VGG-16", 4)]
    assert placed(Profile(), jobs) == {0: {3: 4}}  # the VGG-16 waits for a node
    fast = "v100=4x4:network_gbps=100"
    assert placed(Profile(), jobs, cluster=fast) == {0: {0: 3, 1: 1}, 1: {3: 4}}
    assert placed(Profile(tolerance=0.03), jobs[:1], cluster=fast) == {0: {3: 4}}
    assert placed(Profile(tolerance=0.6), jobs[:1]) == {0: {0: 3, 1: 1}}


def test_fast_gpus_make_a_network_slow():
    """At 100 Gb/s a Resnet-50 on 4 GPUs loses 3 % on P100, 4 % on V100 and 10 % on A100."""
    for gpu, expected in (("p100", {0: 3, 1: 1}), ("v100", {0: 3, 1: 1}), ("a100", {3: 4})):
        cluster = f"{gpu}=4x4:network_gbps=100"
        assert placed(Profile(), [("Resnet-50", 4)], cluster=cluster) == {0: expected}, gpu


def test_a_stale_profile_is_wrong_about_this_hardware():
    assert placed(Profile(gpu="p100", gbps=100), [("Resnet-50", 4)]) == {0: {0: 3, 1: 1}}


@pytest.mark.parametrize(
    "spec", ["tiresias:rest=spread", "tiresias:skew=0", "profile:rest=spread", "profile:gpu=a100,gbps=1"]
)
def test_every_option_conforms(spec):
    report = check(spec, "placement")
    assert report.ok, report


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Tiresias(skew=1.5), "skew is 1.5"),
        (lambda: Tiresias(skew=-0.1), "skew is -0.1"),
        (lambda: Tiresias(rest="anywhere"), "rest is 'anywhere'"),
        (lambda: Profile(tolerance=-1), "tolerance is -1"),
        (lambda: Profile(tolerance=float("nan")), "tolerance is nan"),
        (lambda: Profile(gbps=-10), "gbps is -10"),
        (lambda: Profile(gbps=0), "gbps is 0"),
        (lambda: Profile(rest=""), "rest is ''"),
        (lambda: Tiresias(models="none.csv"), "none.csv: cannot be read"),
    ],
)
def test_nonsense_is_refused_in_words(make, says):
    with pytest.raises(BloxError) as refused:
        make()
    assert says in refused.value.text() and "fix:" in refused.value.text()
