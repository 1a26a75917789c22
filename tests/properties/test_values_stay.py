"""Allocations and schedules are values: kept from an earlier round, they read as they did in that round.

Every experiment is run twice, with equal results. In the first run every answer of a policy is read at once,
and again at the end; in the second it is only kept, and read when the run is over.
"""

import dataclasses
from unittest.mock import patch

import numpy as np
import pytest
from msgspec.structs import replace

from blox import Allocation, ClusterState, Experiment, Schedule, loop
from blox.checks.find import registered
from blox.placement.first_free import FirstFree
from blox.schedulers.las import Las
from blox.schedulers.tiresias import Tiresias
from blox.state.cluster_spec import cluster_from_spec
from blox.state.plan import Plan
from support.places import SAMPLES

PHILLY = {"workload": "philly:load=40,max_gpus=8", "cluster": "3x4", "jobs": 60, "seed": 1}
GAVEL = {"workload": "gavel:load=30", "cluster": "v100=1x2,k80=1x2", "jobs": 15, "round_s": 360.0}
TRACE = f"gavel:{SAMPLES / 'gavel_long.trace'}?throughputs={SAMPLES / 'gavel_throughputs.json'}"
ELASTIC = {"workload": "elastic:load=30", "cluster": "2x4", "jobs": 12, "seed": 1}
RUNS = {
    "fifo": {**PHILLY, "scheduler": "fifo"},
    "las, consolidated": {**PHILLY, "scheduler": "las", "placement": "consolidated"},
    "tiresias, events": {**PHILLY, "scheduler": "tiresias", "clock": "events"},
    "gavel, packed": {**GAVEL, "scheduler": "gavel:policy=max_min_fairness_packed"},
    "pollux": {**ELASTIC, "scheduler": "pollux:generations=5"},
}
PRESETS = {
    "preset blox": {**PHILLY, "compat": "blox:policy=Las"},
    "preset gavel": {
        "workload": TRACE,
        "cluster": "v100=2x1",
        "compat": f"gavel:policy=max_min_fairness,throughputs={SAMPLES / 'gavel_throughputs.json'}",
    },
    "preset synergy": {**PHILLY, "compat": "synergy:schedule=LAS,allocation=fair"},
    "preset tiresias": {**PHILLY, "compat": "tiresias:schedule=dlas-gpu,scheme=count"},
    "preset tiresias, shortest": {**PHILLY, "compat": "tiresias:schedule=shortest-gpu,scheme=yarn"},
}


KEPT = RUNS | PRESETS


@pytest.mark.parametrize("name", KEPT)
def test_allocations_read_at_the_end_as_in_their_round(name):
    reads_the_same_at_the_end(KEPT[name], "placement", "place", reading_of_allocation)


@pytest.mark.parametrize("name", KEPT)
def test_schedules_read_at_the_end_as_in_their_round(name):
    reads_the_same_at_the_end(KEPT[name], "scheduler", "schedule", reading_of_schedule)


def reads_the_same_at_the_end(settings, part, verb, reading):
    read, read_result = answers(settings, part, verb, lambda answer: (answer, reading(answer)))
    assert len(read) > 10
    then = [words for _, words in read]
    assert [reading(answer) for answer, _ in read] == then, "an answer that was read in its round"
    kept, result = answers(settings, part, verb, lambda answer: answer)
    assert result.summary == read_result.summary, "reading an answer changes nothing"
    assert [reading(answer) for answer in kept] == then, "an answer that is read for the first time"


def experiments_of_every_scheduler():
    own = {"gavel": GAVEL, "optimus": ELASTIC, "pollux": ELASTIC}
    names = [name for kind, name in registered()[0] if kind == "scheduling"]
    plain = {name: {**own.get(name, PHILLY), "scheduler": name} for name in names}
    plain["pollux"]["scheduler"] = "pollux:generations=5"
    return plain | RUNS | PRESETS


EVERY = experiments_of_every_scheduler()


