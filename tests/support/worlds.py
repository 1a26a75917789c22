"""Random worlds for property tests: jobs, clusters and the specs of every part, from hypothesis.

Times are drawn from small sets and from round numbers, so that ties, bursts and events exactly on a
boundary are the rule and not the exception; a long tail of durations is always among them.
"""

import csv
import dataclasses
import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from blox import Experiment
from blox.workloads.table import JobTable

COLUMNS = ("job_id", "submit_s", "gpus", "duration_s", "user", "tenant", "model", "job_type", "priority")
SCHEDULERS = (
    "fifo",
    "fifo:strict=false",
    "fifo:strict=true,preempt=true",
    "fifo:strict=false,preempt=true",
    "fifo-priority",
    "fifo-priority:strict=true",
    "fifo-priority:preempt=false",
    "srtf",
    "srtf:by=gpu-time",
    "srtf:by=wall,strict=true",
    "las",
    "las:by=time",
    "las:strict=true",
    "sjf",
    "sjf:preempt=true",
    "promote:policy=las,after_s=1200",
    "promote:policy=srtf:by=gpu-time;strict=true,after_s=900,lag_s=300",
)
PLACEMENTS = (
    "first-free",
    "count",
    "random",
    "consolidated",
    "consolidated:fallback=spread",
    "scattered:fixed=true",
)
ADMISSIONS = (
    "accept-all",
    "accept-all",
    "threshold",
    "threshold:factor=0.6",
    "threshold:overshoot=true",
    "quota:user_jobs=2",
    "quota:tenant_gpus=4,type_jobs=3",
    "quota:most_gpus=2,user_gpus=6",
)
CLUSTERS = ((1,), (4,), (4, 4), (2, 2, 2), (8, 4, 1), (4, 2, 2, 1, 1), (3, 5))


@dataclass(frozen=True)
class World:
    """An experiment without files: jobs as tuples in the order of COLUMNS, nodes by their GPUs."""

    jobs: tuple[tuple, ...]
    nodes: tuple[int, ...]
    admission: str = "accept-all"
    scheduler: str = "fifo"
    placement: str = "first-free"
    performance: str = "duration"
    overheads: str = "none"
    failures: str = "none"
    outages: tuple[tuple, ...] = ()  # (node, down_s, up_s, notice_s; None: unannounced), beside `failures`
    belief: str = "oracle"
    clock: str = "rounds"
    round_s: float = 300.0
    seed: int = 0

    @property
    def total_gpus(self):
        return sum(self.nodes)

    def experiment(self):
        """The experiment, with its trace and cluster written where temporary files go."""
        return Experiment(
            workload=str(_file("csv", _csv(self.jobs))),
            cluster=str(_file("toml", "".join(f"[[nodes]]\ngpus = {gpus}\n" for gpus in self.nodes))),
            **{
                field.name: getattr(self, field.name)
                for field in dataclasses.fields(self)
                if field.name not in ("jobs", "nodes", "outages", "failures")
            },
            failures=self._failures(),
        )

    def _failures(self):
        if not self.outages:
            return self.failures
        lines = [",".join("" if cell is None else str(cell) for cell in outage) for outage in self.outages]
        trace = f"trace:{_file('csv', chr(10).join(('node,down,up,notice', *lines)) + chr(10))}"
        return trace if self.failures == "none" else f"{trace}+{self.failures}"

    def run(self, *, skip=True):
        return self.experiment().run(skip=skip)

    def table(self):
        columns = {name: [job[i] for job in self.jobs] for i, name in enumerate(COLUMNS)}
        return JobTable.build(columns, source="world")


_FOLDER = tempfile.TemporaryDirectory(prefix="blox-worlds-")  # goes when the tests end


def _file(suffix, text):
    path = Path(_FOLDER.name) / f"{hashlib.sha1(text.encode()).hexdigest()[:16]}.{suffix}"
    if not path.exists():
        path.write_text(text)
    return path


def _csv(jobs):
    class Lines(list):
        write = list.append

    lines = Lines()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(jobs)
    return "".join(lines)


SUBMIT_S = st.one_of(
    st.just(0.0),
    st.sampled_from([0.0, 1.0, 299.5, 300.0, 300.5, 600.0, 900.0, 1500.0]),
    st.floats(0, 4000, allow_nan=False).map(lambda t: round(t, 2)),
)
DURATION_S = st.one_of(
    st.sampled_from([1.0, 100.0, 300.0, 600.0, 900.0, 1200.0]),
    st.floats(0.5, 2000, allow_nan=False).map(lambda t: round(t, 3)),
    st.floats(4, 9.5, allow_nan=False).map(lambda t: round(float(np.exp(t)), 1)),  # up to 13,000 s
)


@st.composite
def jobs_for(draw, total_gpus, most=14):
    sizes = st.sampled_from([n for n in (1, 1, 1, 2, 2, 3, 4, 5, 8) if n <= total_gpus])
    job = st.tuples(
        SUBMIT_S,
        sizes,
        DURATION_S,
        st.sampled_from(["ann", "bob", "eve"]),
        st.sampled_from(["red", "blue"]),
        st.sampled_from(["LSTM", "Resnet-50", "other"]),
        st.sampled_from(["training", "evaluation"]),
        st.integers(0, 2),
    )
    drawn = draw(st.lists(job, min_size=1, max_size=most))
    drawn.sort(key=lambda each: each[0])
    return tuple((f"job-{i}", *each) for i, each in enumerate(drawn))


@st.composite
def worlds(
    draw,
    clocks=("rounds", "rounds", "events"),
    schedulers=SCHEDULERS,
    placements=PLACEMENTS,
    rounds=(300.0, 300.0, 60.0, 33.3, 0.7 * 11),
):
    nodes = draw(st.sampled_from(CLUSTERS))
    clock = draw(st.sampled_from(clocks))
    overheads = draw(st.sampled_from(["none", "none", "launch=20,restart=45", "per-model"]))
    return World(
        jobs=draw(jobs_for(sum(nodes))),
        nodes=nodes,
        admission=draw(st.sampled_from(ADMISSIONS)),
        scheduler=draw(st.sampled_from(schedulers)),
        placement=draw(st.sampled_from(placements)),
        performance=draw(st.sampled_from(["duration", "duration", "table"])),
        overheads=overheads,
        belief=draw(st.sampled_from(["oracle", "oracle", "noisy:sigma=1"])),
        clock=clock if clock == "rounds" else "events:quantum_s=100",
        # A round in which a restarted job gets nothing done would let policies that share time thrash.
        round_s=draw(st.sampled_from(rounds if overheads == "none" else (300.0,))),
        seed=draw(st.integers(0, 3)),
    )


def gpus_by_job(result):
    """(job, start) -> sorted GPU ids of each stint."""
    found = {}
    stints = result.stints
    for job, gpu, start, end in zip(*(stints[n].tolist() for n in ("job", "gpu", "start_s", "end_s"))):
        found.setdefault((job, start, end), []).append(gpu)
    return found
