"""How GPUs are divided between tenants over time, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from blox import Experiment
from blox.results.tenants import fair_shares, tenant_course
from support.traces import trace


def course(jobs, stints, gpus=4, end_s=100.0, **options):
    """`jobs`: (tenant, gpus, submit, finish); `stints`: (job, start, end)."""
    tenant, asked, submit, finish = zip(*jobs)
    job, start, end = zip(*stints)
    run = SimpleNamespace(
        jobs={
            "tenant": np.array(tenant, dtype=object),
            "gpus": np.array(asked),
            "submit_s": np.array(submit, dtype=float),
            "finish_s": np.array(finish, dtype=float),
        },
        stints={
            "job": np.array(job),
            "start_s": np.array(start, dtype=float),
            "end_s": np.array(end, dtype=float),
        },
        rounds={"time_s": np.array([0.0, 50.0]), "gpus_total": np.array([gpus, gpus])},
        summary={"end_s": end_s},
    )
    return tenant_course(run, **options)


def test_one_tenant_that_has_everything_while_another_waits():
    found = course(
        [("a", 4, 0, 50), ("b", 2, 0, np.nan)],
        [(0, 0, 50)] * 4 + [(1, 50, 100)] * 2,
        intervals=2,
    )
    assert found.names == ("a", "b") and found.edges_s.tolist() == [0, 50, 100]
    assert found.asked.tolist() == [[4, 0], [2, 2]]
    assert found.held.tolist() == [[4, 0], [0, 2]]
    assert found.fair.tolist() == [[2, 0], [2, 2]]
    assert found.served[:, 0].tolist() == [2, 0] and np.isnan(found.served[0, 1]) and found.served[1, 1] == 1
    assert found.index[0] == pytest.approx(0.5), "one of two has everything"
    assert np.isnan(found.index[1]), "alone, nothing is to be divided"


def test_an_interval_has_averages():
    found = course([("a", 4, 0, 100), ("b", 4, 20, 100)], [(0, 0, 50)] * 4 + [(1, 50, 100)] * 4, intervals=1)
    assert found.asked.tolist() == [[4], [pytest.approx(3.2)]]
    assert found.held.tolist() == [[2], [2]] and found.fair.tolist() == [[2], [2]]
    assert found.index.tolist() == [pytest.approx(1.0)]


@pytest.mark.parametrize(
    ("asked", "total", "weight", "shares"),
    [
        ([1, 4, 9], 9, [1, 1, 1], [1, 4, 4]),
        ([1, 1, 1], 9, [1, 1, 1], [1, 1, 1]),
        ([9, 9], 9, [2, 1], [6, 3]),
        ([3, 9], 9, [2, 1], [3, 6]),
        ([0, 5], 0, [1, 1], [0, 0]),
    ],
)
def test_shares_are_max_min(asked, total, weight, shares):
    found = fair_shares(
        np.array(asked, dtype=float)[:, None], np.array([total]), np.array(weight, dtype=float)
    )
    assert found[:, 0].tolist() == pytest.approx(shares)


def test_shares_never_exceed_what_there_is_or_what_is_asked_for():
    rng = np.random.default_rng(5)
    asked, total = rng.exponential(4, (7, 300)), rng.uniform(0, 40, 300)
    weight = rng.uniform(0.5, 2, 7)
    found = fair_shares(asked, total, weight)
    assert (found <= asked + 1e-9).all()
    assert found.sum(axis=0) == pytest.approx(np.minimum(total, asked.sum(axis=0)))


def test_a_run_tells_its_tenants_and_without_any_nothing(tmp_path):
    rows = [(i, 0, 1, 600, ("ann", "bob")[i % 2]) for i in range(8)]
    two = trace(tmp_path / "two.csv", rows, header="job_id,submit_s,gpus,duration_s,user")
    found = tenant_course(Experiment(workload=two, cluster="1x2", round_s=60.0).run())
    assert found.column == "user" and found.names == ("ann", "bob")
    assert found.held.sum() * np.diff(found.edges_s)[0] == pytest.approx(8 * 600)
    assert np.nanmin(found.index) > 0.9, "first come, first served, in turns"
    one = trace(tmp_path / "one.csv", [(0, 0, 1, 600)], header="job_id,submit_s,gpus,duration_s")
    assert tenant_course(Experiment(workload=one, cluster="1x2").run()) is None