@pytest.mark.parametrize("name", EVERY)
def test_replace_works_on_every_schedule(name):
    """`dataclasses.replace` changes the field that is named, and no other."""
    pairs, _ = answers(
        EVERY[name],
        "scheduler",
        "schedule",
        lambda schedule: (schedule, dataclasses.replace(schedule, strict=True)),
    )
    for schedule, changed in pairs:
        assert changed.strict and changed.preempt == schedule.preempt
        assert reading_of_schedule(changed) == reading_of_schedule(schedule)


def test_other_jobs_need_other_keys():
    schedule = Schedule(np.array([0, 1, 2]), (np.array([3.0, 2.0, 1.0]),))
    jobs, keys = np.array([0, 1]), (np.array([2.0, 1.0]),)
    assert dataclasses.replace(schedule, jobs=jobs, keys=keys).order.tolist() == [1, 0]
    with pytest.raises(TypeError, match="other keys"):
        dataclasses.replace(schedule, jobs=jobs)
    assert dataclasses.replace(Schedule(np.array([0, 1, 2])), jobs=jobs).order.tolist() == [0, 1]


@dataclasses.dataclass(frozen=True)
class Rotating:
    """Moves every job one GPU further each round; keeps its GPU ids in an array that it uses again."""

    copies: bool

    def place(self, schedule, cluster_state, job_state):
        gpus = job_state.memory("rotating", lambda: np.arange(cluster_state.total_gpus))
        gpus += 1
        gpus %= cluster_state.total_gpus
        rows = schedule.jobs[: cluster_state.total_gpus]
        given = gpus[: len(rows)]
        return Allocation(rows, np.ones(len(rows), dtype=np.int64), given.copy() if self.copies else given)


def test_a_placement_may_use_its_arrays_again():
    settings = {"workload": "philly:load=5,max_gpus=1", "cluster": "1x4", "jobs": 10, "scheduler": "fifo"}
    again, fresh = (Experiment(**settings, placement=Rotating(copies)).run() for copies in (False, True))
    assert again.summary == fresh.summary and again.summary["moves"] > 50


@dataclasses.dataclass(frozen=True)
class Narrow:
    """Moves every job one GPU further each round, in numbers of another width."""

    dtype: str

    def place(self, schedule, cluster_state, job_state):
        turns = job_state.memory("turns", lambda: np.zeros(1, dtype=np.int64))
        turns += 1
        rows = schedule.jobs[: cluster_state.total_gpus]
        gpus = (np.arange(len(rows)) + turns) % cluster_state.total_gpus
        columns = (rows, np.ones(len(rows)), gpus)
        return Allocation(*(column.astype(self.dtype) for column in columns))


@pytest.mark.parametrize("dtype", ["int16", "int32", "uint32"])
def test_a_placement_may_answer_in_narrow_numbers(dtype):
    settings = {"workload": "philly:load=5,max_gpus=1", "cluster": "1x4", "jobs": 10, "scheduler": "fifo"}
    narrow, wide = (Experiment(**settings, placement=Narrow(each)).run() for each in (dtype, "int64"))
    assert narrow.summary == wide.summary and narrow.summary["moves"] > 50
    for name, values in wide.stints.items():
        np.testing.assert_array_equal(narrow.stints[name], values, err_msg=name)


@dataclasses.dataclass(frozen=True)
class NarrowOrder:
    """Lists jobs, and grants GPUs, in numbers of another width."""

    dtype: str
    resizes = True

    def schedule(self, job_state, cluster_state):
        rows, gpus = (column.astype(self.dtype) for column in (job_state.active, job_state.gpus))
        return Schedule(rows, (job_state.gpu_seconds(),), gpus=gpus)


@pytest.mark.parametrize("placement", ["first-free", "consolidated"])
@pytest.mark.parametrize("dtype", ["int16", "int32", "uint32"])
def test_a_scheduler_may_answer_in_narrow_numbers(dtype, placement):
    settings = PHILLY | {"placement": placement}
    narrow, wide = (Experiment(**settings, scheduler=NarrowOrder(each)).run() for each in (dtype, "int64"))
    assert narrow.summary == wide.summary and narrow.summary["preemptions"] > 20
    for name, values in wide.stints.items():
        np.testing.assert_array_equal(narrow.stints[name], values, err_msg=name)


