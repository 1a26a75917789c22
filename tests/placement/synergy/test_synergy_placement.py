"""Synergy as a placement that composes with any order: cores and memory, never more than there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blox import Experiment
from blox.errors import BloxError
from blox.placement.synergy.policy import Synergy
from support.examples import examples
from support.states import placed
from support.traces import WITH_MODEL, trace

MODELS = ("alexnet", "res50", "gnmt", "m5", "shufflenet", "unheard-of")
MODES = ("proportional", "greedy", "tune", "opt")
SHAPE = "cpu=12,memory_gb=250"


def run_synergy(path, mode="tune", scheduler="fifo", cluster="2x4", skip=True, belief="oracle", **more):
    return Experiment(
        workload=path,
        cluster=f"{cluster}:{SHAPE}",
        scheduler=scheduler,
        placement=f"synergy:mode={mode},belief={belief}",
        performance="sensitivity",
        **more,
    ).run(skip=skip)


def test_hungry_and_lean_jobs_share_a_node(tmp_path):
    """gnmt wants 1 core per GPU, alexnet 12 on one GPU: of a node's 12 cores, 3 gnmt leave 9 to alexnet."""
    rows = [(f"lean-{i}", 0, 1, 3000, "gnmt") for i in range(3)] + [("hungry", 0, 1, 3000, "alexnet")]
    path = trace(tmp_path / "t.csv", rows, WITH_MODEL)
    tuned, fair = (
        run_synergy(path, cluster="1x4").jobs["finish_s"],
        run_synergy(path, "proportional", cluster="1x4"),
    )
    assert fair.jobs["finish_s"].tolist() == [3000] * 4
    assert tuned.tolist() == pytest.approx(
        [3000, 3000, 3000, 3000 / 2.0]
    )  # 2.0 with 9 cores, 62.5 GB or more


def test_nobody_is_slower_than_with_its_proportional_share(tmp_path):
    rows = [(i, 0, 1, 3000, model) for i, model in enumerate(("alexnet", "m5", "shufflenet", "res50") * 2)]
    path = trace(tmp_path / "t.csv", rows, WITH_MODEL)
    for mode in ("tune", "opt"):
        assert (run_synergy(path, mode).jobs["finish_s"] <= 3000 + 1e-6).all()


def test_speeds_change_when_a_neighbour_leaves(tmp_path):
    """Two alexnet on one node of 12 cores have 6 each; when one is done the other has all it wants."""
    rows = [("a", 0, 1, 1750, "alexnet"), ("b", 0, 1, 5250, "alexnet")]
    result = run_synergy(trace(tmp_path / "t.csv", rows, WITH_MODEL), cluster="1x4")
    first, second = result.jobs["finish_s"].tolist()
    assert first == pytest.approx(1000.0)  # 1.75 with 6 cores
    assert second == pytest.approx(1200 + (5250 - 1200 * 1.75) / 2.94)  # from the boundary on: 12 cores
    assert result.summary["preemptions"] == result.summary["moves"] == 0


def test_greedy_waits_for_its_best_case_and_tune_does_not(tmp_path):
    rows = [(i, 0, 1, 2940, "alexnet") for i in range(4)]
    path = trace(tmp_path / "t.csv", rows, WITH_MODEL)
    greedy, tuned = (
        run_synergy(path, mode, cluster="1x4").jobs["first_start_s"].tolist() for mode in ("greedy", "tune")
    )
    assert greedy == [0, 1200, 2400, 3600]
    assert tuned == [0, 0, 0, 0]


def test_policies_that_know_nothing_of_cores_still_run(tmp_path):
    rows = [(i, 0, 1, 3000, model) for i, model in enumerate(MODELS)]
    path = trace(tmp_path / "t.csv", rows, WITH_MODEL)
    settings = {"workload": path, "cluster": f"2x4:{SHAPE}", "performance": "sensitivity"}
    assert Experiment(placement="consolidated", **settings).run().jobs["finish_s"].tolist() == [3000] * 6


def test_without_cores_and_memory_there_is_nothing_to_share(tmp_path):
    rows = [(i, 0, 1, 3000, "alexnet") for i in range(3)]
    path = trace(tmp_path / "t.csv", rows, WITH_MODEL)
    result = Experiment(workload=path, cluster="1x4", placement="synergy", performance="sensitivity").run()
    assert result.jobs["finish_s"].tolist() == [3000] * 3
    assert result.summary["nothing_to_share"] == 1  # which the table and the report put into words


