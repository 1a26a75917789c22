"""What a schedule or an allocation may grant: pinned GPUs, shares, partners, types, configurations."""

import numpy as np
import pytest

from blox import Experiment
from blox.checks import answers, check
from blox.checks.broken import Broken
from blox.errors import BloxError
from blox.state.plan import Allocation
from blox.state.schedule import Schedule
from support.states import admitted, idle_cluster
from support.traces import trace

ROWS = np.arange(2)


@pytest.fixture
def states():
    return admitted([2, 2]), idle_cluster("2x2")


PINS = {
    "half a gang": ({0: (0,), 1: (2, 3)}, "job 'job-0' gets 1 GPUs, and is granted 2"),
    "one GPU twice": ({0: (0, 0), 1: (2, 3)}, "GPU 0 is given to job 'job-0' and job 'job-0'"),
    "a GPU of another job": ({0: (0, 1), 1: (1, 2)}, "GPU 1 is given to job 'job-0' and job 'job-1'"),
    "a negative id": ({0: (0, -1)}, "job 'job-0' gets GPU -1, and there are GPUs 0 to 3"),
    "an id too large": ({0: (0, 99999)}, "job 'job-0' gets GPU 99999, and there are GPUs 0 to 3"),
    "an id beyond measure": ({0: (0, 10**40)}, "which is no GPU id"),
    "half an id": ({0: (0, 0.5)}, "a job is pinned to float (0.5), which is no GPU id"),
    "a text": ({0: "01"}, "job 'job-0' is pinned to str (01), not to GPU ids"),
    "a number": ({0: 3}, "job 'job-0' is pinned to int (3), not to GPU ids"),
    "a job that is not listed": ({7: (0, 1)}, "the Schedule pins row 7, and does not list it"),
    "a name": ({"job-0": (0, 1)}, "the Schedule pins row 'job-0', and does not list it"),
    "no dict": ([(0, 1)], "the Schedule's pinned is list ([(0, 1)]), not a dict"),
}


@pytest.mark.parametrize("name", PINS)
def test_pins_are_held_to_the_rules_of_placement(states, name):
    pinned, what = PINS[name]
    with pytest.raises(Broken) as stop:
        answers.scheduled(Schedule(ROWS, pinned=pinned), *states)
    assert what in stop.value.what
    assert stop.value.fix


def test_pins_of_a_node_that_is_down_are_refused(states):
    states[1].set_node(1, "down")
    with pytest.raises(Broken, match=r"job 'job-1' gets GPU 2 of .*, which is down"):
        answers.scheduled(Schedule(ROWS, pinned={1: (2, 3)}), *states)


def test_pins_follow_the_gpus_that_the_schedule_grants():
    job_state = admitted([2, 2], min_gpus=np.array([1, 1]), max_gpus=np.array([4, 4]))
    schedule = Schedule(ROWS, gpus=np.array([1, 3]), pinned={0: (0,), 1: (1, 2, 3)})
    assert answers.scheduled(schedule, job_state, idle_cluster("2x2")) is schedule


def test_pins_of_another_type_are_refused():
    job_state = admitted([1], gpu_types=np.array(["v100"], dtype=object))
    with pytest.raises(Broken, match="job 'job-0' gets p100 GPUs, and may use v100 only"):
        answers.scheduled(Schedule(ROWS[:1], pinned={0: (1,)}), job_state, idle_cluster("v100=1x1,p100=1x1"))


def test_two_jobs_that_name_one_another_may_be_pinned_to_the_same_gpus(states):
    pinned = {0: (0, 1), 1: (0, 1)}
    schedule = Schedule(ROWS, pinned=pinned, share_group=np.array([1, 0]))
    assert answers.scheduled(schedule, *states).pinned == pinned


