"""Accounting logs: what their readers find, leave out and say; spoilt ones end in words."""

import random

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.state.cluster_spec import cluster_from_spec
from blox.workloads.readers.kueue import Kueue
from blox.workloads.readers.pbs import Pbs
from blox.workloads.readers.slurm import Slurm
from blox.workloads.readers.swf import Swf
from blox.workloads.slurm_fields import duration_s, hosts, memory_gb, tres
from fuzz import readers
from fuzz.limits import limits
from support.tables import values

HEAD = "JobID|Submit|Start|End|AllocTRES\n"
LINE = "7|2026-01-01T00:00:00|2026-01-01T00:01:00|2026-01-01T01:01:00|gres/gpu=2\n"


def log(tmp_path, text):
    file = tmp_path / "sacct.txt"
    file.write_text(text)
    return str(file)


def test_sacct(samples):
    table = Slurm(str(samples / "slurm.txt")).read()
    assert values(table, "job_id") == ["81201", "81202", "81204_1", "81204_2", "81207", "81207 (2)", "81206"]
    assert values(table, "gpus") == [4, 1, 2, 2, 1, 1, 8]
    assert values(table, "gpu_types") == ["a100", "", "", "", "", "", "a100|h100"]
    assert values(table, "submit_s")[:2] == [0, 45]
    assert values(table, "submit_s")[-1] == 8001, "from the time on at which it could run"
    assert values(table, "logged_start_s")[:2] == [172, 172]
    assert values(table, "duration_s")[:2] == [41809, 395]
    assert values(table, "limit_s")[:2] == [86400, 7200] and np.isnan(table.column("limit_s")[2])
    assert values(table, "group") == ["", "", "81204", "81204", "", "", ""], "an array is a group"
    assert values(table, "tenant")[:2] == ["vision", "speech"]
    assert values(table, "memory_gb") == [256, 31.25, 64, 64, 31.25, 31.25, 1024]
    assert values(table, "partition")[0] == "a100" and values(table, "qos")[2] == "high"
    assert values(table, "ended_as")[3:5] == ["TIMEOUT", "PREEMPTED"]
    assert [note for note in table.notes if note.startswith(("left out", "passed"))] == [
        "passed over 2 lines of job steps",
        "left out 2 jobs: it never started",
        "left out 1 job: it was still running",
        "left out 1 job: it held no GPU",
    ]


def test_the_columns_may_stand_in_any_order_and_case(samples, tmp_path):
    lines = [line.split("|") for line in (samples / "slurm.txt").read_text().splitlines()]
    order = np.random.default_rng(1).permutation(len(lines[0]))
    lines[0] = [name.lower() for name in lines[0]]
    turned = log(tmp_path, "\n".join("|".join(cells[at] for at in order) + "|" for cells in lines))
    one, other = Slurm(str(samples / "slurm.txt")).read(), Slurm(turned).read()
    for name in (*one.columns, *one.extra):
        assert list(map(str, values(one, name))) == list(map(str, values(other, name))), name


def test_sacct_json_is_read_like_sacct(samples):
    plain, table = (Slurm(str(samples / name)).read() for name in ("slurm.txt", "slurm.json"))
    assert values(table, "job_id") == ["81201", "81204_2"]
    rows = [values(plain, "job_id").index(name) for name in values(table, "job_id")]
    for name in ("gpus", "duration_s", "limit_s", "submit_s", "logged_start_s", "tenant", "gpu_types", "qos"):
        assert values(table, name) == [values(plain, name)[row] for row in rows], name
    assert table.lines.tolist() == [4, 17]


def test_a_log_with_an_odd_line_is_read_the_slow_way_to_the_same_jobs(samples, tmp_path):
    """A blank line makes duckdb's line numbers useless; the other reader finds the same."""
    text = (samples / "slurm.txt").read_text()
    slow = Slurm(log(tmp_path, text.replace("\n81206|", "\n\n81206|"))).read()
    fast = Slurm(str(samples / "slurm.txt")).read()
    assert values(slow, "job_id") == values(fast, "job_id")
    assert values(slow, "logged_start_s") == values(fast, "logged_start_s")
    assert slow.lines.tolist() == [2, 5, 7, 8, 13, 14, 12]


def test_a_record_that_stands_there_twice_counts_once(tmp_path):
    table = Slurm(log(tmp_path, HEAD + LINE + HEAD + LINE)).read()
    assert values(table, "job_id") == ["7"]
    assert "left out 1 job: the same record again" in table.notes


