"""The `gavel` generator: the durations and sizes of Gavel's experiments, with their exact mean."""

from __future__ import annotations

import math

import numpy as np
import pytest

from blox.performance.throughputs import throughputs
from blox.registry import build


def drawn(spec: str) -> dict[str, np.ndarray]:
    tables = list(build("workload", spec).batches(np.random.default_rng(5)))
    return {name: np.concatenate([t.columns[name] for t in tables]) for name in tables[0].columns}


def test_four_jobs_in_five_are_short_and_both_parts_are_log_uniform() -> None:
    minutes = np.log10(drawn("gavel:jobs=400000")["duration_s"] / 60)
    assert minutes.min() >= 1.5 - 1e-6 and minutes.max() <= 4
    short = minutes < 3
    assert short.mean() == pytest.approx(0.8, abs=0.003)
    assert np.histogram(minutes[short], 5, (1.5, 3))[0] / short.sum() == pytest.approx(
        np.full(5, 0.2), abs=0.004
    )
    assert np.histogram(minutes[~short], 5, (3, 4))[0] / (~short).sum() == pytest.approx(
        np.full(5, 0.2), abs=0.007
    )


def test_the_mean_is_exact() -> None:
    short = 60 * (10**3 - 10**1.5) / (1.5 * math.log(10))
    long = 60 * (10**4 - 10**3) / math.log(10)
    mean = 0.8 * short + 0.2 * long  # 16.77 hours
    assert build("workload", "gavel").mix.mean_gpu_seconds == pytest.approx(mean, rel=1e-12)
    assert build("workload", "gavel:multi=true").mix.mean_gpu_seconds == pytest.approx(1.9 * mean, rel=1e-12)
    assert drawn("gavel:jobs=400000")["duration_s"].mean() == pytest.approx(mean, rel=0.015)


def test_jobs_ask_for_one_gpu_unless_told_otherwise() -> None:
    assert set(drawn("gavel:jobs=5000")["gpus"]) == {1}
    assert build("workload", "gavel").largest_gpus == 1


def test_the_multi_gpu_mix() -> None:
    columns = drawn("gavel:multi=true,jobs=400000")
    assert build("workload", "gavel:multi=true").largest_gpus == 8
    for gpus, share in {1: 0.70, 2: 0.10, 4: 0.15, 8: 0.05}.items():
        assert np.mean(columns["gpus"] == gpus) == pytest.approx(share, abs=0.003)
    several = set(columns["model"][columns["gpus"] > 1])
    assert several == {"Resnet-18", "Resnet-50", "LSTM", "Transformer"}
    assert len(set(columns["model"][columns["gpus"] == 1])) == 7


def test_offered_load_becomes_jobs_per_hour() -> None:
    workload = build("workload", "gavel:multi=true,offered=0.9,gpus=10000")
    assert workload.jobs_per_hour == pytest.approx(282.507, abs=0.001)  # 9000 GPUs / 31.858 GPU-hours
    capped = build("workload", "gavel:multi=true,offered=0.9,gpus=10000,max_gpus=4")
    assert capped.largest_gpus == 4
    assert capped.jobs_per_hour == pytest.approx(282.507 * 1.9 * 0.95 / 1.5, abs=0.001)


def test_job_types_have_batch_sizes_and_rows_in_the_table_of_throughputs() -> None:
    columns = drawn("gavel:multi=true,job_types=true,jobs=50000")
    known = throughputs().alone
    assert {(model, gpus) for model, gpus in zip(columns["model"], columns["gpus"])} <= set(known)
    single = columns["model"][columns["gpus"] == 1]
    names, counts = np.unique(single.astype(str), return_counts=True)
    assert len(names) == 26 and counts / len(single) == pytest.approx(np.full(26, 1 / 26), abs=0.004)


def test_priorities_and_slos_leave_the_jobs_as_they_are() -> None:
    plain, more = drawn("gavel:jobs=20000"), drawn("gavel:jobs=20000,priorities=true,slos=true")
    for name in ("submit_s", "duration_s", "model", "user"):
        assert np.array_equal(plain[name], more[name])
    assert np.mean(more["priority"] == 5) == pytest.approx(0.2, abs=0.01)
    assert set(more["priority"]) == {1, 5}
    factor = (more["deadline_s"] - more["submit_s"]) / more["duration_s"]
    for each in (1.2, 2.0, 10.0):
        assert np.mean(np.isclose(factor, each)) == pytest.approx(1 / 3, abs=0.015)
