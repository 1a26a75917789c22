"""`blox decide` from a log to its page: what it runs, says and writes."""

import csv
import re
import runpy
from dataclasses import replace

import pytest

from blox import BloxError
from blox.decision.conduct import conduct
from blox.decision.evidence import EVERYONE
from blox.decision.study import Study
from blox.decision.words import claim, tables
from blox.durations import parse_duration
from blox.experiment.parallel import run_tasks
from blox.results.calibration import calibration
from support.places import ROOT


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("log")
    runpy.run_path(str(ROOT / "examples" / "accounting_log.py"))["write_log"](folder, 200, 4)
    return folder


def here(tasks, names):
    return run_tasks(tasks, 1)


def study_of(log, *shortlist, present="backfill:kind=easy", scale=1, **settings):
    history, cluster = f"slurm:{log / 'sacct.txt'}?scale={scale}", f"slurm:{log / 'sinfo.txt'}"
    return Study(history, cluster, present, shortlist, **{"resamples": 3, **settings})


def test_the_whole_way(log, command, tmp_path):
    out = tmp_path / "decision"
    words = ("decide", "--history", log / "sacct.txt", "--cluster", f"slurm:{log / 'sinfo.txt'}")
    shown = command(
        *words, "--scheduler", "las", "--resamples", "2", "--block", "6h", "--processes", "1", "--out", out
    )
    assert shown.code == 0, shown.err
    for told in (
        "Does the simulation know the cluster?",
        "What it depends on",
        "Where it is not distinguishable",
    ):
        assert told in shown.out and told in (out / "decision.html").read_text()
    said = " ".join(shown.out.split())
    assert re.search(r"las would do with [\d,]+ \([\d,]+ to [\d,]+\) of 32 GPUs less", said), (
        "changing or not"
    )
    with (out / "changes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["scheduler"] for row in rows} == {"backfill:kind=easy", "las"}
    assert {row["by"] for row in rows} == {"all", "size", "tenant", "length", "time"}


@pytest.fixture(scope="module")
def equal(log, tmp_path_factory):
    """`fifo` under two names."""
    study = study_of(log, "fifo:preempt=false", present="fifo")
    return conduct(study, here, tmp_path_factory.mktemp("equal"))


def test_equal_schedulers_are_not_told_apart(equal):
    """The known answer 0: every change is 0, and so are its bounds."""
    found = equal
    for by in ("all", "size", "tenant", "length"):
        for group in found.groups(by):
            change = found.change("fifo:preempt=false", by, group, "waited_s")
            assert change is None or (change.estimate, change.low, change.high) == (0, 0, 0)
    assert not found.worth_it and claim(found).startswith("Keep fifo")


def test_a_worse_present_scheduler_is_seen(log, tmp_path):
    """Strict order against backfilling on the same weeks: pairs are close, though weeks differ by far."""
    found = conduct(
        study_of(log, "backfill", present="fifo", resamples=2, scale=0.3, block=7200.0), here, tmp_path
    )
    assert found.value("backfill", *EVERYONE, "waited_s") < found.value("fifo", *EVERYONE, "waited_s")
    assert all(
        ours[key] <= theirs[key] * 1.05
        for ours, theirs in zip(found.resampled["backfill"], found.resampled["fifo"])
        for key in ours
        if key.by == "all" and key.figure == "waited_s"
    )
    saved = found.saved_gpus()
    assert saved is not None and saved.low <= saved.estimate <= saved.high and saved.estimate > 0
    told = {table.name: table for table in tables(found)}
    assert all("(" in row[3] and "(" in row[4] for row in told["depends"].rows), "each with its interval"
    assert all("(" in row[2] for row in told["saved"].rows) and " to " in told["saved"].caption


def test_the_simulation_is_held_to_what_really_happened_with_intervals(equal):
    """The same rows as those of `blox compare --calibrate`: both are of the same two runs."""
    found, study = equal, equal.study
    rows = calibration(study.on_log(study.present).run(), study.happened().run())
    assert repr(found.closeness) == repr(rows), "nan where days are too few"
    told = next(table for table in tables(found) if table.name == "calibration")
    assert [row[0] for row in told.rows] == [each.group for each in rows]
    assert "difference" in told.heads[4] and told.caption.startswith(
        f"{study.present} in simulation: jobs wait"
    )


def test_what_is_kept_of_a_run_holds_with_its_jobs(log):
    study = study_of(log, "las")
    [outcome] = run_tasks([study.task(study.on_log("las"))], 1)
    figures = outcome.result.summary["figures"]
    result = study.on_log("las").run()
    assert figures["all", "all jobs", "waited_s"] == pytest.approx(result.jobs["waited_s"].mean())
    by_size = sum(value for key, value in figures.items() if key.by == "size" and key.figure == "jobs")
    assert by_size == len(result.jobs["gpus"]) and not outcome.result.jobs


def test_a_log_with_gaps_is_decided_on(tmp_path):
    """Jobs on the first and the last of nine half days: some resamples have no job at all."""
    days = [(day, hour) for day in (2, 6) for hour in range(4)]
    lines = [
        f"{at}|2026-03-0{day}T0{hour}:00:00|2026-03-0{day}T0{hour}:10:00|2026-03-0{day}T0{hour}:50:00|gres/gpu=4"
        for at, (day, hour) in enumerate(days)
    ]
    (tmp_path / "sacct.txt").write_text("JobID|Submit|Start|End|AllocTRES\n" + "\n".join(lines))
    study = Study(
        f"slurm:{tmp_path / 'sacct.txt'}", "1x4", shortlist=("las",), block=43200.0, resamples=6, seed=3
    )
    found = conduct(study, here, tmp_path)
    drawn = [figures.get((*EVERYONE, "jobs"), 0) for figures in found.resampled["las"]]
    assert 0 in drawn and max(drawn) > 0
    assert claim(found) and list(tables(found))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"resamples": 1}, "1 resamples"),
        ({"block": 60.0}, "a block of 60 s"),
        ({"belief": "limit:x=1"}, "no option is called 'x'"),
    ],
)
def test_mistakes_are_told_before_anything_runs(settings, words, log):
    with pytest.raises(BloxError, match=words):
        study_of(log, "las", **settings).check()


