"""Elastic applications of our own: what a job of each kind is, for generators, simulations and policies.

The figures and their source are in `elastic.toml`; a file of the same form can be read in its place. Models
are built from them where they are used: `ThroughputModel(*profile.throughput)`, `GradientNoise(1.0,
profile.noise_at(0.5))`, `BatchLimits(profile.initial_batch, profile.largest_batch, *profile.atomic)`.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from functools import lru_cache
from pathlib import Path

import numpy as np

from blox.errors import BloxError, suggestion
from blox.workloads.table import Array
from blox.workloads.text_files import read_toml

FILE = Path(__file__).parent / "elastic.toml"
RUN_GPUS = (1, 2, 4, 8, 16, 32, 64)  # what `run_s` is given for
_LEAST, _MOST = 1e-12, 1e12  # of a figure


@dataclass(frozen=True)
class ElasticProfile:
    """One application: how fast it runs, how far larger batches help it, and how much it has to do."""

    name: str
    throughput: tuple[float, ...]  # alpha_c, beta_c, alpha_n, beta_n, alpha_r, beta_r, gamma; s
    initial_batch: int
    largest_batch: int
    atomic: tuple[int, int]  # smallest and largest batch of one GPU in one pass
    epochs: int
    iterations: float  # at the initial batch size, from beginning to end
    noise: tuple[float, ...]  # variance / squared norm of the gradient, evenly spaced over the progress
    share: float = 1.0  # of the jobs of a mixed workload
    gpus: tuple[int, ...] = (1,)  # that such jobs ask for where they are not elastic
    run_s: tuple[float, ...] = ()  # seconds alone on RUN_GPUS GPUs
    error: float = 0.0  # median relative error of a step time
    does: str = ""

    def __hash__(self) -> int:
        """That of the name, which Python keeps: profiles are keys of caches that are asked in every round."""
        return hash(self.name)

    @property
    def most_gpus(self) -> int:
        """GPUs beyond which every one would have less than the smallest batch."""
        return self.largest_batch // self.atomic[0]

    def batch_range(self, smallest: int = 0, largest: int = 0) -> tuple[int, int]:
        """Total batch sizes from and to which a job with limits of its own can be set (0: it has none)."""
        return max(self.initial_batch, smallest), min(self.largest_batch, largest or self.largest_batch)

    def noise_at(self, progress: Array | float) -> Array:
        """Variance over squared norm of the gradient at a part of the way, from 0 to 1."""
        knots = np.linspace(0.0, 1.0, len(self.noise))
        return np.asarray(np.exp(np.interp(progress, knots, np.log(self.noise))))

    def seconds(self, gpus: Array | int) -> Array:
        """A run alone on so many GPUs, packed, at the best batch size; between given ones on a power law."""
        if not self.run_s:
            fix = "add run_s = [...], seconds alone on 1, 2, 4, ... GPUs"
            raise BloxError(
                "run_s is missing: how long its jobs run", where=f"application {self.name}", fix=fix
            )
        times = np.interp(np.log(gpus), np.log(RUN_GPUS[: len(self.run_s)]), np.log(self.run_s))
        return np.asarray(np.exp(times))


def elastic_profiles(path: str = "") -> dict[str, ElasticProfile]:
    """The applications by name, from the project's own file or another of its form."""
    return dict(_load(path))


def elastic_profile(name: str, path: str = "") -> ElasticProfile:
    """One application. Raises BloxError naming the others."""
    known = _load(path)
    if name not in known:
        raise BloxError(f"no elastic application is called {name!r}", fix=suggestion(name, known))
    return known[name]


@lru_cache(maxsize=16)
def _load(path: str) -> dict[str, ElasticProfile]:
    file = Path(path) if path else FILE
    content = read_toml(file, fix="give a TOML file of applications")
    return {name: _profile(name, entry, f"{file} [{name}]") for name, entry in content.items()}


def _profile(name: str, entry: dict[str, object], where: str) -> ElasticProfile:
    known = {each.name: each for each in fields(ElasticProfile) if each.name != "name"}
    for key in entry:
        if key not in known:
            raise BloxError(f"no figure is called {key!r}", where=where, fix=suggestion(key, known))
    for key, field in known.items():
        if key not in entry and field.default is MISSING:
            raise BloxError(f"{key} is missing", where=where, fix=f"add {key} = ...")
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    profile = ElasticProfile(name, **values)  # type: ignore[arg-type]
    lengths = {"throughput": 7, "atomic": 2}
    for key, length in lengths.items():
        if len(getattr(profile, key)) != length:
            raise BloxError(f"{key} has not {length} figures", where=where)
    figures = (*profile.throughput, *profile.noise, *profile.run_s, *profile.atomic, profile.iterations)
    if not profile.noise or not all(isinstance(f, int | float) and _LEAST <= f <= _MOST for f in figures):
        fix = f"throughput, noise, run_s, atomic and iterations: numbers from {_LEAST:g} to {_MOST:g}"
        raise BloxError("a figure is missing or out of range", where=where, fix=fix)
    if len(profile.run_s) > len(RUN_GPUS):
        fix = f"seconds on {', '.join(map(str, RUN_GPUS))} GPUs"
        raise BloxError(f"run_s has {len(profile.run_s)} figures", where=where, fix=fix)
    if not profile.atomic[0] <= profile.initial_batch <= profile.largest_batch:
        raise BloxError("the initial batch is out of range", where=where)
    return profile
