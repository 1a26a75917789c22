"""Policies tell why jobs wait; what they tell is in the summary and the results, computed here by hand."""

import numpy as np
import pytest

from blox import Experiment, Result
from blox.errors import BloxError
from blox.explain import Explanation, Interval
from blox.recording.wait_causes import COUNTED, LEFT_OUT
from support.traces import trace

RESERVE = """
@dataclass(frozen=True)
class Mine:
    '''Keeps two GPUs for jobs of two and more; a job of one GPU runs beside one of its kind.'''

    def schedule(self, job_state, cluster_state):
        rows, small = job_state.active, job_state.gpus == 1
        kept = ~small
        kept[np.flatnonzero(small)[:1]] = True
        return Schedule(rows[kept])
"""
TELLS = """
    def wait_reasons(self, rows, job_state, cluster_state):
        return "two GPUs were reserved for large jobs"
"""
# two jobs of 1 GPU on two GPUs: the second could start at once, and is left out until the first has finished
SMALL = "a,0,1,200 b,0,1,100"


def reasons(result):
    columns = ("job", "start_s", "end_s", "part", "because")
    return list(zip(*(result.reasons[name].tolist() for name in columns)))


def test_a_scheduler_tells_why_it_left_a_job_out(run, policy_file):
    result = run(SMALL, "1x2", scheduler=policy_file(RESERVE + TELLS))
    assert reasons(result) == [(1, 0.0, 200.0, "scheduling", "two GPUs were reserved for large jobs")]
    causes = ("scheduler", "priority", "capacity", "fragmentation")
    assert [result.summary[f"wait_{cause}_s"] for cause in causes] == [200, 0, 0, 0]
    assert Explanation(result).sentence(1) == (
        "Job b (1 GPU) waited 3.33 min of its 5 min: 3.33 min because two GPUs were reserved for large "
        "jobs; it was never interrupted and finished."
    )


def test_of_a_silent_scheduler_it_is_told_that_it_listed_other_jobs(run, policy_file):
    result = run(SMALL, "1x2", scheduler=policy_file(RESERVE))
    assert reasons(result) == [(1, 0.0, 200.0, "scheduling", LEFT_OUT)]
    assert result.summary["wait_scheduler_s"] == 200 and result.summary["wait_fragmentation_s"] == 0


def test_what_is_told_last_counts_to_the_end_of_a_run_that_is_cut_off(run, policy_file):
    # no round after the first one changes anything
    result = run("a,0,1,2000 b,0,1,100", "1x2", scheduler=policy_file(RESERVE), max_rounds=10)
    assert result.summary["end_s"] == 1000
    assert reasons(result) == [(1, 0.0, 1000.0, "scheduling", LEFT_OUT)]
    assert result.summary["wait_scheduler_s"] == 1000


def test_a_silent_scheduler_is_no_cause_while_too_few_gpus_are_free(run, policy_file):
    # c takes the second GPU until 100: b could not have started before
    result = run(f"{SMALL} c,0,2,100", "1x3", scheduler=policy_file(RESERVE))
    assert reasons(result) == [(1, 100.0, 200.0, "scheduling", LEFT_OUT)]
    assert result.summary["wait_scheduler_s"] == 100
    assert result.summary["wait_priority_s"] == 100, "c was given what b could have had"


def test_a_lease_and_a_lost_auction_are_causes(run):
    # One app each. b comes at 100, when all GPUs are leased to a until 400. Then b wins them, for good.
    result = run("a,0,4,1000 b,50,4,200", scheduler="themis:lease=400")
    leased = "leases of other jobs left too few GPUs on offer"
    lost = "other jobs got the GPUs on offer, by auction or by draw"
    assert reasons(result) == [(0, 400.0, 600.0, "scheduling", lost), (1, 100.0, 400.0, "scheduling", leased)]
    assert [(each.seconds, each.state, each.words) for each in Explanation(result).history(0)[1:3]] == [
        (100, "priority", lost),  # b was given what a could have had
        (100, "capacity", lost),  # and nothing came free
    ]
    assert Explanation(result).reasons()["capacity", leased].tolist() == [0, 300]
    assert [result.summary[f"wait_{cause}_s"] for cause in ("priority", "capacity")] == [100, 400]


