"""A guarded policy: nonsense stops the run with what, where and how to mend it; sense passes untouched."""

import pickle

import numpy as np
import pytest

from blox import registry
from blox.checks import guard, is_foreign
from blox.checks.broken import Broken
from blox.checks.scenarios import scenarios
from blox.errors import BloxError
from blox.placement.count import Count
from blox.schedulers.las import Las
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import cluster_from_spec
from blox.state.jobs import JobState

GOOD = "@dataclass(frozen=True)\nclass Mine:\n    '''Jobs as they come.'''\n"
SCHEDULE = GOOD + "    def schedule(self, job_state, cluster_state):\n"


def crowd(kind):
    return next(case for case in scenarios(kind) if case.name == "twice as many jobs as GPUs")


def run_crowd(kind, policy, *, skip=True):
    return crowd(kind).run(kind, policy, skip=skip)


def test_nonsense_after_a_while_is_told_with_the_simulated_time(policy_file):
    spec = policy_file(
        SCHEDULE
        + "        end = job_state.now > 1000\n        return None if end else Schedule.ordered(job_state)\n"
    )
    with pytest.raises(BloxError) as stop:
        run_crowd("scheduling", guard("scheduling", registry.build("scheduling", spec)))
    assert stop.value.what == "schedule() returns None, not a Schedule"
    assert stop.value.where == "mine.py:8, scheduling policy ./mine.py:Mine, at 1200 s"
    assert "return Schedule.ordered(job_state" in stop.value.fix


def test_a_guarded_policy_may_fork_the_state_and_change_its_fork(policy_file):
    spec = policy_file(
        SCHEDULE
        + "        twin = job_state.fork()\n        twin.columns.priority[:] = twin.scalars.gpus[0] = 7\n"
        + "        return Schedule.ordered(job_state, -job_state.priority)\n"
    )
    run_crowd("scheduling", guard("scheduling", registry.build("scheduling", spec)))


def test_what_it_raises_is_told_with_its_own_line_and_without_a_trace(policy_file):
    spec = policy_file(
        SCHEDULE + "        gpus = job_state.gpus\n        return np.split(gpus, 1000000 // 0)\n"
    )
    with pytest.raises(BloxError) as stop:
        run_crowd("scheduling", guard("scheduling", registry.build("scheduling", spec)))
    assert stop.value.what.startswith("schedule() raises ZeroDivisionError")
    assert stop.value.where.startswith("mine.py:10, ")
    assert stop.value.__suppress_context__


def test_a_policy_that_leaves_python_stops_the_run_in_words(policy_file):
    spec = policy_file(SCHEDULE + "        raise SystemExit(3)\n")
    with pytest.raises(BloxError) as stop:
        run_crowd("scheduling", guard("scheduling", registry.build("scheduling", spec)))
    assert stop.value.what == "schedule() raises SystemExit: 3"
    assert stop.value.where.startswith("mine.py:9, ")


def test_the_line_is_the_policy_s_even_where_numpy_raises(policy_file):
    spec = policy_file(SCHEDULE + "        return np.concatenate((job_state.gpus, 1))\n")
    with pytest.raises(BloxError) as stop:
        run_crowd("scheduling", guard("scheduling", registry.build("scheduling", spec)))
    assert stop.value.where.startswith("mine.py:9, ")


def test_a_change_of_state_is_stopped_before_it_happens(policy_file):
    spec = policy_file(
        SCHEDULE + "        job_state.columns.gpus[:] = 1\n        return Schedule.ordered(job_state)\n"
    )
    with pytest.raises(Broken, match="changes the state in place") as stop:
        run_crowd("scheduling", guard("scheduling", registry.build("scheduling", spec)))
    assert stop.value.where.startswith("mine.py:9, ")


def test_the_states_can_be_written_to_again_after_the_call():
    job_state, cluster_state = JobState(), ClusterState(cluster_from_spec("1x4"))
    guard("scheduling", Las()).schedule(job_state, cluster_state)
    for owner in (job_state.columns, cluster_state):
        for name, value in vars(owner).items():
            assert not isinstance(value, np.ndarray) or value.flags.writeable, name


