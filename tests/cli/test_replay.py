"""`blox replay` as a user meets it. What happens on the cluster is tested in tests/cluster/test_replay.py."""

import pytest

import blox
from support.traces import trace


@pytest.fixture
def three_jobs(tmp_path):
    """A trace whose last job ends after 912 s if none waits, the first after 700 s."""
    return trace(tmp_path / "jobs.csv", "a,0,2,700 b,12,2,900 c,20,4,300")


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (["--speedup", 1000], "at least 0.91 s of real time at speedup 1000\n"),
        (
            ["--speedup", 1],
            "at least 15.2 min of real time at speedup 1; a speedup of 2 brings that below 10 min\n",
        ),
        (
            ["--speedup", 1, "--jobs", 1],
            "at least 11.7 min of real time at speedup 1; a speedup of 2 brings that below 10 min\n",
        ),
    ],
)
def test_how_long_it_takes_is_told_before(command, three_jobs, monkeypatch, words, note):
    def stop(*_, **options):
        raise blox.BloxError("stopped here", where="test", fix="none")

    monkeypatch.setattr("blox.cluster.replay.play_prepared", stop)
    answer = command("replay", three_jobs, "--cluster", "2x4", *words)
    assert answer.err.startswith(f"note: this takes {note}")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--job", "dance"], ["there is no job 'dance'", "train, sleep"]),
        (["--speedup", 0], ["speedup is 0.0"]),
        (["--cluster", "a=1x2,b=1x4"], ["differ in their number of GPUs"]),
        (["--scheduler", "fiffo"], ["did you mean 'fifo'?"]),
        (["--cluster", "1x2"], ["4 GPUs"]),
    ],
)
def test_what_cannot_be_played_is_told_before_anything_starts(
    command, three_jobs, monkeypatch, tmp_path, words, says
):
    monkeypatch.setattr("blox.cluster.replay.play_prepared", lambda *_: pytest.fail("it started"))
    answer = command("replay", three_jobs, *words, "--out", tmp_path / "out")
    assert answer.code == 2 and not (tmp_path / "out").exists()
    for each in says:
        assert each in answer.err


def test_its_results_are_read_like_those_of_a_simulation(command, tmp_path):
    """report, compare by report, explain; what would need the run again is refused."""
    three_jobs = trace(tmp_path / "short.csv", "a,0,2,200 b,12,2,300 c,20,4,100")
    real, simulated = tmp_path / "real", tmp_path / "simulated"
    common = ["--cluster", "1x4", "--round", 100]
    assert (
        command("replay", three_jobs, *common, "--speedup", 200, "--out", real, "--label", "real").code == 0
    )
    assert command("run", "--workload", three_jobs, *common, "--out", simulated).code == 0
    both = command("report", real, simulated, "--out", tmp_path / "both.html")
    assert both.code == 0 and (tmp_path / "both.html").exists()
    told = command("explain", real, "--job", "c")
    assert told.code == 0 and "Job c (4 GPUs) waited" in told.out, told.err
    again = command("explain", real, "--at", 300)
    assert again.code == 2 and "cannot be repeated" in again.err
    again = command("run", real / "experiment.toml")
    assert again.code == 2 and "blox replay WORKLOAD --speedup 200 --job train" in again.err