def test_opt_reports_its_gap(tmp_path):
    rows = [(i, 0, 1, 3000, model) for i, model in enumerate(("alexnet", "m5", "gnmt", "res50"))]
    summary = run_synergy(trace(tmp_path / "t.csv", rows, WITH_MODEL), "opt", cluster="1x4").summary
    assert summary["opt_gap"] == pytest.approx(0.0, abs=1e-6) and summary["opt_solved"] > 0


def test_what_models_want_can_be_learnt(tmp_path):
    """gnmt does as well with one core as with twelve, and is soon given no more: alexnet gets the rest."""
    rows = [(f"lean-{i}", 0, 1, 30_000, "gnmt") for i in range(3)] + [("hungry", 0, 1, 30_000, "alexnet")]
    path = trace(tmp_path / "t.csv", rows, WITH_MODEL)
    learnt, known = (
        run_synergy(path, cluster="1x4", belief=belief).jobs["finish_s"] for belief in ("learnt", "oracle")
    )
    assert known[3] <= learnt[3] < 0.75 * 30_000
    assert (learnt <= 30_000 + 1e-6).all()


JOBS = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 100, 300, 900, 1500]),
        st.sampled_from([1, 1, 1, 2, 4, 5]),
        st.sampled_from([100, 300, 900, 2000, 4000]),
        st.sampled_from(MODELS),
    ),
    min_size=1,
    max_size=12,
)


@examples(120)
@given(
    jobs=JOBS,
    mode=st.sampled_from(("proportional", "greedy", "tune")),
    scheduler=st.sampled_from(("fifo", "fifo:strict=true,preempt=true", "srtf", "las", "ftf", "themis")),
)
def test_a_run_keeps_every_invariant(tmp_path, jobs, mode, scheduler):
    """All finish, gangs are whole, nothing is given twice, and passing rounds over changes nothing."""
    rows = [(i, *job) for i, job in enumerate(sorted(jobs, key=lambda job: job[0]))]
    path = trace(tmp_path / "t.csv", rows, WITH_MODEL)
    granted = []
    place = Synergy.place

    def watched(self, schedule, cluster_state, job_state):
        plan = place(self, schedule, cluster_state, job_state)
        wanted = placed(plan, cluster_state)
        granted.append((wanted.as_dict(), dict(zip(wanted.jobs.tolist(), _per_gpu(wanted)))))
        return plan

    try:
        Synergy.place = watched
        result, executed = (run_synergy(path, mode, scheduler, skip=skip) for skip in (True, False))
    finally:
        Synergy.place = place
    assert (result.jobs["state"] == "finished").all()
    for name, column in result.jobs.items():
        np.testing.assert_array_equal(column, executed.jobs[name], err_msg=name)
    for ids, amounts in granted:
        assert len({gpu for each in ids.values() for gpu in each}) == sum(map(len, ids.values()))
        used = np.zeros((2, 2))
        for row, each in ids.items():
            assert len(each) == rows[row][2]
            for gpu in each:
                used[gpu // 4] += amounts[row]
        assert (used <= np.array([12, 250]) + 1e-6).all()


def _per_gpu(wanted):
    """Cores and memory per GPU of each job; the fair share where nothing is granted."""
    if wanted.cpu is None:
        return [(3.0, 62.5)] * len(wanted.jobs)
    return list(zip(wanted.cpu / wanted.counts, wanted.memory_gb / wanted.counts))


def test_speeds_follow_the_profiles_unless_told_otherwise(tmp_path):
    """Without --performance the placement brings the model that it is made for."""
    rows = [(f"lean-{i}", 0, 1, 3000, "gnmt") for i in range(3)] + [("hungry", 0, 1, 3000, "alexnet")]
    path = trace(tmp_path / "t.csv", rows, WITH_MODEL)
    result = Experiment(workload=path, cluster=f"1x4:{SHAPE}", placement="synergy").run()
    assert result.jobs["finish_s"][3] == pytest.approx(3000 / 2.0)
    constant = Experiment(workload=path, cluster=f"1x4:{SHAPE}", placement="first-free").run()
    assert constant.jobs["finish_s"].tolist() == [3000] * 4


def test_nodes_name_cores_and_memory_or_neither(tmp_path):
    path = trace(tmp_path / "t.csv", [("a", 0, 1, 600, "gnmt")], WITH_MODEL)
    with pytest.raises(BloxError, match="cores or how much memory"):
        Experiment(workload=path, cluster="1x4:cpu=12", placement="synergy").run()
    assert Experiment(workload=path, cluster="1x4", placement="synergy").run().summary["finished"] == 1


def test_opt_does_not_learn():
    with pytest.raises(BloxError, match="whole profiles"):
        Synergy(mode="opt", belief="learnt")