def test_an_error_that_a_policy_words_itself_is_passed_on(policy_file):
    spec = policy_file(
        "from blox import BloxError\n"
        + SCHEDULE
        + "        raise BloxError('too hot', fix='open a window')\n"
    )
    with pytest.raises(BloxError, match="too hot") as stop:
        run_crowd("scheduling", guard("scheduling", registry.build("scheduling", spec)))
    assert stop.value.fix == "open a window"


def test_a_guard_promises_only_what_the_policy_promises(policy_file):
    silent = registry.build(
        "scheduling", policy_file(SCHEDULE + "        return Schedule.ordered(job_state)\n")
    )
    assert not hasattr(guard("scheduling", silent), "stable_until")
    assert hasattr(guard("scheduling", Las()), "stable_until")


def test_a_guard_has_the_attributes_and_the_repr_of_its_policy():
    watched = guard("placement", Count())
    assert watched.ignores_nodes
    assert repr(watched) == "Count()"
    with pytest.raises(AttributeError):
        watched.nothing_of_the_kind  # noqa: B018


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("scheduling", "las"),
        ("scheduling", "promote:after_s=900"),
        ("placement", "consolidated"),
        ("placement", "random"),
        ("admission", "threshold"),
        ("termination", "completed"),
    ],
)
def test_a_guard_changes_nothing(kind, spec):
    policy = registry.build(kind, spec)
    plain, watched = run_crowd(kind, policy), run_crowd(kind, guard(kind, policy))
    for table in ("jobs", "rounds", "stints"):
        for name, column in getattr(plain, table).items():
            np.testing.assert_array_equal(column, getattr(watched, table)[name], err_msg=f"{table}.{name}")


def test_who_is_foreign(policy_file):
    mine = registry.build(
        "scheduling", policy_file(SCHEDULE + "        return Schedule.ordered(job_state)\n")
    )
    assert is_foreign(mine)
    assert not is_foreign(Las())
    assert not is_foreign(guard("scheduling", mine)), "guarded once is enough"


def test_a_false_history_is_not_believed(policy_file):
    """A plan that does not say which GPUs become free is replaced by what comparison gives."""
    spec = policy_file(
        GOOD + "    def place(self, schedule, cluster_state, job_state):\n"
        "        now = cluster_state.allocation\n"
        "        row = schedule.jobs[schedule.order][:1]\n"
        "        need = job_state.columns.gpus[row]\n"
        "        wanted = Allocation(row, need, np.arange(int(need.sum())))\n"
        "        from blox import Plan\n"
        "        if not len(row) or row[0] in now.jobs:\n"
        "            return wanted\n"
        "        return Plan(launch=wanted, suspend=now.jobs)\n"
    )
    outcome = run_crowd("placement", guard("placement", registry.build("placement", spec)), skip=False)
    assert not outcome.starved
    one_at_a_time = outcome.rounds["running"] <= 1
    assert one_at_a_time.all()


def test_the_kind_must_exist():
    with pytest.raises(BloxError, match="no kind of policy") as stop:
        guard("schedulin", Las())
    assert "did you mean 'scheduling'" in stop.value.fix


def test_a_broken_contract_crosses_processes():
    fault = pickle.loads(pickle.dumps(Broken("what", where="here", fix="so", rule="rows")))
    assert fault.text() == "here: what\n  fix: so"


def test_an_allocation_of_one_s_own_is_enough_to_place(policy_file):
    """The simplest placement that a newcomer writes: a dictionary of rows and GPUs."""
    spec = policy_file(
        GOOD + "    def place(self, schedule, cluster_state, job_state):\n"
        "        free = cluster_state.free_ids().tolist()\n"
        "        wanted = cluster_state.allocation.as_dict()\n"
        "        for row in schedule.jobs[schedule.order].tolist():\n"
        "            need = int(job_state.columns.gpus[row])\n"
        "            if row not in wanted and need <= len(free):\n"
        "                wanted[row] = tuple(free[:need])\n"
        "                free = free[need:]\n"
        "        return Allocation.from_dict(wanted)\n"
    )
    outcome = run_crowd("placement", guard("placement", registry.build("placement", spec)))
    assert not outcome.starved