def test_the_loop_takes_narrow_numbers_of_parts_that_are_not_guarded():
    """A placement, and a backend that says which jobs have ended."""
    wide, narrow = (looped(dtype) for dtype in (np.int64, np.int32))
    for name, values in wide.items():
        np.testing.assert_array_equal(narrow[name], values, err_msg=name)
    assert len(wide["job"]) > 60


def looped(dtype):
    """The stints of a run of the bare loop whose placement and backend answer in numbers of this width."""
    prepared = Experiment(**PHILLY).prepare()
    backend, parts = prepared.backend(), prepared.composition
    manager, states = prepared.manager(backend), prepared.states()
    completed = backend.completed

    def narrow(cluster_state, job_state):
        rows, at = completed(cluster_state, job_state)
        return rows.astype(dtype), at

    class Whole:
        def place(self, schedule, cluster_state, job_state):
            plan = FirstFree().place(schedule, cluster_state, job_state)
            held = plan.outcome(cluster_state.allocation)
            return Allocation(*(column.astype(dtype) for column in (held.jobs, held.counts, held.gpus)))

    backend.completed = narrow
    loop.run(manager, *states, admission=parts.admission, scheduler=Las(), placement=Whole())
    return manager.recorder.stints(manager.now)


def test_moves_are_seen_in_narrow_numbers():
    now, wanted = Allocation.from_dict({1: (0,), 2: (1,)}), Allocation.from_dict({1: (1,), 2: (0,)})
    narrow = [Allocation(*(np.array(c, np.int32) for c in (a.jobs, a.counts, a.gpus))) for a in (now, wanted)]
    assert Plan.diff(*narrow).move.as_dict() == {1: (1,), 2: (0,)}


@dataclasses.dataclass(frozen=True)
class Reusing:
    """Places as first-free does, in an array of rows that it uses again."""

    copies: bool

    def place(self, schedule, cluster_state, job_state):
        plan = FirstFree().place(schedule, cluster_state, job_state)
        rows = job_state.memory("reusing", lambda: np.zeros(100, dtype=np.int64))[: len(plan.launch.jobs)]
        rows[:] = plan.launch.jobs
        return replace(plan, launch=replace(plan.launch, jobs=rows.copy() if self.copies else rows))


@pytest.mark.parametrize("scheduler", ["fifo", "tiresias"])
def test_so_may_one_that_returns_plans(scheduler):
    """The log of failures and that of changes keep rows until the end of the run, or until they are read."""
    settings = {**PHILLY, "scheduler": scheduler, "clock": "events"}
    settings |= {"failures": "mtbf=20h,repair=1h", "overheads": "checkpoint=10m"}
    again, fresh = (Experiment(**settings, placement=Reusing(copies)).run() for copies in (False, True))
    assert again.summary == fresh.summary and again.summary["evictions"] > 0
    for name, values in fresh.jobs.items():
        np.testing.assert_array_equal(again.jobs[name], values, err_msg=name)


@dataclasses.dataclass(frozen=True)
class Ending:
    """Ends jobs that have run for an hour; names them in an array that it uses again."""

    copies: bool
    reason = "an hour is over"

    def terminate(self, job_state, cluster_state):
        late = job_state.active[job_state.run_s() >= 3600]
        rows = job_state.memory("ending", lambda: np.zeros(100, dtype=np.int64))
        rows[:] = 0
        rows[: len(late)] = late
        named = rows[: len(late)]
        return named.copy() if self.copies else named


@pytest.mark.parametrize("clock", ["rounds", "events"])
def test_a_termination_policy_may_use_its_array_again(clock):
    """Finished rows are kept for this round's policies, and in the log of changes, which Tiresias reads."""
    settings = {"workload": "philly:load=15,max_gpus=4", "cluster": "2x4", "jobs": 80, "clock": clock}
    settings |= {"scheduler": "tiresias:threshold=1000", "placement": "count"}
    again, fresh = (Experiment(**settings, termination=Ending(copies)).run() for copies in (False, True))
    assert again.summary == fresh.summary and (fresh.jobs["state"] == "ended early").sum() > 5
    for name, values in fresh.jobs.items():
        np.testing.assert_array_equal(again.jobs[name], values, err_msg=name)


