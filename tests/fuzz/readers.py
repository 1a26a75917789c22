"""Traces in every format, spoilt: read, examined, and run for a few rounds if they can be read."""

import gzip
import shutil
from pathlib import Path
from random import Random

from blox import Experiment
from blox.workloads.spec import workload_from_spec
from fuzz.mutation import spoilt, token
from support.places import SAMPLES

# format -> the trace, and all files that may be spoilt
TRACES = {
    "csv": ("ours.csv", ["ours.csv"]),
    "philly": ("philly.csv", ["philly.csv"]),
    "philly log": ("philly_log.json", ["philly_log.json"]),
    "helios": ("helios.csv", ["helios.csv"]),
    "pai": ("pai", ["pai/pai_job_table.csv", "pai/pai_task_table.csv", "pai/pai_job_table.header"]),
    "acme": ("acme.csv", ["acme.csv"]),
    "openb": ("openb.csv", ["openb.csv"]),
    "tiresias": ("tiresias.csv", ["tiresias.csv"]),
    "synergy": ("synergy.csv", ["synergy.csv"]),
    "blox": ("blox.csv", ["blox.csv"]),
    "elasticflow": ("elasticflow_augmented.csv", ["elasticflow_augmented.csv"]),
    "gavel": ("gavel.trace", ["gavel.trace", "gavel.trace", "gavel_throughputs.json"]),
    "slurm": ("slurm.txt", ["slurm.txt"]),
    "slurm json": ("slurm.json", ["slurm.json"]),
    "swf": ("swf.txt", ["swf.txt"]),
    "pbs": ("pbs.txt", ["pbs.txt"]),
    "kueue": ("kueue.json", ["kueue.json"]),
    "pollux": (
        "pollux/workloads/workload.csv",
        [
            "pollux/workloads/workload.csv",
            "pollux/workloads/workload.csv",
            "pollux/applications/toy/placements.csv",
            "pollux/applications/toy/validation-8.csv",
        ],
    ),
}  # fmt: skip
OPTIONS = ("scale", "jobs", "start", "max_gpus", "group", "tenant")


def case(rng: Random, folder: Path, kind: str = "") -> None:
    """Spoils one file of a trace, of any format or of one, and reads it."""
    kind = kind or rng.choice(list(TRACES))
    path, files = TRACES[kind]
    place = folder / "samples"
    shutil.copytree(SAMPLES, place)
    victim = place / rng.choice(files)
    content = spoilt(rng, victim.read_bytes())
    if rng.random() < 0.1:
        content = gzip.compress(content)
        content = spoilt(rng, content) if rng.random() < 0.5 else content
    victim.write_bytes(content)
    options = [f"throughputs={place / 'gavel_throughputs.json'}"] if kind == "gavel" else []
    if kind.startswith("slurm"):
        options.append("types=ignore")  # the cluster has no a100
    if rng.random() < 0.2:
        options.append(f"{rng.choice(OPTIONS)}={token(rng)}")
    spec = f"{kind.split()[0]}:{place / path}{'?' + '&'.join(options) if options else ''}"
    if rng.random() < 0.3:
        workload_from_spec(spec).reader.examine()  # type: ignore[attr-defined]
    scheduler = rng.choice(("fifo", "srtf", "las"))
    Experiment(workload=spec, cluster="2x8", scheduler=scheduler, performance="duration", max_rounds=50).run()
