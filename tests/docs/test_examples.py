"""Every example runs, and Figure 2 gives what `blox run` gives."""

import shlex
import subprocess
import sys
import tomllib

import numpy as np
import pytest

from blox import Experiment, Result
from blox.results.replications import load_runs
from support.pages import shell
from support.places import ROOT

EXAMPLES = ROOT / "examples"


def blox(*arguments):
    done = shell(shlex.join(["blox", *map(str, arguments)]), ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def figure2(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import figure2 as module

    return module


def test_figure_2_equals_the_command_line(tmp_path, monkeypatch):
    mine = figure2(monkeypatch).main(Experiment(placement="consolidated").prepare())
    mine.save(tmp_path / "mine")
    blox("run", "--placement", "consolidated", "--out", tmp_path / "run")
    for name in ("jobs.csv", "summary.json", "experiment.toml"):
        assert (tmp_path / "mine" / name).read_bytes() == (tmp_path / "run" / name).read_bytes(), name
    ours, theirs = Result.load(tmp_path / "mine"), Result.load(tmp_path / "run")
    for table in ("rounds", "stints"):
        for name, column in getattr(theirs, table).items():
            assert np.array_equal(getattr(ours, table)[name], column), f"{table}.{name}"


def test_figure_2_is_a_script():
    done = subprocess.run(
        [sys.executable, EXAMPLES / "figure2.py"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "avg_jct_s" in done.stdout


def test_the_comparison_runs(tmp_path):
    """The demonstration, on fewer jobs; the README shows the whole of it."""
    table = blox("compare", EXAMPLES / "compare.toml", "--jobs", "60", "--out", tmp_path / "demo")
    runs = load_runs(tmp_path / "demo")
    assert {run.experiment["scheduler"] for run in runs} == {"fifo", "srtf", "las", "tiresias", "themis"}
    assert all(run.summary["finished"] == 60 and len(run.runs) == 5 for run in runs)
    assert "srtf (oracle)" in table and "Means of 5 seeds" in " ".join(table.split())
    assert all(word in table for word in ("JCT", "median", "p95", "p99", "resp.", "span", "util.", "jobs/s"))
    assert "no job waits longer than until the next round" in " ".join(table.split())
    page = (tmp_path / "demo" / "report.html").read_text()
    assert "<script src=" not in page and "<link" not in page, "one file that needs no network"


def test_the_demonstration_and_the_defaults_show_a_difference():
    """Both run the same jobs, of which FIFO's take more than three times as long as those of LAS."""
    demo = tomllib.loads((EXAMPLES / "compare.toml").read_text())
    assert (demo["workload"], demo["cluster"]) == (Experiment.workload, Experiment.cluster)
    assert (demo["seed"], demo["seeds"]) == (1, 5)
    fifo, las = (Experiment(scheduler=name, seed=demo["seed"]).run() for name in ("fifo", "las"))
    assert fifo.summary["avg_jct_s"] > 3 * las.summary["avg_jct_s"]


def test_the_cluster_is_read():
    from blox.state.cluster_spec import cluster_from_spec

    cluster = cluster_from_spec(str(EXAMPLES / "cluster.toml"))
    assert cluster.total_gpus == 2 * 8 * 4 + 12 * 2
    assert cluster.gpu_types == ("v100", "k80")
    assert {node.rack for node in cluster.nodes} == {0, 1, 2}
    blox("run", "--cluster", EXAMPLES / "cluster.toml", "--workload", "philly:max_gpus=16", "--jobs", "50")


@pytest.mark.parametrize("options", ["", ":half_life_s=7200"])
def test_the_policy_of_ones_own_runs(options):
    spec = f"./examples/my_policy.py:Ageing{options}"
    assert ": conforms" in blox("check", spec)
    blox("run", "--scheduler", spec, "--jobs", "100")


@pytest.mark.slow
def test_the_demonstration_of_a_cluster_runs_ten_jobs_and_takes_it_down():
    """`make demo-cluster`."""
    demo = [sys.executable, str(EXAMPLES / "cluster" / "demo.py")]
    done = subprocess.run(demo, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" finished after ") == 10 and done.stdout.endswith("down\n")
    assert " starts\n" in done.stdout  # some were preempted
