"""Tables of figures: by group, the longest waits, and their forms as files."""

from __future__ import annotations

import csv
import io
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from blox import BloxError, Experiment
from blox.report.breakdown import Breakdown
from blox.report.page import page
from blox.report.sheet import Row, Sheet
from blox.report.sheet_files import to_csv, to_latex, to_markdown, write_table
from blox.report.sheet_table import sheet_table
from blox.report.sheets import further_sheet, run_sheets
from blox.report.waits import starving, waiting_sheet
from blox.results.replications import Replications
from blox.results.result import Result

# One node of 4 GPUs. Small jobs of tenant x&y keep coming and use 3 of them; big ones of z need all four.
TRACE = "job_id,submit_s,gpus,duration_s,tenant\n" + "".join(
    f"s{i},{500 * i},1,1500,x&y\n" if i % 12 else f"b{i},{500 * i},4,6000,z\n" for i in range(60)
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    path = tmp_path_factory.mktemp("sheets") / "trace.csv"
    path.write_text(TRACE)
    settings = {"workload": str(path), "cluster": "1x4", "prices": "2", "metrics": "waited-over:hours=1"}
    return [Experiment(scheduler=scheduler, **settings).run() for scheduler in ("las", "fifo-priority")]


def printed(what: object, width: int) -> str:
    text = StringIO()
    Console(file=text, width=width, legacy_windows=False).print(what)
    return text.getvalue()


def test_a_breakdown_has_a_row_per_group_and_run(runs: list[Result]) -> None:
    sheet = Breakdown.of(runs, "tenant").sheet
    assert [row.names for row in sheet.rows] == [
        ("x&y", "las"),
        ("x&y", "fifo-priority"),
        ("z", "las"),
        ("z", "fifo-priority"),
    ]
    by_key = {column.measure.key: column for column in sheet.columns}
    assert by_key["jobs"].texts == ("55", "55", "5", "5")
    assert {"avg_jct_s", "p95_waited_s", "cost_dollars", "waited-over:hours=1", "gpu_share"} <= set(by_key)
    assert not any(mark for column in sheet.columns for mark in column.marks)  # too few days to tell


@pytest.mark.parametrize("width", [80, 100])
def test_no_column_is_cut_off(runs: list[Result], width: int) -> None:
    for sheet in (*run_sheets(runs), Breakdown.of(runs, "gpus").sheet, Breakdown.of(runs, "tenant").sheet):
        text = printed(sheet_table(sheet), width)
        assert max(map(len, text.splitlines())) <= width and "…" not in text
        for column in sheet.columns:
            assert all(value in text for value in column.texts), column.measure.key


def test_the_longest_waits_are_told_by_gpu_count(runs: list[Result]) -> None:
    text = printed(sheet_table(waiting_sheet(runs)), 100)
    assert "longest waits" in text and "GPUs" in text
    sheet = waiting_sheet(runs)
    assert [column.measure.name for column in sheet.columns] == ["p95", "p99", "longest", "1", "4"]
    by_gpus = runs[0].summary["waited_by_gpus"]
    assert by_gpus["4"]["p95_s"] > 10 * by_gpus["1"]["p95_s"]


def test_a_starving_size_is_told_in_a_sentence(runs: list[Result]) -> None:
    (told,) = starving(runs[0])
    assert told.startswith("the 5 jobs of 4 GPUs wait ") and "at p95" in told and "on average" in told
    text = page(runs, "")
    assert "starvation" in text and f">las: {told}" in text
    assert starving(Experiment(workload="constant", jobs=20, cluster="2x4").run()) == []


def test_a_mean_number_of_jobs_is_not_told_as_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A size that two of three seeds have."""
    figures = {"p95_waited_s": 9e4, "max_waited_s": 1e5, "jobs": 2 / 3}
    group = SimpleNamespace(value="8", summary=figures)
    monkeypatch.setattr("blox.report.waits.waits_by_gpus", lambda run: [group])
    (told,) = starving(SimpleNamespace(summary={"avg_responsiveness_s": 60.0}))  # type: ignore[arg-type]
    assert told.startswith("jobs of 8 GPUs wait 25 h at p95")


def test_the_page_has_the_groups_that_were_asked_for(runs: list[Result]) -> None:
    text = page(runs, "", ["tenant", "gpus"])
    assert 'id="by-tenant"' in text and 'id="by-gpus"' in text and "By GPU count" in text
    assert "x&amp;y" in text and "waited-<" not in text
    assert 'id="by-' not in page(runs, "")


def test_csv_has_every_figure_of_runs_and_groups(runs: list[Result]) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(runs, ["gpus"]))))
    assert [(row["by"], row["group"], row["run"]) for row in rows] == [
        ("", "", "las"),
        ("", "", "fifo-priority"),
        ("gpus", "1", "las"),
        ("gpus", "4", "las"),
        ("gpus", "1", "fifo-priority"),
        ("gpus", "4", "fifo-priority"),
    ]
    assert float(rows[0]["avg_jct_s"]) == runs[0].summary["avg_jct_s"]
    assert float(rows[3]["p95_waited_s"]) == runs[0].by("gpus")["p95_waited_s"][1]
    assert float(rows[0]["waited_by_gpus.4.p95_s"]) == float(rows[3]["p95_waited_s"])


def test_markdown_shows_names_as_they_are_written() -> None:
    rows = (Row(("<script>alert(1)</script>", "a|b"), {}),)
    markdown = to_markdown([Sheet("by tenant", ("tenant", "run"), rows, ())])
    assert "| &lt;script>alert(1)&lt;/script> | a\\|b |" in markdown


def test_latex_and_markdown_say_the_same(runs: list[Result]) -> None:
    sheets = [*run_sheets(runs), Breakdown.of(runs, "tenant").sheet]
    latex, markdown = to_latex(sheets), to_markdown(sheets)
    assert latex.count("\\begin{tabular}") == latex.count("\\end{tabular}") == 5
    assert "x\\&y & las & 55" in latex and "\\addlinespace" in latex and "cost (\\$)" in latex
    assert "| x&y | las | 55 |" in markdown and "**by tenant**" in markdown
    rows = [line for line in latex.splitlines() if line.startswith("las")]
    widths = [len(sheet.heads) + len(sheet.columns) - 1 for sheet in sheets[:4]]
    assert [row.count(" & ") for row in rows] == widths


@pytest.mark.parametrize("name", ["t.csv", "t.md", "t.tex", "deep/t.csv"])
def test_the_name_of_a_file_says_its_form(runs: list[Result], tmp_path: Path, name: str) -> None:
    write_table(tmp_path / name, runs, ["tenant"])
    assert "las" in (tmp_path / name).read_text()


def test_another_form_is_refused(runs: list[Result], tmp_path: Path) -> None:
    with pytest.raises(BloxError, match=r"no table can be written as '.xlsx'(.|\n)*\.csv, \.md or \.tex"):
        write_table(tmp_path / "t.xlsx", runs)


def test_over_several_seeds_groups_have_means(tmp_path: Path) -> None:
    each = [
        Experiment(workload="philly:load=8,jobs=40,max_gpus=8", cluster="4x4", seed=seed).run()
        for seed in (1, 2)
    ]
    found = Replications(tuple(each)).by("gpus")
    apart = [run.by("gpus") for run in each]
    assert found["jobs"].sum() == 40
    ones = [int(table["jobs"][table["gpus"].tolist().index(1)]) for table in apart]
    assert found["jobs"][0] == sum(ones) / 2
    jct = [table["avg_jct_s"][table["gpus"].tolist().index(1)] for table in apart]
    assert found["avg_jct_s"][0] == pytest.approx(sum(jct) / 2)
    waits = Replications(tuple(each)).summary["waited_by_gpus"]["1"]["jobs"]
    assert waits == sum(ones) / 2


def test_figures_that_no_run_has_are_left_out() -> None:
    plain = Experiment(workload="constant", jobs=4, cluster="2x4").run()
    keys = [column.measure.key for column in further_sheet([plain]).columns]
    assert keys == ["avg_slowdown", "p95_slowdown", "gpu_hours"]
