"""The grammar of workload specs: generators, traces, our own CSV, files of the user's own."""

import hashlib
from dataclasses import dataclass

import numpy as np
import pytest

from blox.errors import BloxError
from blox.registry import register
from blox.workloads.readers.csv import Csv
from blox.workloads.readers.philly import Philly
from blox.workloads.spec import draw, is_trace, workload_from_spec, workload_rng
from blox.workloads.table import JobTable
from blox.workloads.trace import Trace

MINE = """
from dataclasses import dataclass
import numpy as np
from blox.workloads.table import JobTable

@dataclass(frozen=True)
class Mine:
    gpus: int = 1

    def batches(self, rng):
        start = 0
        while True:
            rows = np.arange(start, start + 4)
            yield JobTable.build({"job_id": rows, "submit_s": rows * 1.0, "gpus": np.full(4, self.gpus),
                                  "duration_s": rng.uniform(1, 2, 4)}, source="mine")
            start += 4

class Idle:
    pass
"""


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    return file


def test_a_name_is_a_generator_and_a_path_a_trace(samples):
    generator = workload_from_spec("philly:load=8")
    assert not isinstance(generator, Trace) and generator.load == 8
    trace = workload_from_spec(f"philly:{samples / 'philly.csv'}")
    assert isinstance(trace, Trace) and isinstance(trace.reader, Philly)
    assert not isinstance(workload_from_spec("philly"), Trace)


def test_options_stand_behind_a_question_mark(samples):
    trace = workload_from_spec(f"philly:{samples / 'philly.csv'}?tenant=aa11&jobs=1&scale=0.5")
    assert (trace.reader.tenant, trace.reader.jobs, trace.reader.scale) == ("aa11", 1, 0.5)
    assert len(trace.table) == 1
    assert workload_from_spec(trace.spec).reader == trace.reader, "a trace's spec reads the same trace"


def test_a_bare_path_is_our_own_csv(samples):
    trace = workload_from_spec(f"{samples / 'ours.csv'}?jobs=2")
    assert isinstance(trace.reader, Csv) and len(trace.table) == 2


def test_a_trace_is_read_once_and_knows_its_checksum(samples):
    trace = workload_from_spec(str(samples / "ours.csv"))
    first, second = next(trace.batches(workload_rng(1))), next(trace.batches(workload_rng(2)))
    assert first is second is trace.table
    assert list(trace.batches(workload_rng(0))) == [trace.table]
    assert trace.checksum == hashlib.sha256((samples / "ours.csv").read_bytes()).hexdigest()


def test_the_checksum_covers_every_file_the_jobs_come_from(samples):
    spec = f"gavel:{samples / 'gavel.trace'}?throughputs={samples / 'gavel_throughputs.json'}"
    content = (samples / "gavel.trace").read_bytes() + (samples / "gavel_throughputs.json").read_bytes()
    assert workload_from_spec(spec).checksum == hashlib.sha256(content).hexdigest()


def test_a_generator_of_the_users_own(mine):
    workload = workload_from_spec(f"{mine}:Mine:gpus=2")
    table = draw(workload, 6, seed=3)
    assert table.column("job_id").tolist() == list(range(6))
    assert table.column("gpus").tolist() == [2] * 6
    again = draw(workload, 4, seed=3)
    assert again.column("duration_s").tolist() == table.column("duration_s")[:4].tolist()
    with pytest.raises(BloxError, match=r"Idle has no batches\(rng\)"):
        workload_from_spec(f"{mine}:Idle")
    with pytest.raises(BloxError, match=r"no class is called 'Min'(.|\n)*did you mean 'Mine'"):
        workload_from_spec(f"{mine}:Min")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "an empty workload spec"),
        ("phily", "did you mean 'philly'"),
        ("phily:load=8", "did you mean 'philly'"),
        ("heliox:log.csv", "did you mean 'helios'"),
        ("helios", "'helios' is a trace format and needs a path"),
        ("helios:load=8", "'helios' is a trace format and needs a path"),
        ("csv:", "'csv' is a trace format and needs a path"),
        ("philly:nowhere.json", "nowhere.json: no such file"),
        ("nowhere.csv", "nowhere.csv: no such file"),
        ("nowhere.csv.gz", "nowhere.csv.gz: no such file"),
        ("constant:somewhere/x", "is neither options nor, for the generator 'constant', a path"),
        ("philly:lode=8", "did you mean 'load'"),
        ("philly:load=fast", "'fast' is not a number"),
        ("./nowhere.py:Mine", "no such file"),
        ("./nowhere.py", "a file needs a class"),
    ],
)
def test_specs_that_mean_nothing(spec, words):
    with pytest.raises(BloxError) as caught:
        workload_from_spec(spec)
    assert words in caught.value.text()


def test_unknown_names_list_generators_and_formats():
    with pytest.raises(BloxError) as caught:
        workload_from_spec("nonsense")
    assert "generators: " in caught.value.fix and "tiresias:PATH" in caught.value.fix


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("tenannt=x", "did you mean 'tenant'"),
        ("jobs=many", "'many' is not a whole number"),
        ("jobs=0", "jobs is 0"),
        ("jobs", "'jobs' is not key=value"),
        ("path=x", "the path is given twice"),
    ],
)
def test_options_that_mean_nothing(samples, options, words):
    with pytest.raises(BloxError) as caught:
        workload_from_spec(f"philly:{samples / 'philly.csv'}?{options}")
    assert words in caught.value.text()


def test_the_random_stream_of_a_seed_is_fixed():
    assert workload_rng(1).random(3).tolist() == workload_rng(1).random(3).tolist()
    assert workload_rng(1).random() != workload_rng(2).random()
    # as documented: PCG64 of the seed, spawn key crc32("workload") = 302230139
    sequence = np.random.SeedSequence(entropy=1, spawn_key=(302230139,))
    assert workload_rng(1).random() == np.random.Generator(np.random.PCG64(sequence)).random()


def test_a_reader_from_elsewhere_needs_only_a_path_and_read(samples, monkeypatch):
    from blox.registry import known_parts

    monkeypatch.setitem(known_parts._classes, "reader", dict(known_parts.classes("reader")))

    @register.reader("plain")
    @dataclass(frozen=True)
    class Plain:
        path: str

        def read(self):
            return JobTable.build(
                {"job_id": ["x"], "submit_s": [0.0], "gpus": [1], "duration_s": [9.0]}, source=self.path
            )

    trace = workload_from_spec(f"plain:{samples / 'ours.csv'}")
    assert len(trace.table) == 1 and len(trace.checksum) == 64


def test_specs_that_name_a_trace():
    traces = ("a.csv", "a.csv.gz?scale=0.5", "helios:log.csv", "philly:cluster_job_log?tenant=x", "./a=b.csv")
    assert all(is_trace(spec) for spec in traces)
    generators = ("philly", "philly:load=8", "./mine.py:Mine", "./mine.py:Mine:rate=2", "elastic:of=a.csv")
    assert not any(is_trace(spec) for spec in generators)