def test_epochs_elapsed_times_and_unlimited(tmp_path):
    text = "JobID|Submit|Start|Elapsed|TimelimitRaw|ReqTRES\n7|100|160|01:00:00|UNLIMITED|gres/gpu:h100=2\n"
    table = Slurm(log(tmp_path, text)).read()
    assert values(table, "duration_s") == [3600] and values(table, "logged_start_s") == [60]
    assert np.isnan(table.column("limit_s")[0]) and values(table, "gpu_types") == ["h100"]
    assert "gpu_types" not in Slurm(log(tmp_path, text), types="ignore").read().columns


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ": the file is empty"),
        (LINE, ":1: the column 'JobID' is missing"),
        ("JobID|Submit|Start\n7|a|b\n", "the column 'End' is missing"),
        (HEAD.replace("AllocTRES", "x") + LINE, "the column 'AllocTRES' is missing"),
        (HEAD + LINE.replace("2026-01-01T00:00:00", "yesterday"), ":2: Submit is 'yesterday'"),
        (HEAD + LINE.replace("2026-01-01T00:00:00", ""), ":2: Submit is ''"),
        (HEAD + LINE.replace("gpu=2", "gpu=two"), ":2: AllocTRES is 'gres/gpu=two'"),
        (HEAD + LINE + LINE.replace("7|", "8|a|"), ":3: 6 cells in this line, 5 wanted"),
        (HEAD + LINE.replace("gpu=2", "gpu=1.5"), ":2: the number of GPUs is 1.5"),
        (HEAD + LINE.replace("00:01:00", "00:0"), ":2: Start is '2026-01-01T00:0'"),
        ('{"jobs": [{"job_id": 7}]}', ":1: the job has no 'time'"),
        ('{"jobs": 7}', 'is not a JSON list of jobs as the value of "jobs"'),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text, words, tmp_path):
    with pytest.raises(BloxError) as told:
        Slurm(log(tmp_path, text)).read()
    assert words in told.value.text()


@pytest.mark.parametrize("kind", ["slurm", "slurm json", "swf", "pbs", "kueue"])
def test_sixty_spoilt_logs_end_in_words(kind, tmp_path):
    told = 0
    for number in range(60):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            with limits():
                readers.case(random.Random(f"{kind}:{number}"), folder, kind)
        except BloxError as error:
            told += bool(error.text().strip())
    assert told >= 30, "of sixty, thirty or more cannot be read at all"


def test_standard_workload_format(samples):
    table = Swf(str(samples / "swf.txt")).read()
    assert values(table, "job_id") == ["1", "2", "4", "5"]
    assert values(table, "gpus") == [8, 1, 4, 10] and values(table, "duration_s") == [3600, 30, 900, 100]
    assert values(table, "logged_start_s")[:3] == [20, 60, 620] and np.isnan(
        table.column("logged_start_s")[3]
    )
    assert values(table, "limit_s")[0] == 7200 and np.isnan(table.column("limit_s")[1])
    assert values(table, "user") == ["3", "4", "", "5"] and values(table, "tenant") == ["1", "2", "", "2"]
    assert values(table, "memory_gb")[2] == 4 * 2048 / 1024**2 and values(table, "queue") == [
        "1",
        "1",
        "2",
        "1",
    ]
    assert values(Swf(str(samples / "swf.txt"), per_gpu=8).read(), "gpus") == [1, 1, 1, 2]
    assert [note for note in table.notes if note.startswith("left out")] == [
        "left out 1 job: a part of a job, which has a line of its own",
        "left out 1 job: it never ran, or for less than half a second",
    ]


def test_pbs_records_need_one_of_the_two_times_from_which_a_job_waits(tmp_path):
    """Torque may leave qtime out, and a job that was held has a later etime."""
    log = tmp_path / "pbs.txt"
    record = (
        "03/02/2026 09:00:10;E;{}.head;user=ann {} start=1772438600 end=1772438700 Resource_List.ngpus=1\n"
    )
    log.write_text(record.format(1, "etime=1772438500") + record.format(2, "qtime=1772438400"))
    table = Pbs(str(log)).read()
    assert values(table, "job_id") == ["2.head", "1.head"] and values(table, "submit_s") == [0.0, 100.0]
    log.write_text(record.format(3, "queue=gpu"))
    with pytest.raises(BloxError, match="neither qtime nor etime is told"):
        Pbs(str(log)).read()


def test_pbs_accounting(samples):
    table = Pbs(str(samples / "pbs.txt")).read()
    assert values(table, "job_id") == ["501.pbs01", "503.pbs01", "502[3].pbs01"]
    assert values(table, "gpus") == [4, 9, 4] and values(table, "duration_s") == [41809, 1800, 3600]
    assert values(table, "submit_s") == [0, 630, 1530], "from etime on"
    assert values(table, "limit_s") == [86400, 1800, 7200]
    assert values(table, "tenant") == ["vision", "nlp", "asr"] and values(table, "group") == ["", "", "502[]"]
    assert [note for note in table.notes if note.startswith(("left out", "passed"))] == [
        "passed over 3 records of other events than exits",
        "left out 1 job: it never started",
        "left out 1 job: it held no GPU",
    ]


