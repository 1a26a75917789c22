"""Rectangles of the Gantt view, and the part of the runs that it shows."""

from __future__ import annotations

import numpy as np
import pytest

from blox.report import gpu_bars
from support.toy_runs import toy_run


def test_bars_join_neighbouring_gpus_of_a_job() -> None:
    run = toy_run(jobs=1)
    run.stints.update(
        job=np.array([0, 0, 0, 1, 0]),
        gpu=np.array([1, 0, 3, 2, 9]),
        start_s=np.zeros(5),
        end_s=np.array([5.0, 5.0, 5.0, 5.0, 5.0]),
    )
    found = gpu_bars.bars(run, gpus=8)
    assert list(zip(found.job, found.gpu, found.gpus)) == [(0, 0, 2), (0, 3, 1), (1, 2, 1)]


def test_bars_hold_the_same_gpu_time_as_the_stints() -> None:
    run = toy_run("las", jobs=80)
    found = gpu_bars.bars(run, gpus=16)
    held = np.sum(run.stints["end_s"] - run.stints["start_s"])
    assert np.sum((found.end_s - found.start_s) * found.gpus) == pytest.approx(held)


def test_a_small_run_is_shown_whole() -> None:
    run = toy_run(jobs=10)
    window = gpu_bars.gantt_window([run])
    assert window.whole
    assert (window.gpus, window.start_s, window.end_s) == (
        16,
        run.stints["start_s"].min(),
        run.stints["end_s"].max(),
    )


def test_a_large_run_is_shown_in_part_and_the_same_part_in_every_run() -> None:
    runs = [toy_run(order, jobs=400, gpus=64) for order in ("fifo", "las")]
    window = gpu_bars.gantt_window(runs, gpus=32, most_bars=100)
    assert not window.whole and (window.gpus, window.of_gpus) == (32, 64)
    busiest = runs[0].rounds["time_s"][runs[0].rounds["queued"].argmax()]
    assert runs[0].rounds["queued"].max() >= runs[1].rounds["queued"].max()
    assert window.start_s <= busiest <= window.end_s
    counts = [len(gpu_bars.bars(run, 32).between(window.start_s, window.end_s)) for run in runs]
    assert 0 < max(counts) <= 100


def test_an_empty_run_has_an_empty_window() -> None:
    assert gpu_bars.gantt_window([toy_run(jobs=3, max_rounds=0)]).gpus == 0
