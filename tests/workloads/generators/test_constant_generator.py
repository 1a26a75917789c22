"""The `constant` generator: equal jobs at equal intervals."""

from __future__ import annotations

import numpy as np

from blox.registry import build


def test_a_job_comes_every_so_many_seconds() -> None:
    workload = build("workload", "constant:every_s=60,job_gpus=4,duration_s=1800,jobs=5")
    (table,) = workload.batches(np.random.default_rng(0))
    assert table.columns["submit_s"].tolist() == [0, 60, 120, 180, 240]
    assert table.columns["gpus"].tolist() == [4] * 5
    assert table.columns["duration_s"].tolist() == [1800] * 5
    assert workload.largest_gpus == 4


def test_it_does_not_end_where_no_count_is_given() -> None:
    stream = build("workload", "constant:every_s=10").batches(np.random.default_rng(0))
    first, second = next(stream), next(stream)
    assert second.columns["submit_s"][0] == first.columns["submit_s"][-1] + 10
    assert second.columns["job_id"][0] == len(first)
