"""`blox explain DIR --at TIME` and `blox run --trace-decisions`, as a user meets them."""

import dataclasses

import numpy as np
import pytest

from blox import Experiment

JOBS = "job_id,submit_s,gpus,duration_s\na,0,3,7200\nb,0,4,3600\nc,0,1,3600\n"
RUN = ("run", "--workload", "jobs.csv", "--cluster", "1x4", "--scheduler", "fifo")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text(JOBS)
    return tmp_path


def table(answer):
    """The answer behind its first sentences."""
    return answer.out.partition("\n\n")[2]


def in_one_line(text):
    return " ".join(text.split())


def test_traced_or_run_again_the_round_is_the_same(command, here):
    assert command(*RUN, "--out", "traced", "--trace-decisions").code == 0
    assert command(*RUN, "--out", "plain").code == 0
    traced, plain = (command("explain", name, "--at", "1h") for name in ("traced", "plain"))
    assert (traced.code, plain.code, traced.err, plain.err) == (0, 0, "", "")
    assert "fifo, the round at 00:00:00, the last one executed by 01:00:00." in traced.out
    assert "Jobs running: 1, waiting: 2; GPUs free: 1. From decisions.parquet." in in_one_line(traced.out)
    assert "by running the experiment again" in in_one_line(plain.out)
    assert table(traced) == table(plain)
    assert [in_one_line(line) for line in table(plain).splitlines()[2:]] == [
        "1 a 3 starts",
        "2 b 4 waits, next in line GPUs went to jobs ahead of it: a",
        "3 c 1 waits the order is strict, and ahead of it waits b",
    ]


@pytest.mark.parametrize("scheduler", ["fifo", "las", "themis"])
def test_every_round_of_a_run_with_a_window_is_found_by_running_again(command, here, scheduler):
    lines = [f"j{i},{900 * i},{1 + i % 3},{4000 + 1300 * (i % 4)}" for i in range(12)]
    (here / "jobs.csv").write_text("\n".join([JOBS.partition("\n")[0], *lines]) + "\n")
    settings = {"workload": "jobs.csv", "cluster": "1x4", "round_s": 900.0, "window": "1-4"}
    result = Experiment(**settings, scheduler=scheduler).run(trace_decisions=True)
    assert "running" in result.jobs["state"]
    dataclasses.replace(result, decisions=None).save("x")
    times = np.unique(result.decisions["time_s"]).tolist()
    assert times[-1] == result.summary["end_s"]
    for time_s in (*times, times[1] + 1, times[-1] + 1):
        held = result.decisions.at(time_s)["held_gpus"] > 0
        answer = command("explain", "x", "--at", f"{time_s}s")
        assert (answer.code, answer.err) == (0, "")
        assert f"Jobs running: {held.sum()}, waiting: {(~held).sum()};" in in_one_line(answer.out)


def test_one_job_of_a_round(command, here):
    command(*RUN, "--out", "x")
    answer = command("explain", "x", "--at", "3h", "--job", "a")
    assert "Job a had not come, or had finished." in answer.out
    answer = command("explain", "x", "--at", "1h", "--job", "c")
    assert "strict" in answer.out and " b " not in table(answer).splitlines()[2][:20]


def test_a_time_without_jobs(command, here):
    command(*RUN, "--out", "x")
    assert (
        "No job ran or waited at 100h. The run ended at 04:00:00."
        in command("explain", "x", "--at", "100h").out
    )


def test_a_long_order_is_cut_to_what_runs_first_and_what_waits_first(command, here):
    lines = [f"r{i},0,1,36000" for i in range(30)] + [f"w{i},10,1,36000" for i in range(30)]
    (here / "jobs.csv").write_text("\n".join([JOBS.partition("\n")[0], *lines]) + "\n")
    command("run", "--workload", "jobs.csv", "--cluster", "1x30", "--out", "x")
    answer = command("explain", "x", "--at", "1h", "--limit", 6)
    for word in (" r0 ", " r2 ", " 27 more", " w0 ", " w2 ", "... and 27 more: --limit 60"):
        assert word in answer.out
    assert " r3 " not in answer.out and " w3 " not in answer.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--at", "noon"), "'noon' is not a duration"),
        (("--at", "never"), "no round is at 'never'"),
        (("--at", "1h", "--job", "x"), "no job is called 'x'"),
    ],
)
def test_wrong_questions_are_answered_in_words(command, here, words, told):
    command(*RUN, "--out", "x")
    answer = command("explain", "x", *words)
    assert answer.code == 2 and told in answer.err and "fix:" in answer.err


def test_results_that_running_again_does_not_give_are_told(command, here):
    Experiment(workload="philly:load=8,max_gpus=16", jobs=80, cluster="4x4", scheduler="las").run().save("x")
    settings = here / "x" / "experiment.toml"
    settings.write_text(settings.read_text().replace("seed = 0", "seed = 1"))
    answer = command("explain", "x", "--at", "5h")
    assert answer.code == 2 and "decides otherwise than these results say" in answer.err
    (here / "jobs.csv").write_text(JOBS.replace("7200", "7300"))


def test_a_changed_trace_is_told(command, here):
    command(*RUN, "--out", "x")
    (here / "jobs.csv").write_text(JOBS.replace("7200", "7300"))
    answer = command("explain", "x", "--at", "1h")
    assert answer.code == 2 and "has changed since" in answer.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "--trace-decisions has nowhere to go"),
        (("--out", "x", "--seeds", "2"), "--trace-decisions with 2 seeds"),
    ],
)
def test_decisions_need_a_place_and_one_run(command, here, words, told):
    answer = command(*RUN, "--trace-decisions", *words)
    assert answer.code == 2 and told in answer.err and "fix:" in answer.err
    assert not (here / "x").exists()


def test_the_jobs_that_ran_instead_are_named(command, here):
    command(*RUN, "--out", "x")
    answer = command("explain", "x", "--job", "b")
    assert "ran instead" in answer.out
    assert "a 3 with it 6 h 100.0 %" in map(in_one_line, answer.out.splitlines())
