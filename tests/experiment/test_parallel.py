"""`blox.run_all`: experiments in, whole results out, whatever the number of processes."""

import multiprocessing
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import blox
from blox.experiment import parallel

SMALL = {"workload": "constant:every_s=100,job_gpus=2,duration_s=900,jobs=12", "cluster": "1x4"}


def test_results_come_in_order_and_whole():
    experiments = [blox.Experiment(**SMALL, scheduler=name) for name in ("las", "fifo", "srtf")]
    alone, together = blox.run_all(experiments, processes=1), blox.run_all(experiments, processes=2)
    assert [result.label for result in together] == ["las", "fifo", "srtf"]
    for one, other in zip(alone, together):
        assert one.summary == other.summary
        for table in ("jobs", "rounds", "stints"):
            for name, column in getattr(one, table).items():
                assert np.array_equal(column, getattr(other, table)[name], equal_nan=column.dtype == float)


def test_the_first_run_that_fails_is_raised():
    wrong = [blox.Experiment(**SMALL, scheduler=name) for name in ("fifo", "lass")]
    with pytest.raises(blox.BloxError, match="lass"):
        blox.run_all(wrong, processes=1)


@pytest.mark.parametrize("processes", [1, 2])
def test_outcomes_come_as_they_end_and_stopping_between_two_ends_the_rest(processes):
    tasks = [parallel.Task(blox.Experiment(**SMALL, seed=seed)) for seed in range(6)]
    assert sorted(number for number, _ in parallel.run_each(tasks, processes)) == list(range(6))
    ending = parallel.run_each(tasks, processes)
    number, outcome = next(ending)
    assert outcome.task == tasks[number] and outcome.result is not None
    ending.close()
    assert not multiprocessing.active_children()


def test_ctrl_c_is_nothing_to_a_process_that_is_starting():
    worker = parallel._Worker()
    try:
        os.kill(worker.process.pid, signal.SIGINT)
        worker.give(0, parallel.Task(blox.Experiment(**SMALL)))
        while not isinstance(outcome := worker.receive(), parallel.Outcome):
            pass
        assert outcome.error is None and outcome.result.summary["finished"] == 12
    finally:
        worker.stop()
        worker.join()


def test_a_program_that_does_not_guard_its_start_is_told_so(tmp_path):
    program = tmp_path / "unguarded.py"
    program.write_text(
        f"""
import blox

blox.run_all([blox.Experiment(**{SMALL!r}, seed=each) for each in (1, 2)], processes=2)
"""
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=600)
    assert done.returncode != 0
    assert 'call run_all() below `if __name__ == "__main__":`' in done.stderr
