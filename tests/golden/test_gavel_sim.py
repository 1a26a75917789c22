"""The results of Gavel's own simulator, run by run.

Every row of `gavel/sim/summary.csv` in the shared folder and in `tests/golden/data` is a case. Where no
solver's choice enters (`deterministic` = 1, and gandiva, whose draws are the original's), every job's
JCT is the original's, and so are utilisation, leases extended and the rounds, as the original counts them:
passes of its loop. Elsewhere many allocations are optimal and the original's solver picks one:
averages are compared, within the tolerances below.
"""

from pathlib import Path

import numpy as np
import pytest

from blox import Experiment
from support.goldens import check_cases, label, listed_cases, rows_of
from support.places import SHARED

LONG = 1000  # rounds: such runs are not for the quick suite, but for one in each trace
CASES = [case for case in listed_cases("gavel/sim") if not case["error"]]


def tolerances(policy):
    """(of the average JCT, of the makespan), relative; None: not compared."""
    if "packed" in policy:
        return 0.05, 0.05
    if policy.startswith("finish_time_fairness"):
        return 0.05, 0.02
    if policy.startswith("min_total_duration"):
        return None, 0.02
    return 0.02, 0.02


def experiment_of(case):
    gpus = zip(("v100", "p100", "k80"), case["cluster"].split(":"))
    beside = case["origin"] / case["throughputs"]
    table = beside if beside.is_file() else SHARED / "data" / "gavel" / case["throughputs"]
    if not table.is_file():
        pytest.skip(f"absent: {table}")
    return Experiment(
        workload=f"gavel:{case['origin'] / 'traces' / case['trace']}?throughputs={table}",
        cluster=",".join(f"{name}={count}x1" for name, count in gpus if int(count)),
        compat=f"gavel:policy={case['policy']},throughputs={table}",
    )


def params():
    found = []
    for case in CASES:
        long = int(case["rounds"]) > LONG and case["deterministic"] == "0"
        name = label(case, Path(case["file"]).name.removesuffix(".jobs.csv"))
        found.append(pytest.param(case, id=name, marks=[pytest.mark.slow] if long else []))
    return found


def test_there_are_cases():
    check_cases("gavel/sim", CASES)


@pytest.mark.parametrize("case", params())
def test_equals_the_original(case):
    result = experiment_of(case).run()
    original = {row["job_id"]: row["jct"] for row in rows_of(case["origin"] / case["file"])}
    want = np.array([float(original[str(job)] or "nan") for job in result.jobs["job_id"].tolist()])
    have = result.jobs["jct_s"]
    assert len(have) == int(case["num_jobs"])
    assert int((~np.isnan(have)).sum()) == int(case["num_completed"])
    if case["deterministic"] == "1" or case["policy"] == "gandiva":
        apart = np.flatnonzero(~np.isclose(have, want, rtol=1e-6, atol=0, equal_nan=True))
        told = [f"job {i}: {have[i]!r}, the original's is {want[i]!r}" for i in apart[:10].tolist()]
        assert not told, f"{len(apart)} differ\n" + "\n".join(told)
        assert result.summary["utilisation"] == pytest.approx(float(case["util"]), rel=1e-9)
        assert 100 * result.summary["leases_extended"] == pytest.approx(
            float(case["lease_ext_pct"]), rel=1e-9
        )
        assert result.summary["rounds_run"] == int(case["rounds"])
        return
    jct, makespan = tolerances(case["policy"])
    if jct is not None:
        assert result.summary["avg_jct_s"] == pytest.approx(float(case["avg_jct"]), rel=jct)
    assert result.summary["makespan_s"] == pytest.approx(float(case["makespan"]), rel=makespan)
    assert result.summary["rounds_run"] == pytest.approx(int(case["rounds"]), rel=makespan)
