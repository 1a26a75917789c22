"""Progress: begin, bank, rebase and report, by hand; few jobs as plain numbers equal many as arrays."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blox.state import progress
from blox.state.jobs import JobState
from support.states import staged

COLUMNS = ("done0", "rate", "anchor", "held_gpus", "gpu_rate", "held_since", "held0", "run0", "first_start_s")
JOBS = 5


@pytest.fixture(scope="module")
def state():
    """A function that gives a job state with so many jobs, admitted at 0."""

    def admitted(jobs: int = 1) -> JobState:
        job_state = staged([1] * jobs)
        job_state.submit(jobs)
        job_state.add_new_jobs(job_state.waiting)
        return job_state

    return admitted


def values(job_state: JobState, row: int = 0) -> dict[str, float]:
    return {name: getattr(job_state.columns, name)[row].item() for name in COLUMNS}


ROW = np.array([0])


def test_a_stint_counts_gpu_time_from_its_begin_and_work_from_its_anchor(state):
    job_state = state()
    job_state.now = 100.0
    progress.begin(job_state, ROW, np.array([4]), 0.5, 130.0)  # 4 GPUs, a launch of 30 s, half speed
    job_state.now = 120.0
    assert job_state.done_s().tolist() == [0.0]
    assert job_state.gpu_seconds().tolist() == [80.0]
    job_state.now = 150.0
    assert job_state.done_s().tolist() == [10.0]
    progress.bank(job_state, ROW, 150.0)
    assert values(job_state) == {
        "done0": 10.0, "rate": 0.0, "anchor": 130.0, "held_gpus": 0, "gpu_rate": 0.0,
        "held_since": 150.0, "held0": 200.0, "run0": 50.0, "first_start_s": 100.0,
    }  # fmt: skip
    job_state.now = 1000.0
    assert (job_state.done_s().item(), job_state.gpu_seconds().item()) == (10.0, 200.0)


def test_a_stint_that_ends_within_its_launch_has_done_nothing(state):
    job_state = state()
    progress.begin(job_state, ROW, np.array([2]), 1.0, 30.0)
    progress.bank(job_state, ROW, 20.0)
    assert values(job_state)["done0"] == 0.0
    assert values(job_state)["held0"] == 40.0


def test_the_first_start_stays_the_first(state):
    job_state = state()
    job_state.now = 10.0
    progress.begin(job_state, ROW, np.array([1]), 1.0, 10.0)
    progress.bank(job_state, ROW, 20.0)
    job_state.now = 50.0
    progress.begin(job_state, ROW, np.array([1]), 1.0, 50.0)
    assert values(job_state)["first_start_s"] == 10.0


def test_a_rebased_job_keeps_its_work_and_goes_on_at_the_new_rate(state):
    job_state = state()
    progress.begin(job_state, ROW, np.array([1]), 2.0, 0.0)
    job_state.now = 100.0
    assert progress.rebase(job_state, ROW).tolist() == [100.0]
    progress.set_rate(job_state, ROW, 0.5)
    job_state.now = 140.0
    assert job_state.done_s().tolist() == [220.0]
    assert values(job_state)["held_since"] == 0.0  # the stint goes on


def test_a_job_can_be_rebased_where_it_changed_its_rate_before_now(state):
    job_state = state()
    progress.begin(job_state, ROW, np.array([1]), 2.0, 0.0)
    job_state.now = 100.0
    assert progress.rebase(job_state, ROW, 60.0).tolist() == [60.0]
    progress.set_rate(job_state, ROW, 0.5)
    assert job_state.done_s().tolist() == [140.0]


def test_a_job_rebased_within_its_launch_goes_on_from_the_end_of_the_launch(state):
    job_state = state()
    progress.begin(job_state, ROW, np.array([1]), 2.0, 30.0)
    job_state.now = 10.0
    assert progress.rebase(job_state, ROW).tolist() == [30.0]
    assert progress.rebase(job_state, ROW, 20.0).tolist() == [30.0]
    assert values(job_state)["done0"] == 0.0


def test_a_report_replaces_what_was_expected(state):
    job_state = state()
    progress.begin(job_state, ROW, np.array([1]), 1.0, 0.0)
    progress.report(job_state, 0, 7.0, 50.0)
    job_state.now = 60.0
    assert job_state.done_s().tolist() == [17.0]


# -- the scalar form equals the array form, to the last bit -------------------------------------------

numbers = st.floats(0, 1e9, allow_nan=False, allow_subnormal=False)
rates = st.floats(0, 64, allow_nan=False, allow_subnormal=False)
some = st.lists(st.integers(0, JOBS - 1), min_size=1, unique=True)


@st.composite
def operations(draw):
    """What happens to some jobs, one after another; times do not run backwards."""
    now, found = 0.0, []
    for _ in range(draw(st.integers(1, 8))):
        now += draw(st.floats(0, 1e7, allow_nan=False))
        rows = np.array(draw(some))

        def each(elements, rows=rows):
            return np.array(draw(st.lists(elements, min_size=len(rows), max_size=len(rows))))

        kind = draw(st.sampled_from(["begin", "begin alike", "bank", "bank now", "rebase", "report"]))
        ahead = now + each(st.sampled_from([0.0, 0.1, 30.0, 1e5]))
        found.append((kind, now, rows, each(st.integers(1, 64)), each(rates), ahead, each(numbers)))
    return found


def apply_arrays(job_state, kind, now, rows, gpus, rate, ahead, done):
    job_state.now = now
    match kind:
        case "begin":
            progress.begin(job_state, rows, gpus, rate, ahead)
        case "begin alike":
            progress.begin(job_state, rows, gpus, rate[0].item(), ahead[0].item())
        case "bank":
            progress.bank(job_state, rows, ahead)
        case "bank now":
            progress.bank(job_state, rows, now)
        case "rebase":
            progress.rebase(job_state, rows)
            progress.set_rate(job_state, rows, rate)
        case "report":
            progress.report(job_state, rows, done, now)


def apply_scalars(job_state, kind, now, rows, gpus, rate, ahead, done):
    job_state.now = now
    if kind == "rebase":
        for row, speed in zip(rows.tolist(), rate.tolist()):
            progress.rebase(job_state, job_state.one(row))
            progress.set_rate(job_state, row, speed)
    elif kind == "report":
        for row, work in zip(rows.tolist(), done.tolist()):
            progress.report(job_state, row, work, now)
    else:
        apply_arrays(job_state, kind, now, rows, gpus, rate, ahead, done)


@given(happened=operations())
def test_plain_numbers_leave_the_same_bits_as_arrays(state, happened):
    arrays, scalars = state(JOBS), state(JOBS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "SCALAR_MAX", 0)
        for operation in happened:
            apply_arrays(arrays, *operation)
    for operation in happened:
        apply_scalars(scalars, *operation)
    for name in COLUMNS:
        left, right = getattr(arrays.columns, name)[:JOBS], getattr(scalars.columns, name)[:JOBS]
        assert left.tobytes() == right.tobytes(), name


# -- one home -----------------------------------------------------------------------------------------


def test_only_progress_writes_these_columns():
    source = Path(progress.__file__).parents[1]
    wrong = []
    for file in source.rglob("*.py"):
        if file == Path(progress.__file__):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            targets = node.targets if isinstance(node, ast.Assign) else []
            if isinstance(node, ast.AugAssign):
                targets = [node.target]
            for target in targets:
                for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                    written = each.value if isinstance(each, ast.Subscript) else None
                    if isinstance(written, ast.Attribute) and written.attr in COLUMNS:
                        wrong.append(f"{file.relative_to(source)}:{node.lineno}")
    assert not wrong, f"progress is written in {wrong}: call blox.state.progress"
