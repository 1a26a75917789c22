"""Each reader on a small sample in its real format: what it finds, leaves out and says it assumed."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

from blox.errors import BloxError
from blox.registry import classes
from blox.workloads.readers.acme import Acme
from blox.workloads.readers.blox import Blox
from blox.workloads.readers.csv import Csv
from blox.workloads.readers.elasticflow import ElasticFlow
from blox.workloads.readers.gavel import Gavel
from blox.workloads.readers.helios import Helios
from blox.workloads.readers.kueue import Kueue
from blox.workloads.readers.openb import OpenB
from blox.workloads.readers.pai import Pai
from blox.workloads.readers.pbs import Pbs
from blox.workloads.readers.philly import Philly
from blox.workloads.readers.pollux import Pollux
from blox.workloads.readers.slurm import Slurm
from blox.workloads.readers.swf import Swf
from blox.workloads.readers.synergy import Synergy
from blox.workloads.readers.tiresias import Tiresias
from support.tables import values


def left_out(table):
    return [note for note in table.notes if note.startswith("left out")]


def test_our_own_csv(samples):
    table = Csv(str(samples / "ours.csv")).read()
    assert values(table, "job_id") == ["a", "b", "c"]
    assert values(table, "submit_s") == [0.0, 60.5, 60.5]
    assert values(table, "gpus") == [1, 4, 2]
    assert values(table, "duration_s") == [3600.0, 120.25, 0.1]
    assert values(table, "priority") == [0, 5, 0], "an empty cell is the default"
    assert values(table, "max_gpus") == [0, 8, 0]
    assert np.isnan(table.column("deadline_s")[0]) and table.column("deadline_s")[1] == 900
    assert values(table, "share_milli") == [1000] * 3, "a column that is absent is its default"
    assert table.column("gpus").dtype == np.int64
    assert table.lines.tolist() == [2, 3, 5], "blank lines count as lines"


def test_an_unknown_column_is_refused_or_passed_over(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("job_id,submit_s,gpus,duration_s,modle\na,0,1,5,x\n")
    with pytest.raises(
        BloxError, match=r"jobs.csv:1: no column is called 'modle'(.|\n)*did you mean 'model'"
    ):
        Csv(str(file)).read()
    assert "passed over the columns modle" in Csv(str(file), extra="ignore").read().notes


def test_philly_log(samples):
    table = Philly(str(samples / "philly_log.json")).read()
    assert values(table, "job_id") == ["application_1_0003", "application_1_0001"], "in order of submission"
    assert values(table, "submit_s") == [0.0, 3600.0]
    assert values(table, "gpus") == [1, 3], "of the first attempt that lists any"
    assert values(table, "duration_s") == [900.0, 630.0], "the sum of the attempts"
    assert values(table, "user") == ["u2", "u1"]
    assert values(table, "tenant") == ["vc-b", "vc-a"]
    assert table.lines.tolist() == [17, 2], "the line on which the job begins"
    assert left_out(table) == [
        "left out 1 job: no attempt has both a start and an end",
        "left out 1 job: no attempt lists a GPU",
    ]


def test_philly_csv(samples):
    table = Philly(str(samples / "philly.csv")).read()
    assert values(table, "job_id") == [1, 0, 3], "numbered in the order of the file"
    assert values(table, "submit_s") == [0.0, 60.0, 180.0]
    assert values(table, "gpus") == [1, 2, 8]
    assert values(table, "duration_s") == [30.0, 90.0, 7.0]
    assert values(table, "tenant") == ["bb22", "aa11", "aa11"]
    assert left_out(table) == ["left out 1 job: duration is 0, it never ran"]


def test_philly_by_tenant(samples):
    table = Philly(str(samples / "philly.csv"), tenant="aa11").read()
    assert values(table, "submit_s") == [0.0, 120.0], "counted from the first job that is kept"
    log = Philly(str(samples / "philly_log.json"), tenant="vc-a").read()
    assert values(log, "job_id") == ["application_1_0001"]
    with pytest.raises(BloxError, match=r"no job is of the tenant 'aa12'(.|\n)*did you mean 'aa11'"):
        Philly(str(samples / "philly.csv"), tenant="aa12").read()


def test_helios(samples):
    table = Helios(str(samples / "helios.csv")).read()
    assert values(table, "job_id") == ["501", "503"]
    assert values(table, "submit_s") == [0.0, 30.0]
    assert values(table, "gpus") == [8, 1]
    assert values(table, "duration_s") == [3600.0, 15.0]
    assert values(table, "tenant") == ["vcX", "vcY"]
    assert values(table, "cpu") == [64.0, 4.0]
    assert left_out(table) == [
        "left out 1 job: gpu_num is 0, a CPU job",
        "left out 1 job: duration is 0, it never ran",
    ]
    assert values(Helios(str(samples / "helios.csv"), tenant="vcY").read(), "user") == ["uB"]


@pytest.mark.parametrize("path", ["pai", "pai/pai_job_table.csv"])
def test_pai(samples, path):
    table = Pai(str(samples / path)).read()
    assert values(table, "job_id") == ["job-b", "job-a"]
    assert values(table, "submit_s") == [0.0, 100.0]
    assert values(table, "duration_s") == [50.0, 600.0]
    assert values(table, "gpus") == [1, 3], "a quarter of a GPU; five halves"
    assert values(table, "share_milli") == [250, 834]
    assert values(table, "gpu_types") == ["V100", "T4"]
    assert values(table, "cpu") == [1.0, 38.0]
    assert values(table, "memory_gb") == [8.0, 167.5]
    assert left_out(table) == [
        "left out 1 job: no end_time, it was still running",
        "left out 1 job: it ended when it started, or before",
        "left out 1 job: its tasks ask for no GPU",
    ]


def test_pai_without_header_files_and_with_header_lines(samples, tmp_path):
    wanted = values(Pai(str(samples / "pai")).read(), "gpus")
    for name in ("pai_job_table.csv", "pai_task_table.csv"):
        (tmp_path / name).write_text((samples / "pai" / name).read_text())
    assert values(Pai(str(tmp_path)).read(), "gpus") == wanted
    jobs = tmp_path / "pai_job_table.csv"
    jobs.write_text((samples / "pai" / "pai_job_table.header").read_text() + jobs.read_text())
    assert values(Pai(str(tmp_path)).read(), "gpus") == wanted


def test_openb(samples):
    table = OpenB(str(samples / "openb.csv")).read()
    assert values(table, "job_id") == ["pod-2", "pod-0"]
    assert values(table, "submit_s") == [0.0, 100.0]
    assert values(table, "duration_s") == [300.0, 1900.0]
    assert values(table, "gpus") == [8, 1]
    assert values(table, "share_milli") == [1000, 460]
    assert values(table, "gpu_types") == ["", "V100M16|V100M32"]
    assert values(table, "cpu") == [96.0, 8.0]
    assert values(table, "memory_gb") == [384.0, 16.0]
    assert any(note.startswith("1 jobs ask for a part of a GPU") for note in table.notes)
    assert left_out(table) == [
        "left out 1 job: num_gpu is 0, a CPU pod",
        "left out 1 job: no scheduled_time, it never ran",
    ]


def test_acme(samples):
    table = Acme(str(samples / "acme.csv")).read()
    assert values(table, "job_id") == ["k3", "k1"], "18:59 in Shanghai is a minute before 11:00 UTC"
    assert values(table, "submit_s") == [0.0, 60.0]
    assert values(table, "duration_s") == [120.0, 3600.0], "without the time in the queue"
    assert values(table, "gpus") == [1, 16]
    assert values(table, "job_type") == ["Evaluation", "Pretrain"]
    assert values(table, "memory_gb") == [100.0, 1000.0]
    assert len(left_out(table)) == 3


def test_elasticflow(samples):
    raw = ElasticFlow(str(samples / "elasticflow_raw.csv")).read()
    assert values(raw, "job_id") == ["22bb", "11aa"]
    assert values(raw, "submit_s") == [30.0, 700.0], "relative times are kept"
    assert values(raw, "gpus") == [1, 4]
    assert "the raw form names no models" in raw.notes
    augmented = ElasticFlow(str(samples / "elasticflow_augmented.csv")).read()
    assert values(augmented, "model") == ["bert", "vgg16"]
    assert values(augmented, "iterations") == [4000.0, 50.0]
    assert values(augmented, "iteration_s") == [0.1, 2.0]
    assert values(augmented, "deadline_s") == [900.0, 400.0]
    assert values(augmented, "batch_size") == [64, 128]


def test_tiresias(samples):
    table = Tiresias(str(samples / "tiresias.csv")).read()
    assert values(table, "job_id") == ["0", "1"]
    assert values(table, "submit_s") == [0.0, 32.0]
    assert values(table, "gpus") == [2, 1]
    assert values(table, "duration_s") == [96.0, 78.0]
    assert values(table, "model") == ["vgg16", "alexnet"]
    assert table.column("iterations")[0] == 480 and np.isnan(table.column("iterations")[1])


def test_pollux(samples):
    """By hand: 200 units of progress; gain 4/3 at twice the initial batch, so 150 iterations there."""
    table = Pollux(str(samples / "pollux" / "workloads" / "workload.csv")).read()
    assert values(table, "job_id") == ["toy-0", "toy-1", "toy-2"]
    assert values(table, "submit_s") == [15.0, 40.0, 90.0]
    assert values(table, "duration_s") == pytest.approx([200 * 0.1, 150 * 0.15, 150 * 0.2])
    assert values(table, "iteration_s") == pytest.approx([0.1, 0.15, 0.2])
    assert values(table, "iterations") == pytest.approx([200, 150, 150])
    assert values(table, "model") == ["toy"] * 3
    assert values(table, "batch_size") == [8, 16, 16]
    # elastic: batches of 8 and 16 were validated, and a GPU was measured with 8 at least
    assert values(table, "min_gpus") == [1, 1, 1] and values(table, "max_gpus") == [2, 2, 2]
    assert values(table, "min_batch_size") == [8] * 3 and values(table, "max_batch_size") == [16] * 3


def test_pollux_with_profiles_elsewhere(samples, tmp_path):
    file = tmp_path / "w.csv"
    file.write_text((samples / "pollux" / "workloads" / "workload.csv").read_text())
    with pytest.raises(BloxError, match="no application profiles here"):
        Pollux(str(file)).read()
    assert len(Pollux(str(file), applications=str(samples / "pollux" / "applications")).read()) == 3


def test_gavel(samples):
    reader = Gavel(str(samples / "gavel.trace"), throughputs=str(samples / "gavel_throughputs.json"))
    table = reader.read()
    assert values(table, "job_id") == [0, 1]
    assert values(table, "submit_s") == [0.0, 30.5]
    assert values(table, "gpus") == [1, 2]
    assert values(table, "duration_s") == [100.0, 150.0]
    assert values(table, "iterations") == [1000.0, 300.0]
    assert values(table, "iteration_s") == [0.1, 0.5]
    assert values(table, "model") == ["ResNet-18 (batch size 32)", "A3C"]
    assert values(table, "batch_size") == [32, 0]
    assert values(table, "priority") == [1, 5]
    assert np.isnan(table.column("deadline_s")[0])
    assert table.column("deadline_s")[1] == pytest.approx(30.5 + 1.2 * 150)
    assert values(replace(reader, reference="k80").read(), "duration_s") == [250.0, 300.0]


def test_synergy(samples):
    table = Synergy(str(samples / "synergy.csv")).read()
    assert values(table, "submit_s") == [15.0, 15.5]
    assert values(table, "duration_s") == [600.0, 220.0]
    assert values(table, "job_type") == ["IMAGE", "LANG"]
    assert values(table, "iteration_s") == [0.6, 0.011]
    assert values(table, "cpu") == [12.0, 2.0]
    assert values(table, "memory_gb") == [125.0, 40.0]


def test_blox_keeps_every_digit(samples):
    table = Blox(str(samples / "blox.csv")).read()
    assert table.column("job_id").dtype == np.int64 and values(table, "job_id") == [0, 7]
    assert values(table, "submit_s") == [65.0, 198.0]
    assert values(table, "duration_s") == [35424.34719808791, 289.4164200867145]
    assert values(table, "iterations") == [35424.34719808791, 578.832840173429]
    assert values(table, "iteration_s") == [1.0, 0.5]
    assert values(table, "model") == ["alexnet", "res18"]


def test_every_reader_has_a_sample_here():
    here = {Acme, Blox, Csv, ElasticFlow, Gavel, Helios, OpenB, Pai, Philly, Pollux, Synergy, Tiresias}
    logs = {Kueue, Pbs, Slurm, Swf}  # test_accounting_logs.py
    assert set(classes("reader").values()) == here | logs


def test_gzipped_files_read_the_same(samples, tmp_path):
    packed = tmp_path / "blox.csv.gz"
    packed.write_bytes(gzip.compress((samples / "blox.csv").read_bytes()))
    plain, unpacked = Blox(str(samples / "blox.csv")).read(), Blox(str(packed)).read()
    assert values(plain, "duration_s") == values(unpacked, "duration_s")


def test_windows_line_ends_and_a_byte_order_mark(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_bytes(b"\xef\xbb\xbfjob_id,submit_s,gpus,duration_s\r\na,0,1,5\r\n")
    assert values(Csv(str(file)).read(), "job_id") == ["a"]


def test_start_jobs_and_scale(samples):
    reader = ElasticFlow(str(samples / "elasticflow_augmented.csv"))
    second = replace(reader, start=1).read()
    assert values(second, "job_id") == ["44dd"]
    assert values(second, "submit_s") == [0.0] and values(second, "deadline_s") == [240.0]
    assert values(replace(reader, jobs=1).read(), "job_id") == ["33cc"]
    dense = replace(reader, scale=0.5).read()
    assert values(dense, "submit_s") == [50.0, 80.0]
    assert values(dense, "deadline_s") == [850.0, 320.0], "a deadline keeps its distance from the submission"
    assert values(dense, "duration_s") == [400.0, 100.0]
    assert any("multiplied by 0.5" in note for note in dense.notes)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"start": -1}, "start is -1"), ({"jobs": 0}, "jobs is 0"), ({"scale": 0.0}, "scale is 0")],
)
def test_limits_that_mean_nothing(samples, options, words):
    with pytest.raises(BloxError, match=words):
        Csv(str(samples / "ours.csv"), **options)


def test_a_start_beyond_the_end(samples):
    with pytest.raises(BloxError, match="start=3 skips all 3 jobs"):
        Csv(str(samples / "ours.csv"), start=3).read()
