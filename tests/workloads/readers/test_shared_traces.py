"""The real traces, read whole: every line is a job or is counted as left out."""

import csv
import gzip
import re
import time

import numpy as np
import pytest

from blox import Experiment
from blox.profiles.elastic import elastic_profile
from blox.workloads.spec import workload_from_spec
from blox.workloads.table import COLUMNS
from blox.workloads.writers import write_trace


def lines_of(file, header=1):
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return sum(1 for line in content.splitlines() if line.strip()) - header


def left_out(table):
    counts = [re.match(r"left out ([\d,]+) job", note) for note in table.notes]
    return sum(int(c.group(1).replace(",", "")) for c in counts if c)


def read(spec, file, header=1):
    table = workload_from_spec(spec).table
    assert len(table) + left_out(table) == lines_of(file, header)
    assert np.all(np.diff(table.column("submit_s")) >= 0)
    return table


def test_philly(shared):
    file = shared("data/philly.csv")
    start = time.process_time()
    table = read(f"philly:{file}", file)
    assert time.process_time() - start < 5, "read fast (about 0.5 s where nothing else runs)"
    assert len(table) == 82247 and left_out(table) == 0
    assert table.column("gpus").max() == 128
    assert len(set(table.column("tenant"))) == 15
    assert table.column("submit_s")[0] == 0


def test_openb(shared):
    file = shared("data/openb/openb_pod_list_default.csv")
    table = read(f"openb:{file}", file)
    assert len(table) == 6203 and left_out(table) == 1949
    assert np.count_nonzero(table.column("share_milli") < 1000) == 2573


@pytest.mark.parametrize(
    ("cluster", "jobs"), [("01", 1595), ("02", 5778), ("03", 3011), ("04", 15802), ("05", 3629)]
)
def test_elasticflow(shared, cluster, jobs):
    file = shared(f"data/elasticflow/cluster{cluster}.csv")
    assert len(read(f"elasticflow:{file}", file)) == jobs


@pytest.mark.parametrize(
    "path",
    [
        "data/tiresias/60_job.csv",
        *(f"goldens/tiresias/inputs/{n}.csv" for n in ("60_job", "h1_100", "h3_200", "h5_500ties", "s5000")),
    ],
)
def test_tiresias(shared, path):
    file = shared(path)
    read(f"tiresias:{file}", file)


@pytest.mark.parametrize("number", range(1, 8))
def test_pollux(shared, number):
    file = shared(f"data/pollux/workloads/workload-{number}.csv")
    table = read(f"pollux:{file}", file)
    assert len(table) == 160
    most = {"bert": 64, "cifar10": 64, "deepspeech2": 64, "imagenet": 64, "ncf": 1, "yolov3": 64}
    assert table.columns["max_gpus"].tolist() == [most[name] for name in table.columns["model"]]
    assert (table.columns["min_gpus"] == 1).all()
    profiles = [elastic_profile(name) for name in table.columns["model"]]
    assert table.columns["min_batch_size"].tolist() == [each.initial_batch for each in profiles]
    assert table.columns["max_batch_size"].tolist() == [each.largest_batch for each in profiles]


def test_a_pollux_workload_stays_elastic_in_our_own_csv(shared, tmp_path):
    file = shared("data/pollux/workloads/workload-6.csv")
    before, copy = workload_from_spec(f"pollux:{file}"), tmp_path / "jobs.csv"
    copy.write_text(write_trace(before.table).text)
    after = workload_from_spec(str(copy))
    assert list(after.table.columns) == [name for name in COLUMNS if name in before.table.columns]
    for name, values in before.table.columns.items():
        assert after.table.columns[name].tolist() == values.tolist(), name
    assert before.default_performance == after.default_performance == "goodput"


@pytest.mark.parametrize("scheduler", ["pollux:generations=5", "optimus"])
def test_schedulers_resize_a_pollux_workload_as_it_is(shared, scheduler):
    file = shared("data/pollux/workloads/workload-6.csv")
    settings = {"workload": f"pollux:{file}?jobs=20", "cluster": "16x4", "round_s": 60.0}
    elastic, rigid = (Experiment(scheduler=each, **settings).run() for each in (scheduler, "fifo"))
    assert elastic.summary["resizable_jobs"] > 5
    assert elastic.jobs["moves"].sum() > 10 and rigid.jobs["moves"].sum() == 0
    held = rigid.jobs["gpu_seconds"] / rigid.jobs["run_s"]
    np.testing.assert_allclose(held, rigid.jobs["gpus"], err_msg="others run jobs at the size they ask for")


def test_pollux_durations_are_those_of_jobs_that_did_not_wait(shared):
    """In the artifact's Tiresias run a job holds its GPUs for 30 s of start-up and then for its duration."""
    file = shared("data/pollux/workloads/workload-6.csv")
    ran = {
        r["name"]: r for r in csv.DictReader(shared("goldens/pollux/sim/tiresias_workload-6_i60.csv").open())
    }
    table = workload_from_spec(f"pollux:{file}").table
    ratios = {}
    columns = (table.column(name).tolist() for name in ("job_id", "model", "gpus", "duration_s"))
    for name, model, gpus, duration in zip(*columns):
        if ran[name]["num_restarts"] == "0":
            held = float(ran[name]["attained_service"]) / gpus - 30
            ratios.setdefault((model, gpus), []).append(held / duration)
    assert len(ratios) > 8
    for kind, found in ratios.items():
        # epochs are rounded to whole seconds there; the median passes over jobs that were not packed
        assert np.median(found) == pytest.approx(1, abs=0.025), kind


@pytest.mark.parametrize(
    "name",
    [
        "cont_multi_n120_lam3600_s3",
        "cont_single_short_n150_lam400_s5",
        "cont_singleprio_n100_lam2700_s4",
        "loaded_multi_n200_lam110_s8",
        "loaded_single_n300_lam55_s7",
        "physical_artifact_evaluation",
        "physical_max_min_fairness",
        "physical_small_test",
        "static_multi_n60_s1",
    ],
)
def test_gavel(shared, name):
    file = shared(f"goldens/gavel/sim/traces/{name}.trace")
    table = read(
        f"gavel:{file}?throughputs={shared('data/gavel/simulation_throughputs.json')}", file, header=0
    )
    assert np.array_equal(table.column("iterations"), np.round(table.column("iterations")))


@pytest.mark.parametrize(
    "name",
    [
        "jobs_C1multi_16x8_l14_s207010.csv",
        "jobs_C2multi_32x4_l10_s333333.csv",
        "jobs_C4phillymix_16x8_l16_s50_0_50.csv",
        "jobs_P9single_16x8_l9_s207010.csv.gz",
        "jobs_S1static100_4x8.csv",
        "jobs_S2dyn_4x8.csv",
    ],
)
def test_synergy(shared, name):
    file = shared(f"goldens/synergy/inputs/{name}")
    read(f"synergy:{file}", file)


@pytest.mark.parametrize("name", ["jobs_A_load4", "jobs_A_load4_coldpickle", "jobs_A_load8", "jobs_B_load8"])
def test_blox(shared, name):
    file = shared(f"goldens/blox/{name}.csv")
    table = read(f"blox:{file}", file)
    rows = list(csv.DictReader(file.open()))
    assert table.column("job_id").tolist() == [int(r["job_id"]) for r in rows]
    for ours, theirs in (
        ("duration_s", "duration_s"),
        ("iterations", "total_iterations"),
        ("submit_s", "arrival_s"),
    ):
        assert table.column(ours).tolist() == [float(r[theirs]) for r in rows], "not a digit is lost"
