"""Experiments, sweeps and clusters in TOML, spoilt."""

from pathlib import Path
from random import Random

from blox import Experiment
from blox.cli.experiments import experiment_from
from blox.cli.grids import grid_from
from blox.experiment.sweep import check_all
from blox.state.cluster_spec import cluster_from_spec
from fuzz.mutation import spoilt, token

EXPERIMENT = b"""workload = "constant"
cluster = "2x4"
admission = "accept-all"
scheduler = "las"
placement = "consolidated"
overheads = "launch=30,restart=60"
round_s = 300.0
window = "0-2"
jobs = 4
seed = 3
max_rounds = 40
label = "mine"

[provenance]
blox_version = "0.1.0"
workload_sha256 = "00"
"""
SWEEP = b"""workload = "constant"
cluster = ["2x4", "4x4"]
jobs = 3
max_rounds = 10

[sweep]
scheduler = ["fifo", "las"]
seed = [0, 1]
round_s = [60, 300.0]
"""
CLUSTER = b"""network_gbps = 100
rack_gbps = 10.0

[[nodes]]
name = "big"
count = 2
gpus = 4
gpu_type = "v100"
cpu = 24
memory_gb = 500
storage_gbps = 1
rack = 1

[[nodes]]
gpus = 2
gpu_type = "k80"

[links]
k80 = [[0, 25], [25, 0]]
"""
VALUES = (
    "[]", "{}", "[[]]", "[1]", "{a = 1}", "true", "false", "1979-05-27", "07:32:00",
    "1979-05-27T07:32:00Z", "''", '""', "nan", "inf", "-inf", "0", "-1", "1e400", "9" * 30, "9" * 5000,
    "0xff", "0o7", '["a", 1]', "[" * 60 + "]" * 60, "[" * 5000, '"\\u0000"', '"\\u007f"',
    '"\\u001b[2J"', '"fifo"', '["fifo", "fifo"]', "[nan, nan]",
)  # fmt: skip


def case(rng: Random, folder: Path) -> None:
    """Reads a file that is spoilt in its bytes, or in one of its values."""
    kind = rng.choice(("experiment", "sweep", "cluster"))
    good = {"experiment": EXPERIMENT, "sweep": SWEEP, "cluster": CLUSTER}[kind]
    file = folder / "spoilt.toml"
    file.write_bytes(_other_value(rng, good) if rng.random() < 0.6 else spoilt(rng, good))
    if kind == "cluster":
        cluster_from_spec(str(file))
        Experiment(workload="constant", cluster=str(file), jobs=3, max_rounds=10).run()
    elif kind == "sweep" or rng.random() < 0.2:
        experiments = grid_from(file, {}).experiments()
        check_all(experiments[:20])
    else:
        prepared = experiment_from(file, {"jobs": 3, "max_rounds": 20}, ignore_checksum=rng.random() < 0.5)
        prepared.run()


def _other_value(rng: Random, good: bytes) -> bytes:
    lines = good.decode().split("\n")
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.choice([number for number, line in enumerate(lines) if "=" in line])
        key = (
            lines[at].partition("=")[0]
            if rng.random() < 0.9
            else f"{rng.choice(('load', 'sweep', 'x', 'a.b'))} "
        )
        value = rng.choice(VALUES) if rng.random() < 0.8 else f'"{token(rng)}"'
        lines[at] = f"{key}= {value}"
    return "\n".join(lines).encode()
