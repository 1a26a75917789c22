"""Where results go: one writer at a time, files of other programs kept, the umask kept, kills repaired."""

import os
import re
import resource
import signal
import stat
import subprocess
import sys

import pytest

from blox import BloxError, Experiment
from blox.results import files, swap
from blox.results.place import claimed, claimed_folder, holding
from blox.results.result import Result

BLOX = [sys.executable, "-m", "blox"]
SMALL = ["--workload", "constant", "--cluster", "2x4", "--jobs", "6"]
# Saves results to argv[1] and is killed at the nth rename.
KILLED = """
import os, signal, sys
from blox import Experiment
result = Experiment(workload="constant", cluster="2x4", jobs=6).run()
done, left = os.replace, [int(sys.argv[2])]
def replace(source, target):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    done(source, target)
os.replace = replace
result.save(sys.argv[1])
"""


def hidden(folder):
    return [name for name in os.listdir(folder) if name.startswith(".")]


def killed_save(place, renames):
    """A save that a kill has ended after so many renames."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(place), str(renames)])
    assert done.returncode == -signal.SIGKILL


# One writer at a time


def test_a_second_run_is_refused_before_it_starts(command, tmp_path, monkeypatch, runs):
    runs[0].save(tmp_path / "x")
    monkeypatch.setattr("blox.experiment.prepared.Prepared.run", lambda *_: pytest.fail("it ran"))
    with claimed(tmp_path / "x"):
        answer = command("run", *SMALL, "--out", tmp_path / "x")
    assert answer.code == 2
    assert f"{tmp_path / 'x'}: process {os.getpid()} is writing there" in answer.err
    assert "wait until it has ended" in answer.err


@pytest.mark.parametrize(
    ("words", "folder"),
    [(["compare"], "x"), (["sweep", "--no-report"], "x"), (["reproduce", "fig11"], "x")],
)
def test_a_folder_of_runs_has_one_writer_too(command, tmp_path, words, folder):
    with claimed_folder(tmp_path / folder):
        answer = command(*words, "--out", tmp_path / "x")
    assert answer.code == 2
    assert f"{tmp_path / folder}: process {os.getpid()} is writing there" in answer.err


def test_a_report_into_results_that_are_being_written_is_refused(command, tmp_path, runs):
    runs[0].save(tmp_path / "x")
    with claimed(tmp_path / "x"):
        answer = command("report", tmp_path / "x", "--out", tmp_path / "x" / "report.html")
    assert answer.code == 2
    assert "is writing there" in answer.err


def test_two_runs_at_once_leave_results_and_report_of_the_same(tmp_path):
    started = [
        subprocess.Popen(
            [*BLOX, "run", *SMALL, "--label", label, "--out", "x", "--report"],
            cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        for label in ("first", "second")
    ]  # fmt: skip
    errors = [process.communicate(timeout=600)[1] for process in started]
    assert {process.returncode for process in started} <= {0, 2}
    for process, error in zip(started, errors):
        assert ("is writing there" in error) == (process.returncode == 2)
    label = Result.load(tmp_path / "x").label
    page = (tmp_path / "x" / "report.html").read_text()
    labels = [each for each in ("first", "second") if f'label = "{each}"' in page or f">{each}<" in page]
    assert labels == [label] and hidden(tmp_path) == []


# Files of others


def test_a_file_put_there_while_results_are_written_is_kept(runs, tmp_path, monkeypatch):
    runs[0].save(tmp_path / "x")
    written = files.write_parquet

    def interrupted(path, table):
        (tmp_path / "x" / "notes.txt").write_text("of another program")
        (tmp_path / "x" / "folder").mkdir(exist_ok=True)
        (tmp_path / "x" / "folder" / "more.txt").write_text("and more")
        written(path, table)

    monkeypatch.setattr("blox.results.files.write_parquet", interrupted)
    runs[1].save(tmp_path / "x")
    assert (tmp_path / "x" / "notes.txt").read_text() == "of another program"
    assert (tmp_path / "x" / "folder" / "more.txt").read_text() == "and more"
    assert Result.load(tmp_path / "x").summary["jobs"] == 6
    assert hidden(tmp_path) == []


def test_a_folder_called_like_one_of_our_files_is_kept_under_another_name(runs, tmp_path):
    runs[0].save(tmp_path / "x")
    (tmp_path / "x" / "jobs.csv").unlink()
    (tmp_path / "x" / "jobs.csv").mkdir()
    (tmp_path / "x" / "jobs.csv" / "theirs").write_text("kept")
    with holding(tmp_path / "x") as claim:
        runs[1].save(tmp_path / "x", claim)
    assert (tmp_path / "x" / "jobs.csv.2" / "theirs").read_text() == "kept"
    assert Result.load(tmp_path / "x").summary["jobs"] == 6


def test_a_page_never_takes_the_place_of_results(command, runs, tmp_path):
    runs[0].save(tmp_path / "x")
    before = (tmp_path / "x" / "jobs.csv").read_bytes()
    answer = command("report", tmp_path / "x", "--out", tmp_path / "x" / "jobs.csv")
    assert answer.code == 2
    assert "jobs.csv: there is something of that name already, and it is no report" in answer.err
    assert (tmp_path / "x" / "jobs.csv").read_bytes() == before
    answer = command(
        "report", tmp_path / "x", "--out", tmp_path / "p.html", "--table", tmp_path / "x" / "jobs.csv"
    )
    assert answer.code == 2 and "the table would take the place of the jobs.csv of results" in answer.err
    for _ in range(2):  # a page takes the place of a page
        assert command("report", tmp_path / "x", "--out", tmp_path / "x" / "report.html").code == 0


# Permissions


def test_permissions_are_those_of_the_umask(command, tmp_path):
    before = os.umask(0o077)
    try:
        assert command("run", *SMALL, "--out", tmp_path / "a" / "x", "--report").code == 0
    finally:
        os.umask(before)
    for place in (tmp_path / "a", *(tmp_path / "a").rglob("*")):
        mode = stat.S_IMODE(place.stat().st_mode)
        assert mode == (0o700 if place.is_dir() else 0o600), place


def test_a_directory_that_was_private_stays_private(runs, tmp_path):
    runs[0].save(tmp_path / "x")
    (tmp_path / "x").chmod(0o700)
    runs[1].save(tmp_path / "x")
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o700


# Kills


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "x"],
        ["report", "x"],
        ["run", "x/experiment.toml"],
        ["run", *SMALL, "--out", "x"],
        ["run", *SMALL, "--out", "x", "--report"],
    ],
)
def test_results_between_two_renames_are_put_back(command, runs, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    runs[0].save("x")
    killed_save("x", renames=1)
    assert not os.path.exists("x") and len(hidden(".")) == 3  # the lock, the old results and the new ones
    answer = command(*words)
    assert (answer.code, answer.err) == (0, "")
    assert hidden(".") == []
    assert Result.load("x").summary["jobs"] == (6 if "--out" in words else 4)


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_the_next_save_clears_away_what_a_killed_one_left(runs, tmp_path, renames):
    runs[0].save(tmp_path / "x")
    killed_save(tmp_path / "x", renames) if renames < 2 else killed_while_clearing(tmp_path / "x")
    assert hidden(tmp_path)
    runs[1].save(tmp_path / "x")
    assert os.listdir(tmp_path) == ["x"]
    assert sorted(os.listdir(tmp_path / "x")) == sorted(files.FILES)


def killed_while_clearing(place):
    """As a kill leaves it after both renames: the old results, one of their files gone, and a stale lock."""
    old = swap.beside(place, "old")
    Experiment(workload="constant", cluster="2x4", jobs=4).run().save(old)
    (old / "jobs.csv").unlink()
    place.with_name(f".{place.name}.blox-lock").write_text("1\n")


def test_a_sweep_goes_on_with_a_run_that_was_between_two_renames(command, tmp_path):
    words = ["sweep", *SMALL, "--scheduler", "fifo,las", "--out", tmp_path / "s", "--no-report"]
    words += ["--processes", 1]
    assert command(*words).code == 0
    runs = sorted((tmp_path / "s" / "runs").iterdir())
    runs[0].rename(swap.beside(runs[0], "old"))
    assert command(*words).err == "2 of 2 runs were finished before\n"
    assert hidden(tmp_path / "s" / "runs") == []


# Places that are none


def test_a_circle_of_links_is_told(command, tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for name in ("run", "compare", "sweep"):
        answer = command(name, *SMALL, "--out", tmp_path / "a")
        assert answer.code == 2
        assert re.search("circle of links|levels of symbolic links", answer.err)


def test_a_name_that_is_no_text_is_told_before_the_run(tmp_path):
    words = [*map(os.fsencode, [*BLOX, "run", *SMALL]), b"--out", b"x\xff"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert r"x\udcff: the name holds bytes that are not UTF-8" in done.stderr
    assert os.listdir(tmp_path) == []


def test_the_root_is_refused(command):
    answer = command("run", *SMALL, "--out", "/")
    assert answer.code == 2
    assert "cannot be replaced" in answer.err


# No room


def no_room():
    """Files of this process end after 4,000 bytes, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--out", "x"],
        ["compare", "--out", "c", "--processes", "1"],
        ["compare", "--out", "c", "--processes", "2"],
        ["sweep", "--out", "s", "--scheduler", "fifo,las", "--processes", "2"],
        ["report", "x"],
    ],
)
def test_a_full_disk_is_told_and_old_results_survive(tmp_path, words):
    old = Experiment(workload="constant", cluster="2x4", jobs=6).run()
    old.save(tmp_path / "x")
    many = ["--workload", "constant", "--cluster", "2x4", "--jobs", "300"] if words[0] != "report" else []
    done = subprocess.run(
        [*BLOX, *words, *many], cwd=tmp_path, capture_output=True, text=True, preexec_fn=no_room
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert re.search(r"error: \S+: (File too large|IO Error)", done.stderr)
    assert Result.load(tmp_path / "x").summary["jobs"] == 6
    assert hidden(tmp_path) == []


def test_what_goes_wrong_with_a_claim_is_told(tmp_path):
    with pytest.raises(BloxError, match="is writing there"), claimed(tmp_path / "x"), claimed(tmp_path / "x"):
        pytest.fail("both have it")
    assert os.listdir(tmp_path) == []