def test_kueue_workloads(samples):
    table = Kueue(str(samples / "kueue.json")).read()
    assert values(table, "job_id") == ["vision/job-train-1f2e", "speech/job-eval-77"]
    assert values(table, "gpus") == [8, 1] and values(table, "duration_s") == [41809, 395]
    assert values(table, "logged_start_s") == [172, 172] and values(table, "submit_s") == [0, 45]
    assert values(table, "cpu")[0] == 17 and values(table, "memory_gb")[0] == 128
    assert values(table, "priority") == [100, 0] and values(table, "user") == ["", "bob"]
    assert values(table, "limit_s")[0] == 86400 and table.lines.tolist() == [5, 19]


@pytest.mark.parametrize(
    ("reader", "text", "words"),
    [
        (Swf, "1 0 0 5\n", ":1: 4 fields in this line, 18 wanted"),
        (Swf, "1 0 x 5 1 " + "-1 " * 13 + "\n", ":1: wait is 'x'"),
        (Swf, "; nothing\n", "no jobs in the file"),
        (Pbs, "what is this\n", ":1: is not a record of PBS accounting"),
        (
            Pbs,
            "03/02/2026 08:00:00;E;1;user=a start=5 end=9 Resource_List.ngpus=1\n",
            ":1: neither qtime nor etime is told",
        ),
        (Pbs, "03/02/2026 08:00:00;E;1;qtime=1 start=5 end=9 Resource_List.ngpus=x\n", ":1: ngpus is 'x'"),
        (Kueue, "{}", 'is not a JSON list of jobs as the value of "items"'),
        (Kueue, '{"items": [{"metadata": {}}]}', ":1: the workload has no 'spec'"),
    ],
)
def test_what_is_wrong_in_other_logs_is_told_too(reader, text, words, tmp_path):
    with pytest.raises(BloxError) as told:
        reader(log(tmp_path, text)).read()
    assert words in told.value.text()


def test_how_slurm_writes_things():
    assert tres("billing=8,cpu=8,gres/gpu:a100=2,gres/gpu:v100=1,mem=4T") == (3, "a100|v100", 8, 4096)
    assert [memory_gb(text) for text in ("512M", "2G", "1T", "1048576K", "1024")] == [0.5, 2, 1024, 1, 1]
    assert [duration_s(text) for text in ("90", "01:30", "1-00:00:01", "1-2", "1-2:30")] == [
        5400, 90, 86401, 93600, 95400,
    ]  # fmt: skip
    assert list(hosts("gpu[01-03,7],login1,a[1-2]b")) == [
        "gpu01",
        "gpu02",
        "gpu03",
        "gpu7",
        "login1",
        "a1b",
        "a2b",
    ]
    for wrong in ("1:2:3:4", "x", "-1", "1-"):
        with pytest.raises(ValueError, match=r".*"):
            duration_s(wrong)


def test_a_cluster_from_sinfo(samples):
    spec = cluster_from_spec(f"slurm:{samples / 'sinfo.txt'}")
    assert [(node.name, node.gpus, node.gpu_type) for node in spec.nodes[5:]] == [
        ("gpu06", 4, "a100"), ("gpu07", 8, "v100"), ("gpu08-h100", 2, "h100"), ("gpu08-a100", 2, "a100"),
    ]  # fmt: skip
    assert spec.nodes[0].cpu == 64 and spec.nodes[7].memory_gb == 250 and spec.total_gpus == 36


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("NODELIST|CPUS\ngpu1|4\n", ":1: the column GRES is missing"),
        ("NODELIST GRES\ngpu[1-|gpu:4\n", ":2: NODELIST is"),
        ("NODELIST GRES\ngpu1 gpu:many\n", ":2: GRES is 'gpu:many'"),
        ("NODELIST|GRES|CPUS\ngpu1|gpu:4|x\n", ":2: CPUS is 'x'"),
        ("NODELIST|GRES\ngpu1|(null)\n", "no node has GPUs"),
    ],
)
def test_a_cluster_that_cannot_be_read(text, words, tmp_path):
    (tmp_path / "sinfo.txt").write_text(text)
    with pytest.raises(BloxError) as told:
        cluster_from_spec(f"slurm:{tmp_path / 'sinfo.txt'}")
    assert words in told.value.text()


def test_the_log_runs_on_its_cluster(samples):
    """GPUs of types of which no speed is known do: durations are those of the log."""
    result = Experiment(
        workload=f"slurm:{samples / 'slurm.txt'}", cluster=f"slurm:{samples / 'sinfo.txt'}", clock="events"
    ).run()
    assert (
        result.summary["finished"] == 7
        and result.jobs["jct_s"].tolist() == result.jobs["duration_s"].tolist()
    )
