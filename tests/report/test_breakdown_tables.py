"""Figures by group: which measures a table shows, what is distinguishable in each group, in 80 columns."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from blox import BloxError, Experiment
from blox.report.breakdown import Breakdown
from blox.report.group_measures import FAMILIES
from blox.report.page import page
from blox.report.sheet import Row, Sheet
from blox.report.sheet_table import sheet_table
from blox.report.waits import starving, waiting_sheet
from blox.results.replications import Replications

SETTINGS = {"workload": "philly:load=60,max_gpus=4,jobs=120", "cluster": "2x8"}


@pytest.fixture(scope="module")
def runs() -> list[Replications]:
    """fifo, las and srtf on five seeds of an overloaded cluster."""
    return [
        Replications(
            tuple(Experiment(**SETTINGS, scheduler=name, seed=seed).run() for seed in range(5))  # type: ignore[arg-type]
        )
        for name in ("fifo", "las", "srtf")
    ]


def printed(what: object, width: int = 80) -> str:
    text = StringIO()
    Console(file=text, width=width, legacy_windows=False).print(what)
    return text.getvalue()


def test_every_measure_of_groups_can_be_shown_in_80_columns(runs: list[Replications]) -> None:
    found = Breakdown.of(runs, "gpus", ["all"])
    keys = {column.measure.key for column in found.sheet.columns}
    in_csv = {key for key in runs[0].by("gpus") if not key.endswith(("_low", "_high"))} - {"gpus"}
    assert in_csv <= keys, in_csv - keys
    text = printed(sheet_table(found.sheet))
    assert max(map(len, text.splitlines())) <= 80 and "…" not in text
    assert all(value in text for column in found.sheet.columns for value in (*column.texts, *column.reach))


def test_a_measure_is_named_by_its_family_or_its_key(runs: list[Replications]) -> None:
    def shown(*names: str) -> list[str]:
        return [column.measure.key for column in Breakdown.of(runs, "gpus", names).sheet.columns]

    assert shown("p99_jct_s") == ["jobs", "p99_jct_s"]
    assert shown("waiting", "interruptions") == [
        *("jobs", "p95_waited_s", "p99_waited_s", "max_waited_s"),
        *("interruptions", "preemptions", "moves"),
    ]
    assert shown()[:3] == ["jobs", "avg_jct_s", "p95_jct_s"] and len(shown()) < 12
    with pytest.raises(
        BloxError, match=r"no measure of groups is called 'waitin'(.|\n)*did you mean 'waiting'"
    ):
        shown("waitin")


def test_what_is_not_distinguishable_in_a_group_is_said(runs: list[Replications]) -> None:
    """Each group as if it were all there is: the same differences as between runs of its jobs alone."""
    found = Breakdown.of(runs, "gpus").verdicts
    assert found is not None and found.heads[1:] == ("lowest average JCT", "not distinguishable from it")
    by_size = {row.where: row for row in found.rows}
    each = {
        name: [run.by("gpus") for run in seeds.runs] for name, seeds in zip(("fifo", "las", "srtf"), runs)
    }
    mean = {name: sum(by["avg_jct_s"][0] for by in all_of) / 5 for name, all_of in each.items()}
    assert by_size["1"].best.split()[0] == min(mean, key=lambda name: mean[name])
    assert "fifo" not in by_size["1"].others and by_size["1"].change is not None
    assert by_size["1"].change.high < 0  # below fifo, the first run
    text = printed(found.table())
    assert max(map(len, text.splitlines())) <= 80 and "95 % interval)" in text
    assert "not distinguishable" in page(runs, "", ["gpus"])


def test_marks_hold_within_a_group(runs: list[Replications]) -> None:
    sheet = Breakdown.of(runs, "gpus").sheet
    marks = next(column.marks for column in sheet.columns if column.measure.key == "avg_jct_s")
    first = [mark for mark, row in zip(marks, sheet.rows) if row.names[0] == "1"]
    assert first.count("best") == 1 and first[0] == ""  # fifo
    assert not any(next(column.marks for column in sheet.columns if column.measure.key == "gpu_share"))


def test_without_intervals_nothing_is_said_to_be_best() -> None:
    pair = [Experiment(**SETTINGS, scheduler=name).run() for name in ("fifo", "las")]  # type: ignore[arg-type]
    assert Breakdown.of(pair, "gpus").verdicts is None
    assert "Nothing is marked" in page(pair, "", ["gpus"])


def test_a_trace_of_many_days_has_intervals_by_group(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "days.csv"
    rows = [
        f"{day}-{at},{86400 * day + 600 * at},{1 + 3 * (at % 2)},{1800 + 600 * (day % 3)}"
        for day in range(12)
        for at in range(6)
    ]
    path.write_text("job_id,submit_s,gpus,duration_s\n" + "\n".join(rows) + "\n")
    result = Experiment(workload=str(path), cluster="1x4").run()
    found = result.by("gpus")
    assert (found["avg_jct_s_low"] < found["avg_jct_s"]).all()
    assert (found["avg_jct_s"] < found["avg_jct_s_high"]).all()
    assert list(found).index("avg_jct_s_low") == list(found).index("avg_jct_s") + 1


def seeds_of(folder: Path, *sizes: list[int]) -> Replications:
    """A seed for each list: jobs of so many GPUs come every 5 minutes to a node of 4."""
    runs = []
    for seed, of_seed in enumerate(sizes):
        path = folder / "jobs.csv"  # written anew: seeds have one workload
        jobs = [f"{at},{300 * at},{size},2400" for at, size in enumerate(of_seed)]
        path.write_text("job_id,submit_s,gpus,duration_s\n" + "\n".join(jobs) + "\n")
        runs.append(Experiment(workload=str(path), cluster="1x4", scheduler="las", seed=seed).run())
    return Replications(tuple(runs))


def test_a_size_that_a_seed_lacks_is_not_left_out(tmp_path: Path) -> None:
    """Jobs of 4 GPUs are in the first seed alone, and starve: the table and a sentence tell it."""
    both = seeds_of(tmp_path, [1] * 3 + [4] + [1] * 30, [1] * 34)
    sheet = waiting_sheet([both])
    assert [column.measure.name for column in sheet.columns] == ["p95", "p99", "longest", "1", "4"]
    assert sheet.columns[-1].texts[0] != "–" and sheet.columns[-1].reach == ("",)
    (told,) = starving(both)
    assert "of 4 GPUs" in told


def test_a_mean_number_of_jobs_is_not_told_as_one_job(tmp_path: Path) -> None:
    """Two jobs of 4 GPUs in the first of two seeds: one on average."""
    both = seeds_of(tmp_path, [1] * 3 + [4] * 2 + [1] * 30, [1] * 35)
    (told,) = starving(both)
    assert told.startswith("jobs of 4 GPUs wait ")
    assert " at most in the 1 of 2 seeds that have such jobs, while " in told


def test_the_longest_waits_have_one_unit() -> None:
    """Those of most sizes are minutes, those of the largest days."""
    summary = {"p95_waited_s": 70 * 3600.0, "p99_waited_s": 4000.0, "max_waited_s": 90 * 86400.0}
    shown = [replace(measure, group="") for measure in FAMILIES["waiting"]]
    sheet = Sheet.of("waits", ["run"], [Row(("las",), summary)], shown, [], one_unit=True)
    assert {column.unit for column in sheet.columns} == {"h"}


def test_every_family_has_figures_of_groups(runs: list[Replications]) -> None:
    known = set(runs[0].runs[0].by("gpus"))
    asked = {"cost_dollars", "energy_kwh"}  # with --prices and --power
    assert {measure.key for family in FAMILIES.values() for measure in family} - asked <= known
