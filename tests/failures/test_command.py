"""Failures from the command line, as a user types them, also wrongly."""

import json

import pytest

JOBS = "job_id,submit_s,gpus,duration_s\na,0,4,1000\nb,0,2,5000\n"
OUTAGES = "node,down,up\nnode-0,450,700\n1,2h,3h\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "outages.csv").write_text(OUTAGES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_tells_what_failed_and_what_it_cost(command, folder):
    words = (
        "run --workload jobs.csv --cluster 2x4 --failures trace:outages.csv --overheads checkpoint=5m --out x"
    )
    answer = command(*words.split())
    assert answer.code == 0, answer.err
    assert "evictions" in answer.out
    assert "effective training" in answer.out
    summary = json.loads((folder / "x" / "summary.json").read_text())
    assert (summary["node_failures"], summary["evictions"], summary["evicted_jobs"]) == (1, 1, 1)
    assert (folder / "x" / "evictions.csv").read_text() == (
        "job,job_id,time_s,cause,node,lost_gpu_seconds\n0,a,450,failure,node-0,600\n"
    )
    assert (folder / "x" / "outages.csv").read_text() == (
        "node,gpu,gpus,down_s,up_s,cause\nnode-0,0,4,450,700,failure\n"
    )
    settings = (folder / "x" / "experiment.toml").read_text()
    assert 'failures = "trace:outages.csv"' in settings
    assert "failures_file_sha256" in settings
    again = command("run", "x/experiment.toml", "--out", "y")
    assert again.code == 0
    assert (folder / "y" / "jobs.csv").read_bytes() == (folder / "x" / "jobs.csv").read_bytes()
    (folder / "outages.csv").write_text(OUTAGES + "0,5h,6h\n")
    assert "the file behind failures" in command("run", "x/experiment.toml").err


def test_without_failures_there_is_no_word_of_them(command, folder):
    answer = command("run", "--workload", "jobs.csv", "--cluster", "2x4", "--out", "x")
    assert "evict" not in answer.out
    assert not {"evictions", "effective_training_ratio"} & set(
        json.loads((folder / "x/summary.json").read_text())
    )
    assert "evict" not in (folder / "x" / "jobs.csv").read_text()
    assert sorted(path.suffix for path in (folder / "x").iterdir()).count(".csv") == 1


def test_explain_tells_of_an_eviction_in_the_life_of_a_job(command, folder):
    command(
        *[
            "run",
            "--workload",
            "jobs.csv",
            "--cluster",
            "2x4",
            "--failures",
            "trace:outages.csv",
            "--out",
            "x",
        ]
    )
    answer = command("explain", "x", "--job", "a")
    assert "evicted once" in answer.out
    assert "waited: eviction" in answer.out
    assert "node-0 failed" in answer.out
    assert "preempted at" not in answer.out


def test_compare_and_sweep_take_failures(command, folder):
    common = ("--overheads", "checkpoint=10m", "--processes", 1)
    words = "compare --workload philly:load=6,max_gpus=8 --cluster 4x4 --jobs 12 --scheduler fifo,las"
    answer = command(*words.split(), "--failures", "mtbf=1d,repair=2h", *common)
    assert answer.code == 0, answer.err
    assert "evictions" in answer.out
    words = (
        "sweep --workload philly:load=6,max_gpus=8 --cluster 4x4 --jobs 12 --scheduler las --seed 0,1 --out s"
    )
    several = (
        "--failures",
        "none,random:mtbf=1d,repair=2h",
        "--failures",
        "drain:node=node-1,at=5h,lasts=1h",
    )
    answer = command(*words.split(), *several, *common, "--no-report")
    assert answer.code == 0, answer.err
    assert len((folder / "s" / "sweep.csv").read_text().splitlines()) == 7


def test_a_sweep_checks_failures_on_the_cluster_that_they_are_meant_for(command, folder):
    words = "sweep --workload philly:load=6,max_gpus=8 --cluster 40x4 --jobs 12 --scheduler las --out s"
    answer = command(*words.split(), "--failures", "drain:node=39,at=5h")
    assert answer.code == 0, answer.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--failures mtbf=1s,repair=1s", ["every node would fail 150 times in a round of 300 s", "mtbf"]),
        ("--failures mtbf=30", None),
        ("--failures mtbf=thirty", ["'thirty' is not a duration", "30d, 4h"]),
        ("--failures mtbf=-1", ["'-1' is not a duration"]),
        ("--failures mtbf=nan", ["'nan' is not a duration"]),
        ("--failures mtbf=0", ["mtbf is 0.0", "above 0"]),
        ("--failures mtbf=1d,shape=0", ["shape is 0.0"]),
        ("--failures often", ["no failures part is called 'often'", "drain, random, reserve, trace"]),
        ("--failures drain:node=9,at=1h", ["no node is called '9'", "node-0 to node-1"]),
        ("--failures drain:node=0,at=1h,for=2h", ["no parameter is called 'for'", "lasts"]),
        ("--failures trace:nowhere.csv", ["nowhere.csv: no such file"]),
        ("--failures trace:jobs.csv", ["jobs.csv:1", "node,down,up"]),
        ("--failures mtbf=1d --compat blox:policy=Las", ["together with compat", "leave one of them out"]),
        ("--failures mtbf=1d --backend replay", ["failures='mtbf=1d' with the backend replay"]),
        ("--overheads checkpoint=0", ["checkpoint is 0"]),
        ("--failures drain:node=0+1,at=10", ["2 of 2 nodes are down", "let nodes come back"]),
    ],
)
def test_wrong_input_is_answered_in_words(command, folder, options, says):
    answer = command(
        "run", "--workload", "jobs.csv", "--cluster", "2x4", *options.split(), "--max-rounds", "50"
    )
    if says is None:
        assert answer.code == 0, answer.err
        return
    assert answer.code == 2
    assert answer.err.startswith("error: ")
    assert "Traceback" not in answer.err
    assert all(words in answer.err for words in says), answer.err


def test_the_sources_are_listed(command):
    answer = command("policies", "failures")
    assert all(name in answer.out for name in ("drain", "random", "trace", "mtbf=never", "repair=1h"))
