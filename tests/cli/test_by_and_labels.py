"""--by, --table, --metric, --label, --prices and --power as a user types them."""

import csv

import pytest

from blox.results.result import Result
from support.report_pages import packed

TRACE = "job_id,submit_s,gpus,duration_s,tenant,importance\n" + "".join(
    f"j{i},{100 * i},{1 + 3 * (i % 5 == 0)},{400 + 50 * i},t{i % 2},{i % 3}\n" for i in range(20)
)


@pytest.fixture
def trace(tmp_path):
    (tmp_path / "trace.csv").write_text(TRACE)
    return f"{tmp_path / 'trace.csv'}?extra=keep"


def test_run_breaks_figures_down(command, trace, tmp_path):
    table = tmp_path / "by.csv"
    answer = command(
        "run", "--workload", trace, "--cluster", "2x4", "--by", "tenant,importance", "--table", table,
        "--prices", "3", "--power", "300/50", "--metric", "evenness", "--label", "mine",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    for words in ("tenant", "importance", "longest waits", "cost ($)", "evenness", "mine"):
        assert words in answer.out, words
    rows = list(csv.DictReader(table.open()))
    assert [(row["by"], row["group"]) for row in rows] == [
        ("", ""), ("tenant", "t0"), ("tenant", "t1"),
        ("importance", "0"), ("importance", "1"), ("importance", "2"),
    ]  # fmt: skip
    assert {row["run"] for row in rows} == {"mine"}


def test_compare_and_report_take_labels_and_groups(command, trace, tmp_path):
    out = tmp_path / "out"
    answer = command(
        "compare", "--workload", trace, "--cluster", "2x4", "--scheduler", "fifo,las:by=time",
        "--label", "base,ours", "--by", "gpus", "--metric", "waited-over:hours=0.1", "--out", out,
        "--processes", 1,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert (out / "base" / "jobs.csv").is_file() and (out / "ours" / "jobs.csv").is_file()
    assert Result.load(out / "ours").label == "ours"
    assert 'id="by-gpus"' in (out / "report.html").read_text()
    again = command(
        "report", out / "base", out / "ours", "--out", tmp_path / "r.html", "--by", "tenant",
        "--label", "A,B", "--table", tmp_path / "t.md", "--metric", "evenness:of=jct_s",
    )  # fmt: skip
    assert again.code == 0, again.err
    assert (
        "| A |" in (tmp_path / "t.md").read_text() and "evenness:of=jct_s" in (tmp_path / "t.md").read_text()
    )
    assert 'id="by-tenant"' in (tmp_path / "r.html").read_text()


def test_measures_of_groups_are_chosen_and_best_ones_told(command, tmp_path):
    words = ["--workload", "philly:load=60,max_gpus=4,jobs=60", "--cluster", "2x4", "--seeds", 3]
    words += ["--scheduler", "fifo,las", "--by", "gpus", "--measures", "responsiveness,p99_jct_s"]
    answer = command(
        "compare", *words, "--processes", 1, "--out", tmp_path / "out", "--table", tmp_path / "t.md",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    by_gpus = answer.out[answer.out.rindex("\n\n", 0, answer.out.index("GPU count")) :]
    assert "resp." in by_gpus and "p99" in by_gpus and "slow-" not in by_gpus and "waiting" not in by_gpus
    assert (
        "not distinguishable" in by_gpus and "average responsiveness" in by_gpus and "against fifo" in by_gpus
    )
    table = (tmp_path / "t.md").read_text().split("**by GPU count**")[1]
    assert "responsiveness p95" in table and "slowdown" not in table
    page = (tmp_path / "out" / "report.html").read_text()
    assert "not distinguishable from it" in page[page.index('id="by-gpus"') :]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--measures", "waiting"], "--measures chooses the figures of groups, and there are none"),
        (["--by", "gpus", "--measures", "waitin"], "did you mean 'waiting'"),
        (["--by", "tennant"], "jobs have no column 'tennant'(.|\n)*did you mean 'tenant'"),
        (["--by", "importnce"], "jobs have no column 'importnce'(.|\n)*did you mean 'importance'"),
        (["--table", "x.xls"], "no table can be written as '.xls'"),
        (["--prices", "v100=2"], "no GPUs of type 'v100'(.|\n)*valid: gpu"),
        (["--power", "300"], "'300' is not watts busy/idle"),
        (["--metric", "eveness"], "no metric part is called 'eveness'"),
        (["--metric", "./no.py:x"], "no such file"),
    ],
)
def test_faults_are_told_before_anything_runs(command, trace, tmp_path, words, told):
    import re

    out = tmp_path / "out"
    for verb in (["run"], ["compare", "--scheduler", "fifo,las"]):
        answer = command(*verb, "--workload", trace, "--cluster", "2x4", "--out", out, *words)
        assert answer.code == 2 and re.search(told, answer.err), answer.err
        assert not out.exists()


def test_labels_name_folders_in_any_script(command, trace, tmp_path):
    answer = command(
        "compare", "--workload", trace, "--cluster", "2x4", "--scheduler", "fifo,las", "--no-report",
        "--label", "é ü,Ф💥", "--out", tmp_path / "out",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir()) == ["é-ü", "Ф"]


def test_labels_that_do_not_fit_are_told(command, trace, tmp_path):
    on = ("--workload", trace, "--cluster", "2x4")
    answer = command("compare", *on, "--scheduler", "fifo,las", "--label", "a")
    assert answer.code == 2 and "1 labels for 2 runs" in answer.err
    out = tmp_path / "out"
    assert command("run", *on, "--out", out).code == 0
    answer = command("report", out, "--label", "a,b", "--out", tmp_path / "r.html")
    assert answer.code == 2 and "2 labels for 1 runs" in answer.err
    answer = command("report", out, out, "--label", "a,a", "--out", tmp_path / "r.html")
    assert answer.code == 2 and "--label: the label 'a' is given twice" in answer.err
    answer = command("report", out, out, "--label", "a,", "--out", tmp_path / "r.html")
    assert answer.code == 2 and "--label: a label is empty" in answer.err


@pytest.mark.parametrize("words", [["run"], ["compare", "--scheduler", "fifo,las"]])
def test_a_label_that_no_table_has_room_for_is_told(command, trace, words):
    answer = command(*words, "--workload", trace, "--cluster", "2x4", "--label", "x" * 201)
    assert answer.code == 2
    assert "has 201 characters" in answer.err and "at most 200 characters" in answer.err
    assert len(answer.err) < 300


def test_a_metric_that_fails_is_told_and_the_run_is_kept(command, trace, tmp_path):
    (tmp_path / "mine.py").write_text("def tail(result):\n    return result.jobs['no such'].max()\n")
    out = tmp_path / "out"
    metric = f"{tmp_path / 'mine.py'}:tail"
    answer = command("run", "--workload", trace, "--cluster", "2x4", "--metric", metric, "--out", out)
    assert answer.code == 0
    assert "a metric could not be worked out: tail:" in " ".join(answer.out.split())
    assert Result.load(out).summary["tail"] is None


def test_a_sweep_names_traces_and_draws_for_paper(command, trace, tmp_path):
    pytest.importorskip("matplotlib")
    other = tmp_path / "other-trace.csv"
    other.write_text(TRACE)
    out = tmp_path / "out"
    answer = command(
        "sweep", "--workload", trace, "--workload", f"{other}?extra=keep", "--scheduler", "fifo,las",
        "--cluster", "2x4", "--label", f"Ours={trace}", "--baseline", "las", "--metric", "evenness",
        "--out", out, "--processes", 1,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert (
        "Ours" in answer.out
        and "other-trace" in answer.out
        and str(tmp_path) not in answer.out.split("figures:")[0]
    )
    drawn = {path.name for path in (out / "figures").iterdir()}
    keys = ("avg_jct_s", "p95_jct_s", "avg_responsiveness_s", "utilisation", "p95_waited_s", "evenness")
    assert drawn == {
        f"{key}{end}.{kind}" for key in keys for end in ("", "_relative") for kind in ("pdf", "svg")
    }
    page = (out / "report.html").read_text()
    assert "Relative to las" in page and '"Ours"' in packed(page)["by-avg_jct_s"]
    again = command("sweep", out / "sweep.toml", "--out", out, "--no-report")
    assert again.code == 0 and "4 of 4 runs were finished before" in again.err


def test_an_unknown_baseline_is_told_before_anything_runs(command, trace, tmp_path):
    answer = command(
        "sweep", "--workload", trace, "--scheduler", "fifo,las", "--cluster", "2x4", "--baseline", "srtf",
        "--out", tmp_path / "out",
    )  # fmt: skip
    assert answer.code == 2 and "no line is called 'srtf'" in answer.err and "fifo, las" in answer.err
    assert not (tmp_path / "out" / "runs").exists()
