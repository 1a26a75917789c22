"""Why jobs waited, in figures: means and intervals over seeds, or over the days of a trace."""

from __future__ import annotations

import numpy as np
import pytest

from blox import Experiment
from blox.report.causes import PER_JOB, causes_sheet
from blox.report.sheet import Column
from blox.report.sheets import run_sheets
from blox.results.bootstrap import RESAMPLES, resampled_days
from blox.results.result import Result
from support.toy_runs import with_figures

T_95_OF_2 = 4.302652729749464  # Student's t, 97.5 %, two degrees of freedom


def columns(runs: list[object]) -> dict[str, Column]:
    return {column.measure.name: column for column in causes_sheet(runs).columns}  # type: ignore[arg-type]


def test_over_seeds_each_cause_has_the_mean_and_interval_of_its_share() -> None:
    """Three seeds, 100 jobs each: priority makes 50, 60 and 70 % of 1, 2 and 3 hours per job."""
    total = np.array([1.0, 2.0, 3.0]) * 3600 * 100
    share = np.array([0.5, 0.6, 0.7])
    run = with_figures(
        "las",
        submitted=[100, 100, 100],
        wait_admission_s=[0, 0, 0],
        wait_priority_s=(share * total).tolist(),
        wait_capacity_s=((1 - share) * total).tolist(),
        wait_fragmentation_s=[0, 0, 0],
        wait_arrival_s=[0, 0, 0],
    )
    found = columns([run])
    half = T_95_OF_2 / np.sqrt(3)
    assert found["per job"].unit == "h" and found["per job"].texts == ("2.00",)
    assert found["per job"].reach == (f"±{half:.2f}",)
    assert found["priority"].texts == ("60.0",) and found["priority"].reach == (f"±{10 * half:.1f}",)
    assert found["capacity"].texts == ("40.0",) and found["capacity"].reach == (f"±{10 * half:.1f}",)
    assert found["admission"].texts == ("–",) and found["admission"].reach == ("",)


@pytest.fixture(scope="module")
def trace_run(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """14 days on one node of 4 GPUs: 1 to 4 jobs of 4 GPUs and one hour at once on each day, then quiet."""
    path = tmp_path_factory.mktemp("causes") / "days.csv"
    rows = [f"{day}-{at},{86400 * day},4,3600" for day in range(14) for at in range(1 + day % 4)]
    path.write_text("job_id,submit_s,gpus,duration_s\n" + "\n".join(rows) + "\n")
    return Experiment(workload=str(path), cluster="1x4").run()


def test_of_one_trace_days_are_resampled(trace_run: Result) -> None:
    """Every resample has the mean wait of its own jobs; the interval is between their percentiles."""
    waited = np.array([sum(range(1 + day % 4)) for day in range(14)]) * 3600.0
    jobs = np.array([1 + day % 4 for day in range(14)])
    counts = resampled_days(14).astype(float)
    means = counts @ waited / (counts @ jobs)
    sheet = causes_sheet([trace_run])
    shown = {column.measure.name: column for column in sheet.columns}
    assert shown["per job"].unit == "min"
    assert float(shown["per job"].texts[0]) == pytest.approx(waited.sum() / jobs.sum() / 60, abs=0.05)
    reach = float(shown["per job"].reach[0].removeprefix("±")) * 60
    assert len(means) == RESAMPLES and 1.96 * means.std() < reach < 4 * means.std()
    told = sum(float(shown[cause].texts[0]) for cause in ("priority", "capacity"))
    assert told == pytest.approx(100.0, abs=0.2) and shown["priority"].reach[0].startswith("±")


def test_a_run_over_few_days_has_no_interval_of_causes() -> None:
    run = Experiment(workload="philly:load=12,max_gpus=8,jobs=60", cluster="2x4", scheduler="las").run()
    assert all(reach == "" for column in causes_sheet([run]).columns for reach in column.reach)


def test_tables_for_files_have_the_causes(trace_run: Result) -> None:
    assert PER_JOB in [column.measure for sheet in run_sheets([trace_run]) for column in sheet.columns]