def test_no_small_job_waits_for_room_under_themis():
    """With free GPUs, a job of one GPU can be placed: if it waits, the auction is why."""
    jobs = "philly:load=7,max_gpus=16"
    result = Experiment(
        workload=jobs, jobs=300, cluster="8x4", scheduler="themis", placement="consolidated"
    ).run()
    waits, small = Explanation(result).waits(), result.jobs["gpus"] == 1
    assert waits["fragmentation"][small].max() == 0
    assert waits["scheduler"][small].max() > 0 and waits["fragmentation"].max() > 0


def test_gavel_tells_that_it_is_not_a_job_s_turn(run):
    result = run("a,0,4,300 b,0,4,300", scheduler="gavel")
    assert {because for *_, because in reasons(result)} == {
        "the round went to jobs that had had less of their part of the time"
    }
    # one of them always waits, until the first is done, and nothing else is told of it
    told = sum(end - start for _, start, end, *_ in reasons(result))
    assert told == result.jobs["waited_s"].sum() > 0
    assert "wait_scheduler_s" not in result.summary, "no GPU was free"


def test_pollux_tells_that_its_next_allocation_is_not_due(run):
    result = run("a,0,1,300 b,150,1,100", "1x4", scheduler="pollux:interval_s=400", performance="duration")
    assert (1, 200.0, 400.0, "scheduling") in [each[:4] for each in reasons(result)]
    assert "not due" in reasons(result)[0][4]


def test_a_quota_is_a_cause(run):
    header = "job_id,submit_s,gpus,duration_s,user"
    jobs = "a,0,1,300,u b,0,1,100,u c,0,2,100,v d,0,2,200,v"
    result = run(jobs, header=header, admission="quota:user_jobs=1,user_gpus=3")
    many = "its user had as many jobs admitted as the quota allows"
    assert reasons(result) == [(1, 0.0, 300.0, "admission", many), (3, 0.0, 100.0, "admission", many)]
    assert result.summary["wait_admission_s"] == 400
    result = run(jobs, header=header, admission="quota:user_gpus=3")
    assert reasons(result) == [
        (3, 0.0, 100.0, "admission", "its user had as many GPUs admitted as the quota allows")
    ]


def test_a_threshold_and_the_order_behind_it_are_causes(run):
    # 4 GPUs x 1.5 = 6: a and b ask for 5, c for 2 more; d would be within, but stands behind c. At 100 b has
    # finished, a and c ask for 6, and d for one more.
    jobs = "a,0,4,200 b,0,1,100 c,0,2,100 d,0,1,100"
    result = run(jobs, admission="threshold:factor=1.5", scheduler="srtf")
    threshold = "admitted jobs asked for GPUs up to 1.5 x capacity"
    behind = "a job submitted before it had to wait for the threshold, and jobs enter in order"
    assert reasons(result) == [
        (2, 0.0, 100.0, "admission", threshold),
        (3, 0.0, 100.0, "admission", behind),
        (3, 100.0, 200.0, "admission", threshold),
    ]


def test_a_placement_tells_why_free_gpus_were_no_use(run, policy_file):
    placement = policy_file("""
    from blox.placement import Consolidated

    @dataclass(frozen=True)
    class Mine:
        '''As consolidated.'''

        def place(self, schedule, cluster_state, job_state):
            return Consolidated().place(schedule, cluster_state, job_state)

        def wait_reasons(self, rows, job_state, cluster_state):
            return ["no node had room"] * len(rows)
    """)
    # a and b on one node, c on the other. b finishes at 100: one GPU is free on each, and d needs two on one.
    # e needs more than are free: there the placement is not asked.
    jobs = "a,0,1,300 b,0,1,100 c,0,1,300 d,100,2,100 e,100,3,100"
    result = run(jobs, "2x2", scheduler="fifo:strict=false", placement=placement)
    assert reasons(result) == [(3, 100.0, 300.0, "placement", "no node had room")]
    assert result.summary["wait_fragmentation_s"] == 200
    assert Explanation(result).history(3)[0] == Interval(
        100.0, 300.0, "fragmentation", (), "no node had room"
    )