@dataclasses.dataclass(frozen=True)
class Hourly:
    """Decides the order once an hour, and returns that schedule until then."""

    kept: list = dataclasses.field(default_factory=list, repr=False)
    as_arrays: bool = False

    def schedule(self, job_state, cluster_state):
        if job_state.now % 3600 == 0 or not self.kept:
            schedule = Tiresias().schedule(job_state, cluster_state)
            if self.as_arrays:
                schedule = Schedule(schedule.jobs, schedule.keys)
            self.kept[:] = [schedule]
        alive = np.isin(self.kept[0].jobs, job_state.active)
        if alive.all():
            return self.kept[0]
        return Schedule(self.kept[0].jobs[alive], tuple(key[alive] for key in self.kept[0].keys))


@pytest.mark.parametrize("placement", ["count", "first-free", "consolidated"])
def test_a_kept_schedule_lists_the_jobs_of_its_round_when_it_is_returned_again(placement):
    settings = {**PHILLY, "placement": placement}
    kept, plain = (Experiment(**settings, scheduler=Hourly(as_arrays=each)).run() for each in (False, True))
    np.testing.assert_array_equal(kept.jobs["first_start_s"], plain.jobs["first_start_s"])
    np.testing.assert_array_equal(kept.jobs["finish_s"], plain.jobs["finish_s"])


@dataclasses.dataclass(frozen=True)
class TwoLines:
    """Asks two schedulers, follows the second, and keeps both answers, with the jobs active then."""

    kept: list = dataclasses.field(default_factory=list, repr=False)

    def schedule(self, job_state, cluster_state):
        asked = Tiresias(), Tiresias(queues=1)
        schedules = [scheduler.schedule(job_state, cluster_state) for scheduler in asked]
        self.kept.append((schedules, job_state.active.tolist()))
        return schedules[1]


def test_two_schedules_of_one_round_both_stay():
    scheduler = TwoLines()
    Experiment(**PHILLY, scheduler=scheduler).run()
    assert len(scheduler.kept) > 10
    for schedules, active in scheduler.kept:
        assert [schedule.jobs.tolist() for schedule in schedules] == [active, active]


def test_what_the_cluster_holds_cannot_be_written_to():
    cluster = ClusterState(cluster_from_spec("1x4"))
    given = Allocation.from_dict({0: (0, 1)})
    cluster.holdings.apply(Plan.diff(cluster.allocation, given))
    held = cluster.allocation
    given.gpus[:] = 3
    assert held.as_dict() == {0: (0, 1)}
    for column in (held.jobs, held.counts, held.gpus):
        with pytest.raises(ValueError):
            column[0] = 2


def answers(settings, part, verb, keep):
    """What `keep` makes of every answer of a part in a run, in order; and the result of the run."""
    prepared = Experiment(**settings).prepare()
    policy = type(getattr(prepared.composition, part))
    original, found = getattr(policy, verb), []

    def kept(self, *states):
        answer = original(self, *states)
        found.append(keep(answer))
        return answer

    with patch.object(policy, verb, kept):
        result = prepared.run()
    return found, result


def reading_of_allocation(answer):
    """What it says: which GPUs each job holds, or what a plan launches and suspends."""
    return [*answer] if isinstance(answer, Plan) else answer.as_dict()


def reading_of_schedule(schedule):
    """What it says: the jobs in order, and every column that is in use."""
    columns = {
        field.name: value
        for field in dataclasses.fields(schedule)
        if not field.name.startswith("_") and field.name not in ("jobs", "keys", "strict", "preempt")
        and (value := getattr(schedule, field.name)) is not None
    }  # fmt: skip
    plain = {
        name: value.tolist() if isinstance(value, np.ndarray) else dict(value)
        for name, value in columns.items()
        if name == "pinned" or isinstance(value, np.ndarray)
    }
    return schedule.jobs[schedule.order].tolist(), plain
