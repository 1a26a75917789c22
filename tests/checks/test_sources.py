"""Workloads and performance models against their contracts: every registered one, and broken ones."""

import pytest

from blox import registry
from blox.checks import check

HEAD = """
import numpy as np
from blox.workloads.table import JobTable
"""
BROKEN = {
    "jobs": (
        "workload",
        """
        @dataclass(frozen=True)
        class Mine:
            \"\"\"Jobs backwards.\"\"\"

            def batches(self, rng):
                for at in (100.0, 50.0):
                    columns = {"job_id": np.array([str(at)], dtype=object), "submit_s": np.array([at]),
                               "gpus": np.array([1]), "duration_s": np.array([10.0])}
                    yield JobTable(columns)
        """,
    ),
    "repeatable": (
        "workload",
        """
        @dataclass(frozen=True)
        class Mine:
            \"\"\"Jobs by chance.\"\"\"

            def batches(self, rng):
                columns = {"job_id": np.array(["a"], dtype=object), "submit_s": np.array([0.0]),
                           "gpus": np.array([1]), "duration_s": np.array([1.0 + random.random()])}
                yield JobTable(columns)
        """,
    ),
    "rates": (
        "performance",
        """
        @dataclass(frozen=True)
        class Mine:
            \"\"\"No job runs.\"\"\"

            def rate(self, grants, cluster_state, job_state):
                return np.zeros(len(grants.jobs))
        """,
    ),
    "runs": (
        "performance",
        """
        @dataclass(frozen=True)
        class Mine:
            \"\"\"Cannot be asked.\"\"\"

            def rate(self, grants, cluster_state, job_state):
                raise ValueError("not today")
        """,
    ),
}


GENERATORS = [
    name for name, cls in registry.classes("workload").items() if "jobs" in registry.parameters(cls)
]


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_conforms(name):
    report = check(f"{name}:jobs=50", "workload")
    assert report.ok, report


@pytest.mark.parametrize("name", ["duration", "spread", "throughputs", "table"])
def test_performance_models_of_rigid_jobs_conform(name):
    report = check(name, "performance")
    assert report.ok, report


@pytest.mark.parametrize("rule", BROKEN)
def test_what_is_broken_is_told(rule, policy_file):
    kind, text = BROKEN[rule]
    spec = policy_file(text)
    with open("mine.py") as file:
        source = file.read()
    with open("mine.py", "w") as file:
        file.write(HEAD + source)
    report = check(spec, kind)
    assert [fault.rule for fault in report.faults] == [rule], report