def test_a_log_of_another_format_is_told_how_it_was_taken(command, tmp_path):
    (tmp_path / "log").write_text("03/02/2026 09:00:10;E;12.head;user=ann\n")
    shown = command("decide", "--history", tmp_path / "log", "--cluster", "1x4")
    assert shown.code == 2 and "otherwise give pbs:" in " ".join(shown.err.split())


def test_a_log_of_one_block_is_refused(log):
    with pytest.raises(BloxError, match=r"the log has 1 block of 30d[^$]*or --block 1d"):
        study_of(log, "las", block=30 * 86400.0).check()


@pytest.mark.parametrize(
    ("minutes", "fix"),
    [
        ([0, 300, 900], "--block 6h"),
        ([0, 30, 130], "--block 1h"),
        ([0, 119], "its 2 jobs were submitted within 2 blocks of 1h"),
        ([0], "its one job was submitted within 2 blocks of 1h"),
    ],
)
def test_a_short_log_is_told_a_block_that_it_has_two_of_or_that_it_is_too_short(tmp_path, minutes, fix):
    rows = "".join(f"{at},{60 * minute},1,600\n" for at, minute in enumerate(minutes))
    (tmp_path / "log.csv").write_text(f"job_id,submit_s,gpus,duration_s\n{rows}")
    study = Study(str(tmp_path / "log.csv"), "1x4", shortlist=("las",))
    with pytest.raises(BloxError) as refused:
        study.check()
    told = str(refused.value)
    assert fix in told and ("the log is too short" in told) == ("--block" not in told)
    if "--block" in fix:
        replace(study, block=parse_duration(fix.split()[-1], where="--block")).check()
