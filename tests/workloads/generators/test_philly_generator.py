"""The `philly` generator against its own table, and the table against the trace that it was taken from."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from blox.registry import build
from blox.workloads.generators.philly import MIX, Philly
from blox.workloads.philly_statistics import DURATIONS_S, JOBS_BY_GPUS, JOBS_BY_TENANT, SHARES
from support.places import SHARED


@pytest.fixture(scope="module")
def trace() -> dict[str, np.ndarray]:
    """GPUs, seconds and virtual cluster of each job of the Philly trace."""
    path = SHARED / "data" / "philly.csv"
    if not path.is_file():
        pytest.skip(f"absent: {path}")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {
        "gpus": np.array([int(row["num_gpus"]) for row in rows]),
        "duration_s": np.array([float(row["duration"]) for row in rows]),
        "tenant": np.array([row["cluster"] for row in rows]),
    }


@pytest.fixture(scope="module")
def drawn() -> dict[str, np.ndarray]:
    """A million generated jobs."""
    tables = list(Philly(jobs=1_000_000).batches(np.random.default_rng(7)))
    return {
        name: np.concatenate([t.columns[name] for t in tables]) for name in ("gpus", "duration_s", "model")
    }


def test_the_table_is_the_traces_own_quantiles_to_three_digits(trace: dict[str, np.ndarray]) -> None:
    sizes, counts = np.unique(trace["gpus"], return_counts=True)
    assert dict(zip(sizes.tolist(), counts.tolist())) == JOBS_BY_GPUS
    for pooled, table in DURATIONS_S.items():
        seconds = trace["duration_s"][np.isin(trace["gpus"], pooled)]
        assert np.asarray(table) == pytest.approx(np.quantile(seconds, SHARES), rel=0.0051)
    tenants = np.sort(np.unique(trace["tenant"], return_counts=True)[1])[::-1]
    assert tuple(tenants[tenants >= 10].tolist()) == JOBS_BY_TENANT


def test_the_gpu_mix_is_within_a_percentage_point_of_the_trace(
    trace: dict[str, np.ndarray], drawn: dict[str, np.ndarray]
) -> None:
    for size in JOBS_BY_GPUS:
        assert np.mean(drawn["gpus"] == size) == pytest.approx(np.mean(trace["gpus"] == size), abs=0.01)
    assert drawn["gpus"].mean() == pytest.approx(trace["gpus"].mean(), rel=0.02)


@pytest.mark.parametrize("pooled", DURATIONS_S, ids=str)
def test_durations_of_each_size_follow_the_trace(
    trace: dict[str, np.ndarray], drawn: dict[str, np.ndarray], pooled: tuple[int, ...]
) -> None:
    real = trace["duration_s"][np.isin(trace["gpus"], pooled)]
    ours = drawn["duration_s"][np.isin(drawn["gpus"], pooled)]
    table = MIX.durations[MIX.sizes.index(pooled[0])]
    assert table.at(np.array(SHARES[3:21])) == pytest.approx(
        np.quantile(real, SHARES[3:21]), rel=0.01
    )  # p10..p95
    assert table.mean == pytest.approx(real.mean(), rel=0.05)
    # A draw of n jobs misses the share p by up to about four standard deviations; within that band of
    # shares the drawn quantile lies within 10 % of the trace's.
    for share in (0.1, 0.25, 0.5, 0.75, 0.9, 0.95):
        slack = 4 * np.sqrt(share * (1 - share) / len(ours))
        low, high = np.quantile(real, (share - slack, share + slack))
        assert 0.9 * low <= np.quantile(ours, share) <= 1.1 * high


def test_mean_gpu_time_is_that_of_the_trace(
    trace: dict[str, np.ndarray], drawn: dict[str, np.ndarray]
) -> None:
    real = (trace["gpus"] * trace["duration_s"]).mean()
    assert MIX.mean_gpu_seconds == pytest.approx(real, rel=0.02)
    assert (drawn["gpus"] * drawn["duration_s"]).mean() == pytest.approx(real, rel=0.1)
    assert drawn["duration_s"].mean() == pytest.approx(trace["duration_s"].mean(), rel=0.1)


def test_models_are_those_of_table_2_equally_often(drawn: dict[str, np.ndarray]) -> None:
    models, counts = np.unique(drawn["model"], return_counts=True)
    assert set(models) == {"Resnet-18", "CycleGan", "Resnet-50", "LSTM", "Recoder", "Transformer", "A3C"}
    assert counts / counts.sum() == pytest.approx(np.full(7, 1 / 7), abs=0.002)


def test_max_gpus_draws_larger_jobs_again() -> None:
    workload = build("workload", "philly:max_gpus=8,jobs=300000")
    assert workload.largest_gpus == 8 and Philly().largest_gpus == 128
    assert build("workload", "philly:max_gpus=20").largest_gpus == 16
    gpus = np.concatenate([t.columns["gpus"] for t in workload.batches(np.random.default_rng(1))])
    kept = {size: jobs for size, jobs in JOBS_BY_GPUS.items() if size <= 8}
    for size, jobs in kept.items():
        assert np.mean(gpus == size) == pytest.approx(jobs / sum(kept.values()), abs=0.002)
