"""Jobs whose GPUs and batch size a scheduler may change: of our own applications, or made of any workload."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from blox.errors import BloxError
from blox.optional import declared
from blox.profiles.elastic import ElasticProfile, elastic_profiles
from blox.registry import register
from blox.workloads import population, streams
from blox.workloads.distributions import Choices
from blox.workloads.drawn import drawn
from blox.workloads.limits import MOST_JOBS, above_zero, whole
from blox.workloads.table import Array, JobTable, Workload

_GOLDEN = 0.6180339887498949  # multiples of it are spread evenly over [0, 1)


@register.workload("elastic")
@dataclass(frozen=True)
class Elastic:
    """Poisson arrivals of elastic jobs, `load` an hour, of the applications in `profiles/elastic.toml`.

    A job can use from 1 GPU to as many as its application allows, and `max_gpus` at most; `gpus` is what it
    asks for where it is not resized, and `duration_s` how long it then takes. Its batch sizes are those of
    its application, from `min_batch_size` to `max_batch_size` at most. `of` is another workload's spec
    with `;` for `,` (`elastic:of=philly:load=8;jobs=500`): its jobs keep their times, GPUs and durations, and
    those whose model is no application are given one in turn; jobs that are elastic already keep their
    limits; one that asks for more than `max_gpus` asks for so many, and takes the longer. Their speeds are
    those of `goodput`, unless another performance model is named. `profiles` is a file of applications of
    your own.
    """

    load: float = 20.0
    jobs: int | None = None
    max_gpus: int | None = None
    min_batch_size: int | None = None
    max_batch_size: int | None = None
    of: str = ""
    profiles: str = ""

    def __post_init__(self) -> None:
        above_zero("load", self.load, "jobs per hour")
        whole("jobs", self.jobs, 1, MOST_JOBS)
        for name in ("max_gpus", "min_batch_size", "max_batch_size"):
            whole(name, getattr(self, name), 1)
        elastic_profiles(self.profiles)
        if not self._able(1):
            limits = {name: getattr(self, name) for name in ("max_gpus", "min_batch_size", "max_batch_size")}
            given = ", ".join(f"{name}={value}" for name, value in limits.items() if value is not None)
            raise BloxError(f"no application can run with {given}", fix="give wider limits")
        if not self.of:
            return
        if self.load != 20.0:
            raise BloxError("the load is that of the workload in `of`", fix="write of=philly:load=8")
        if self.jobs is None:
            object.__setattr__(self, "jobs", declared(self._source, "jobs"))

    @property
    def default_performance(self) -> str:
        """Jobs scale as their profiles say, under every scheduler."""
        return f"goodput:profiles={self.profiles}" if self.profiles else "goodput"

    @property
    def endless(self) -> bool | None:
        """Whether jobs have no end unless `jobs` is given; as the workload in `of` says, or does not."""
        return bool(declared(self._source, "endless")) if self.of else True

    @property
    def largest_gpus(self) -> int | None:
        """The most GPUs that one of its jobs can ask for; None where the workload in `of` does not say."""
        if self.of:
            largest: int | None = declared(self._source, "largest_gpus")
            if largest is None or self.max_gpus is None:
                return largest
            return min(largest, self.max_gpus)
        return max(gpus for profile in self._able(1) for gpus in self._sizes(profile))

    @property
    def needed_gpus(self) -> int:
        """The most GPUs that one of its jobs needs where jobs are resized."""
        return 1

    @property
    def checksum(self) -> str:
        """That of the trace in `of`; a generator has none."""
        found: str = declared(self._source, "checksum") if self.of else ""
        return found

    def files(self) -> list[Path]:
        """The files that the jobs come from."""
        return list(self._source.files()) if self.of else []

    @cached_property
    def table(self) -> JobTable | None:
        """The jobs of the trace in `of`; a generator has no such table."""
        found: JobTable | None = declared(self._source, "table") if self.of else None
        return None if found is None else self._made_elastic(found.take(slice(0, self.jobs)), 0)

    def batches(self, rng: np.random.Generator) -> Iterator[JobTable]:
        """Tables in order of submission."""
        if not self.of:
            yield from streams.numbered(
                streams.steady(self._draw(rng.spawn(1)[0]), self.load, rng), self.jobs, "elastic generator"
            )
            return
        given = 0
        for jobs in drawn(self._source, rng):
            kept = jobs if self.jobs is None else jobs.take(slice(0, self.jobs - given))
            yield self._made_elastic(kept, given)
            given += len(kept)
            if given == self.jobs:
                return

    @cached_property
    def _source(self) -> Any:
        from blox.workloads.spec import workload_from_spec

        source: Workload = workload_from_spec(self.of.replace(";", ","))
        return source

    def _able(self, gpus: int) -> list[ElasticProfile]:
        """The applications that can use so many GPUs, and ask for no more than is allowed."""
        found = []
        for profile in elastic_profiles(self.profiles).values():
            least, most = self._batch_range(profile)
            if least <= most and most // profile.atomic[0] >= gpus and (self.of or self._sizes(profile)):
                found.append(profile)
        return found

    def _sizes(self, profile: ElasticProfile) -> list[int]:
        return [gpus for gpus in profile.gpus if self.max_gpus is None or gpus <= self.max_gpus]

    def _batch_range(self, profile: ElasticProfile) -> tuple[int, int]:
        return profile.batch_range(self.min_batch_size or 0, self.max_batch_size or 0)

    def _draw(self, rng: np.random.Generator) -> streams.Draw:
        kinds, sizes, people = rng.spawn(3)
        able = self._able(1)
        mix = Choices(tuple(profile.share for profile in able))

        def draw(count: int) -> streams.Columns:
            which, size_u = mix.at(kinds.random(count)).tolist(), sizes.random(count).tolist()
            chosen = [able[kind] for kind in which]
            gpus = [_one_of(self._sizes(profile), u) for profile, u in zip(chosen, size_u)]
            seconds = [float(profile.seconds(each)) for profile, each in zip(chosen, gpus)]
            return {
                "gpus": np.array(gpus, dtype=np.int64),
                "duration_s": np.round(seconds, 3),
                **population.submitters(people.random(count)),
                "model": _texts([profile.name for profile in chosen]),
                **self._bounds(chosen, np.array(gpus, dtype=np.int64)),
            }

        return draw

    def _made_elastic(self, jobs: JobTable, given: int) -> JobTable:
        known = elastic_profiles(self.profiles)
        models, notes = jobs.column("model").tolist(), list(jobs.notes)
        asked = jobs.columns["gpus"]
        granted = asked if self.max_gpus is None else np.minimum(asked, self.max_gpus)
        spread = ((given + np.arange(len(jobs))) * _GOLDEN % 1.0).tolist()
        able = {gpus: self._able(gpus) or self._able(1) for gpus in set(granted.tolist())}
        mixes = {gpus: Choices(tuple(profile.share for profile in each)) for gpus, each in able.items()}
        chosen = [
            known[model] if model in known else able[gpus][int(mixes[gpus].at(np.array(u)))]
            for gpus, model, u in zip(granted.tolist(), models, spread)
        ]
        columns = dict(jobs.columns)
        columns["model"] = _texts([profile.name for profile in chosen])
        if fewer := np.flatnonzero(granted < asked).tolist():
            columns["gpus"], columns["duration_s"] = granted, jobs.columns["duration_s"].copy()
            for i in fewer:
                ratio = chosen[i].seconds(int(granted[i])) / chosen[i].seconds(int(asked[i]))
                columns["duration_s"][i] *= max(float(ratio), 1.0)
            notes.append(f"{len(fewer):,} jobs asked for more than {self.max_gpus} GPUs and ask for so many")
        same = np.array([profile.name == model for profile, model in zip(chosen, models)], dtype=bool)
        if "batch_size" in columns:  # that of another model says nothing about this one
            columns["batch_size"] = np.where(same, columns["batch_size"], 0)
        bounds = self._bounds(chosen, granted)
        already = jobs.resizable
        for name in ("min_gpus", "max_gpus"):
            bounds[name] = np.where(already, jobs.column(name), bounds[name])
        if self.max_gpus is not None:
            bounds["max_gpus"] = np.minimum(bounds["max_gpus"], self.max_gpus)
            bounds["min_gpus"] = np.minimum(bounds["min_gpus"], self.max_gpus)
        for name, narrower in (("min_batch_size", np.maximum), ("max_batch_size", np.minimum)):
            own = jobs.column(name)
            bounds[name] = np.where(same & (own > 0), narrower(bounds[name], own), bounds[name])
        columns.update(bounds)
        for name in sorted({model for model in models if model and model not in known}):
            if near := difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.75):
                notes.append(
                    f"the model {name!r} is no application (did you mean {near[0]!r}?): given one in turn"
                )
        notes.append("jobs that were not elastic can use from 1 GPU on")
        return replace(jobs, columns=columns, notes=tuple(notes))

    def _bounds(self, chosen: list[ElasticProfile], asked: Array) -> dict[str, Array]:
        ranges = [self._batch_range(profile) for profile in chosen]
        least, most = np.array(ranges, dtype=np.int64).reshape(-1, 2).T
        gpus = most // np.array([profile.atomic[0] for profile in chosen], dtype=np.int64)
        if self.max_gpus is not None:
            gpus = np.minimum(gpus, self.max_gpus)
        return {
            "min_gpus": np.ones(len(chosen), dtype=np.int64),
            "max_gpus": np.maximum(gpus, asked),
            "min_batch_size": least,
            "max_batch_size": most,
        }


def _one_of(sizes: list[int], u: float) -> int:
    return sizes[int(u * len(sizes))]


def _texts(names: list[str]) -> Array:
    column = np.empty(len(names), dtype=object)
    column[:] = names
    return column
