"""Tables of speeds and profiles, spoilt: each part that reads one, for a few rounds."""

from pathlib import Path
from random import Random

import blox.profiles
from blox import Experiment
from fuzz.mutation import spoilt
from support.places import SAMPLES

OWN = Path(blox.profiles.__file__).parent
SYNERGY = b"model,cpu_per_gpu,mem_per_gpu_gb,tput_rel_to_3cpu_62.5gb\n" + b"".join(
    b"resnet,%d,%d,%.1f\n" % (cpu, memory, cpu / 3) for cpu in (1, 3, 6) for memory in (62, 125)
)
SIZES = b"duration\n" + b"".join(b"%d\n" % (60 * n) for n in range(1, 30))
# what reads the table: (a good table, its suffix, the settings that name it as PATH)
TABLES = {
    "rates": (OWN / "spread.csv", {"performance": "table:path=PATH"}),
    "throughputs": (SAMPLES / "gavel_throughputs.json", {"performance": "throughputs:path=PATH"}),
    "Gavel's throughputs": (SAMPLES / "gavel_throughputs.json", {"scheduler": "gavel:throughputs=PATH"}),
    "models": (OWN / "models.csv", {"performance": "spread:models=PATH",
    "placement": "profile:models=PATH"}),
    "GPUs": (OWN / "gpus.csv", {"performance": "spread:gpus=PATH"}),
    "skew": (OWN / "models.csv", {"placement": "tiresias:models=PATH"}),
    "sensitivity": (SYNERGY, {"performance": "sensitivity:profiles=PATH",
    "placement": "synergy:profiles=PATH"}),
    "applications": (
        OWN / "elastic.toml",
        {"workload": "elastic:profiles=PATH,max_gpus=8", "performance": "goodput:profiles=PATH"},
    ),
    "sizes": (SIZES, {"scheduler": "tiresias:index=gittins,distribution=PATH"}),
}  # fmt: skip


def case(rng: Random, folder: Path) -> None:
    """Runs a few jobs on a spoilt table."""
    good, settings = TABLES[rng.choice(list(TABLES))]
    table = folder / ("table" + (good.suffix if isinstance(good, Path) else ".csv"))
    table.write_bytes(spoilt(rng, good.read_bytes() if isinstance(good, Path) else good))
    named = {name: spec.replace("PATH", str(table)) for name, spec in settings.items()}
    jobs = {"workload": "gavel:multi=true,load=60", "cluster": "2x4:cpu=24,memory_gb=500", "jobs": 4}
    if rng.random() < 0.3:
        jobs["cluster"] = "v100=1x8,k80=1x8"
    Experiment(**{**jobs, "max_rounds": 30, **named}).run()  # type: ignore[arg-type]