def test_a_strict_order_is_told_as_such(run):
    # b waits for all 4 GPUs, and c, for which one is free, stands behind it
    result = run("a,0,3,300 b,0,4,100 c,0,1,100", scheduler="fifo")
    assert Explanation(result).history(2)[0] == Interval(0.0, 300.0, "priority", because=COUNTED[-1][1])
    # c behind b until 300, and when b gets all; b at 0, when a is given what it needs
    assert result.summary["wait_priority_s"] == 300 + 100 + 100


@pytest.mark.parametrize("placement", ["count", "first-free", "consolidated"])
def test_a_strict_order_that_ends_at_a_displaced_job_is_told_as_such(placement, run):
    # At 100 urgent b takes 2 of the 4 GPUs. c, which needs 3, ends the order; behind it a would find room.
    result = run(
        "c,0,3,300,0 a,0,1,300,0 b,100,2,200,1",
        header="job_id,submit_s,gpus,duration_s,priority",
        scheduler="fifo-priority:strict=true,preempt=true",
        placement=placement,
    )
    assert result.jobs["first_start_s"].tolist() == [0, 0, 100]
    assert Explanation(result).history(1)[1] == Interval(100.0, 300.0, "priority", because=COUNTED[-1][1])


SETTINGS = {
    "themis": {"scheduler": "themis", "placement": "consolidated"},
    "gavel": {"scheduler": "gavel", "max_rounds": 600},
    "quota": {"scheduler": "las", "admission": "quota:user_jobs=1"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_reasons_do_not_depend_on_rounds_that_are_passed_over(settings, tmp_path):
    experiment = Experiment(
        workload="gavel:multi=true,offered=1.5,gpus=16", jobs=60, cluster="4x4", **settings
    )
    found, every_round = experiment.run(), experiment.run(skip=False)
    assert len(reasons(found)) >= 20 and reasons(found) == reasons(every_round)
    found.save(tmp_path / "x")
    kept = Result.load(tmp_path / "x")
    assert reasons(kept) == reasons(found)
    few = np.flatnonzero(kept.jobs["gpus"] > 1)
    of_few = {few[job] for job, *_ in reasons(kept.only(few))}
    assert of_few == {job for job, *_ in reasons(found)} & {*few.tolist()}


def test_results_without_reasons_have_no_file_of_them(tmp_path):
    Experiment(workload="constant", jobs=5).run().save(tmp_path / "x")
    assert not (tmp_path / "x" / "reasons.parquet").exists()
    assert len(Result.load(tmp_path / "x").reasons["job"]) == 0


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("7", r"wait_reasons\(\) returns int, not texts"),
        ("[1, 2]", r"wait_reasons\(\) returns list, not texts"),
        ("['a', 'b', 'c']", r"wait_reasons\(\) returns 3 texts for 1 rows"),
        ("1 / 0", r"wait_reasons\(\) raises ZeroDivisionError"),
        ("job_state.columns.gpus.fill(0)", r"wait_reasons\(\) changes the state in place"),
    ],
)
def test_what_a_user_s_policy_tells_wrongly_is_told_in_words(tmp_path, policy_file, answer, words):
    wrong = TELLS.replace('"two GPUs were reserved for large jobs"', answer)
    spec = policy_file(RESERVE + wrong)
    workload = trace(tmp_path / "jobs.csv", SMALL)
    with pytest.raises(BloxError, match=words) as fault:
        Experiment(workload=workload, cluster="1x2", scheduler=spec).run()
    assert "mine.py" in fault.value.where and fault.value.fix