COLUMNS = {
    "no share": ("share_milli", [0, 1000], "share_milli of job 'job-0' is 0"),
    "a negative share": ("share_milli", [1000, -5], "share_milli of job 'job-1' is -5"),
    "a share that is no number": ("share_milli", [np.nan, 1.0], "share_milli of job 'job-0' is nan"),
    "more than a GPU": ("share_milli", [1000, 1001], "share_milli of job 'job-1' is 1001"),
    "a text as configuration": ("config", ["a", "b"], "the column 'config' is an array of <U1"),
    "no batch": ("config", [0, -1], "config of job 'job-0' is 0"),
    "an endless batch": ("config", [np.inf, -1], "config of job 'job-0' is inf"),
    "cores below nothing": ("cpu", [-2.0, 1.0], "cpu of job 'job-0' is -2.0"),
    "memory that is no number": ("memory_gb", [1.0, np.nan], "memory_gb of job 'job-1' is nan"),
    "a partner that does not name it back": ("share_group", [1, -1], "share_group of job 'job-0' is 1"),
    "itself as partner": ("share_group", [0, -1], "share_group of job 'job-0' is 0"),
    "partners that are no rows": ("share_group", [np.nan, 1.0], "the partners in share_group are an array"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_hold_what_means_something(states, name):
    column, values, what = COLUMNS[name]
    with pytest.raises(Broken) as stop:
        answers.scheduled(Schedule(ROWS, **{column: np.array(values)}), *states)
    assert what in stop.value.what
    allocation = Allocation(ROWS, np.array([2, 2]), np.arange(4), **{column: np.array(values)})
    with pytest.raises(Broken) as stop:
        answers.placed(allocation, Schedule(ROWS), states[1], states[0])
    assert what in stop.value.what


@pytest.mark.parametrize("kinds", [[np.nan, 0], ["v100", "p100"], [0, 5], [-2, 0]])
def test_a_gpu_type_is_one_of_the_cluster(states, kinds):
    with pytest.raises(Broken, match="gpu_type"):
        answers.scheduled(Schedule(ROWS, gpu_type=np.array(kinds)), *states)


def test_shares_that_are_none_do_not_stack_jobs(states):
    both = Allocation(ROWS, np.array([2, 2]), np.array([0, 1, 0, 1]), share_milli=np.array([500, 500]))
    with pytest.raises(Broken, match="GPU 0 is given to job 'job-0' and job 'job-1'") as stop:
        answers.placed(both, Schedule(ROWS), states[1], states[0])
    assert "share_group" in stop.value.fix


def test_two_that_share_have_at_most_a_whole_gpu(states):
    def share(*milli):
        return Allocation(
            ROWS,
            np.array([2, 2]),
            np.array([0, 1, 0, 1]),
            share_milli=np.array(milli),
            share_group=np.array([1, 0]),
        )

    assert answers.placed(share(400, 600), Schedule(ROWS), states[1], states[0]).launch.size == 2
    with pytest.raises(Broken, match="GPU 0 is given to"):
        answers.placed(share(500, 501), Schedule(ROWS), states[1], states[0])


@pytest.mark.parametrize("rows", [np.array([]), np.array([], dtype=bool)])
def test_rows_are_whole_numbers_even_if_there_are_none(states, rows):
    with pytest.raises(Broken, match=r"the Schedule's jobs are .*, not an array of whole numbers"):
        answers.scheduled(Schedule(rows), *states)
    with pytest.raises(Broken, match=r"the Allocation's jobs are .*, not an array of whole numbers"):
        answers.placed(Allocation(rows, rows, rows), Schedule(ROWS), states[1], states[0])


CHEAT = """
    @dataclass(frozen=True)
    class Mine:
        '''Every job gets one GPU, whatever it asks for.'''

        def schedule(self, job_state, cluster_state):
            jobs = job_state.active[: cluster_state.total_gpus]
            return Schedule(jobs, pinned={int(row): (gpu,) for gpu, row in enumerate(jobs)})
"""


def test_a_policy_that_pins_large_jobs_to_one_gpu_does_not_conform(policy_file):
    finding = check(policy_file(CHEAT)).finding("gangs")
    assert finding.ok is False
    assert "gets 1 GPUs, and is granted" in finding.what


def test_a_policy_that_pins_a_gpu_twice_does_not_conform(policy_file):
    finding = check(policy_file(CHEAT.replace("(gpu,)", "(0,) * int(job_state.columns.gpus[row])"))).finding(
        "gpus"
    )
    assert finding.ok is False
    assert "GPU 0 is given to" in finding.what


@pytest.mark.parametrize("placement", ["first-free", "consolidated", "count"])
def test_a_policy_that_pins_large_jobs_to_one_gpu_does_not_run(policy_file, tmp_path, placement):
    workload = trace(tmp_path / "jobs.csv", ["a,0,8,1000", "b,0,8,1000"])
    experiment = Experiment(
        workload=workload, cluster="2x8", scheduler=policy_file(CHEAT), placement=placement
    )
    with pytest.raises(BloxError, match="job 'a' gets 1 GPUs, and is granted 8") as stop:
        experiment.run()
    assert stop.value.where == "mine.py:9, scheduling policy ./mine.py:Mine, at 0 s"


def test_an_answer_that_cannot_be_read_is_told_with_its_place(policy_file, tmp_path):
    odd = CHEAT[: CHEAT.index("Schedule(")] + "Schedule(line=np)\n"
    workload = trace(tmp_path / "jobs.csv", ["a,0,8,1000"])
    with pytest.raises(BloxError, match=r"what schedule\(\) returns cannot be read: Attrib") as stop:
        Experiment(workload=workload, cluster="2x8", scheduler=policy_file(odd)).run()
    assert stop.value.where.startswith("mine.py:")
