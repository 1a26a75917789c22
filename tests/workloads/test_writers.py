"""Writing traces: what is written reads back the same, and what a format cannot hold is said."""

import gzip

import numpy as np
import pytest

from blox.errors import BloxError
from blox.workloads.spec import workload_from_spec
from blox.workloads.table import COLUMNS, JobTable
from blox.workloads.text_files import write_text
from blox.workloads.writers import WRITERS, write_trace

SAMPLES = ["csv:ours.csv", "blox:blox.csv", "tiresias:tiresias.csv", "elasticflow:elasticflow_augmented.csv"]
SAMPLES += ["philly:philly.csv", "openb:openb.csv", "synergy:synergy.csv", "helios:helios.csv", "pai:pai"]


def read(samples, spec):
    name, _, path = spec.partition(":")
    return workload_from_spec(f"{name}:{samples / path}").table


def back(tmp_path, table, to):
    written = write_trace(table, to)
    write_text(tmp_path / "out", written.text)
    return workload_from_spec(f"{to}:{tmp_path / 'out'}").table, written.notes


@pytest.mark.parametrize("spec", SAMPLES)
def test_our_csv_holds_everything(samples, tmp_path, spec):
    table = read(samples, spec)
    again, notes = back(tmp_path, table, "csv")
    assert set(again.columns) == set(table.columns) and not notes
    for name, values in table.columns.items():
        if COLUMNS[name].is_text:
            assert [str(v) for v in values] == again.column(name).tolist()
        else:
            assert np.array_equal(values, again.column(name), equal_nan=True), name


@pytest.mark.parametrize("to", sorted(WRITERS))
@pytest.mark.parametrize("spec", SAMPLES)
def test_every_format_keeps_order_gpus_and_time(samples, tmp_path, spec, to):
    table = read(samples, spec)
    again, _ = back(tmp_path, table, to)
    assert again.column("gpus").tolist() == table.column("gpus").tolist()
    whole = 1.0 if to in ("tiresias", "philly") else 0.0
    assert np.allclose(again.column("duration_s"), table.column("duration_s"), rtol=0, atol=whole)
    shift = again.column("submit_s")[0] - table.column("submit_s")[0]
    assert np.allclose(again.column("submit_s") - shift, table.column("submit_s"), rtol=0, atol=whole)


def test_a_format_writes_back_its_own_sample(samples, tmp_path):
    for spec, columns in (
        ("blox:blox.csv", ("job_id", "iterations", "iteration_s", "model")),
        ("tiresias:tiresias.csv", ("job_id", "model")),
        (
            "elasticflow:elasticflow_augmented.csv",
            ("job_id", "iterations", "model", "deadline_s", "batch_size"),
        ),
        ("philly:philly.csv", ("tenant",)),
    ):
        table = read(samples, spec)
        again, _ = back(tmp_path, table, spec.partition(":")[0])
        for name in columns:
            assert again.column(name).tolist() == table.column(name).tolist(), (spec, name)


def test_what_is_lost_is_said(samples):
    notes = " ".join(write_trace(read(samples, "csv:ours.csv"), "tiresias").notes)
    assert "job ids are not whole numbers" in notes
    assert "rounded to whole seconds" in notes
    assert "no place for them: user, tenant, priority, deadline_s, min_gpus, max_gpus, cpu" in notes


def test_text_with_commas_quotes_and_newlines(tmp_path):
    table = JobTable.build(
        {"job_id": ['a,"b"\nc'], "submit_s": [0.0], "gpus": [1], "duration_s": [0.1 + 0.2]}, source="here"
    )
    again, _ = back(tmp_path, table, "csv")
    assert again.column("job_id").tolist() == ['a,"b"\nc']
    assert again.column("duration_s").tolist() == [0.1 + 0.2], "every digit is kept"


def test_an_unknown_format(samples):
    with pytest.raises(BloxError, match=r"written as 'tiresia'(.|\n)*did you mean 'tiresias'"):
        write_trace(read(samples, "csv:ours.csv"), "tiresia")


def test_files_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "out.csv"
    write_text(file, "before")

    def fail(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(BloxError, match="cannot be written: No space left"):
        write_text(file, "after")
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file], "nothing half-written is left"


def test_gz_names_are_gzipped_the_same_every_time(tmp_path):
    write_text(tmp_path / "a.csv.gz", "x,y\n")
    write_text(tmp_path / "b.csv.gz", "x,y\n")
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == b"x,y\n"
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    with pytest.raises(BloxError, match="no such folder"):
        write_text(tmp_path / "no" / "c.csv", "x")
