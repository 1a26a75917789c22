"""How fast the jobs of a workload are on the GPU types of a cluster, alone and beside one another.

Workloads name models, clusters name GPU types, and the table of throughputs has rows and columns of its own:
here they are brought together. Nothing here knows of time or placement.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from blox.errors import BloxError
from blox.performance.model_profiles import REFERENCE, Profiles, check_types, profiles_from
from blox.performance.throughputs import Kind, Throughputs, throughputs
from blox.state.cluster_spec import DEFAULT_TYPE, ClusterSpec
from blox.workloads.table import Array

_BATCH = re.compile(r"\(batch size (\d+)\)")
Rates = tuple[float, ...]  # steps/s by GPU type of the cluster


class JobSpeeds:
    """steps/s of jobs on `gpu_types`; jobs of the same model, batch size and GPUs are of one kind, a number.

    A model is found in the table by its name with the batch size, `LM (batch size 20)`; by its plain name
    (`LSTM` is `LM`) with the measured batch size nearest to the job's own, the middle one where it has none;
    for GPUs between the measured numbers, by the next smaller one in proportion. Other models go by the
    generation of the GPUs (`profiles/gpus.csv`), one step/s on the reference. So do GPU types that the table
    lacks, in proportion to the reference. A type that is `given` a speed goes by that, whatever the model.
    """

    def __init__(
        self,
        table: Throughputs,
        gpu_types: tuple[str, ...],
        reference: str = REFERENCE,
        given: Mapping[str, float] | None = None,
        gpus_csv: str = "",
    ) -> None:
        self.gpu_types = gpu_types
        self._table, self._reference, given = table, reference, given or {}
        self._profiles = profiles_from("", gpus_csv)
        measured = () if gpus_csv else table.gpu_types
        check_types(gpu_types, given, self._profiles, measured, where="cluster")
        self._speeds = [_speed(name, reference, given, self._profiles) for name in gpu_types]
        self._columns = [
            _column(name, table, reference, self._profiles)
            if name not in given and name != DEFAULT_TYPE and not gpus_csv
            else (table.gpu_types.index(reference), speed)
            for name, speed in zip(gpu_types, self._speeds)
        ]
        self._named: dict[str, list[tuple[int, Kind]]] = {}  # by whole and plain name: batch size, row
        for kind in table.alone:
            batch = _BATCH.search(kind[0])
            entry = (int(batch[1]) if batch else 0, kind)
            self._named.setdefault(kind[0], []).append(entry)
            self._named.setdefault(self._plain(kind[0]), []).append(entry)
        self._numbers: dict[tuple[str, int, int], int] = {}
        self._alone: list[Rates] = []
        self._base: list[float] = []  # on the reference
        self._tables: tuple[Array, Array] = (np.empty((0, len(gpu_types))), np.empty(0))  # the same as arrays
        self._relative: Array = self._tables[0]
        self._rows: list[Kind | None] = []  # of the table
        self._pairs: dict[tuple[int, int], Rates] = {}

    def kind(self, model: str, batch_size: int, gpus: int) -> int:
        """The number of a job's kind."""
        key = (model, batch_size, gpus)
        number = self._numbers.get(key)
        return self._enter(key) if number is None else number

    def kinds(self, models: Sequence[str], batch_sizes: Sequence[int], gpus: Sequence[int]) -> Array:
        """The numbers of several jobs' kinds."""
        found = [self.kind(*job) for job in zip(models, batch_sizes, gpus)]
        return np.array(found, dtype=np.int64)

    def tables(self) -> tuple[Array, Array]:
        """(steps/s of every kind so far by GPU type, steps/s of each where it takes its duration)."""
        if len(self._tables[1]) < len(self._base):
            self._tables = np.array(self._alone).reshape(-1, len(self.gpu_types)), np.array(self._base)
            speeds, base = self._tables[0], self._tables[1][:, None]
            # A kind that runs nowhere has no speed to compare with.
            self._relative = np.divide(speeds, base, out=np.zeros_like(speeds), where=base > 0)
        return self._tables

    def relative(self) -> Array:
        """Speeds of every kind so far by GPU type, 1 where a job takes its duration."""
        self.tables()
        return self._relative

    def alone(self, kind: int) -> Rates:
        """steps/s by GPU type; 0 where such a job cannot run."""
        return self._alone[kind]

    def base(self, kind: int) -> float:
        """steps/s where a job takes its duration: on the reference, or where it is fastest if that is 0."""
        return self._base[kind]

    def beside(self, kind: int, other: int) -> Rates:
        """steps/s of the first by GPU type when the two share their GPUs; 0 where they cannot."""
        rates = self._pairs.get((kind, other))
        if rates is None:
            one, two = self._rows[kind], self._rows[other]
            known = None if one is None or two is None else self._table.beside.get((one, two))
            rates = tuple(0.0 if known is None else known[column] * scale for column, scale in self._columns)
            self._pairs[kind, other] = rates
        return rates

    def _enter(self, key: tuple[str, int, int]) -> int:
        model, batch_size, gpus = key
        row = self._find(model, batch_size, gpus)
        if row is None:
            for name, speed in zip(self.gpu_types, self._speeds):
                if math.isnan(speed):
                    raise self._unmeasured(model, name)
            alone, base = tuple(self._speeds), 1.0
        else:
            measured, part = self._table.alone[row], gpus / row[1]
            alone = tuple(measured[column] * scale * part for column, scale in self._columns)
            reference = self._table.gpu_types.index(self._reference)
            base = (measured[reference] or max(measured)) * part
        self._numbers[key] = number = len(self._alone)
        self._alone.append(alone)
        self._base.append(base)
        self._rows.append(row if row is not None and row[1] == gpus else None)
        return number

    def _find(self, model: str, batch_size: int, gpus: int) -> Kind | None:
        """The row of the table for such a job; None if its model has none."""
        known = self._named.get(model) or self._named.get(self._plain(model))
        if known is None:
            return None
        named = _BATCH.search(model)
        batch_size = int(named[1]) if named else batch_size
        sizes = sorted({size for size, _ in known})
        if batch_size <= 0:
            batch = sizes[len(sizes) // 2]
        else:
            batch = min(sizes, key=lambda size: (abs(math.log(max(size, 1) / batch_size)), size))
        rows = sorted((kind for size, kind in known if size == batch), key=lambda kind: kind[1])
        smaller = [kind for kind in rows if kind[1] <= gpus]
        return smaller[-1] if smaller else rows[0]

    def _unmeasured(self, model: str, gpu_type: str) -> BloxError:
        return BloxError(
            f"the table of throughputs has GPUs of type {gpu_type!r} and no model {model!r}",
            where=self._table.source,
            fix=f"add the model, or say how fast the GPUs are for any: {gpu_type}=NODESxGPUS:speed=3.1",
        )

    def _plain(self, model: str) -> str:
        """A model's name in the profiles; its own where it has no profile."""
        name = self._profiles.model(model).name
        return model if name == "*" else f"profile {name}"


def _speed(name: str, reference: str, given: Mapping[str, float], profiles: Profiles) -> float:
    """The speed of a GPU type relative to the reference; nan where only the table knows it."""
    if name in given:
        return given[name]
    if name == DEFAULT_TYPE:
        return 1.0
    if not profiles.knows(name):
        return math.nan
    return profiles.generation(name).speed / profiles.generation(reference).speed


def _column(name: str, table: Throughputs, reference: str, profiles: Profiles) -> tuple[int, float]:
    """Where a GPU type of the cluster stands in the table, and the factor to it."""
    if name in table.gpu_types:
        return table.gpu_types.index(name), 1.0
    generation = profiles.generation(name)
    if generation.name in table.gpu_types:
        return table.gpu_types.index(generation.name), 1.0
    return table.gpu_types.index(reference), generation.speed / profiles.generation(reference).speed


def check_speeds(path: str, spec: ClusterSpec, gpus_csv: str = "") -> None:
    """Refuses a cluster with GPU types of which neither the table nor the generations know a speed."""
    measured = () if gpus_csv else throughputs(path).gpu_types
    where, profiles = f"cluster {spec.text!r}", profiles_from("", gpus_csv)
    check_types(spec.gpu_types, dict(spec.speeds), profiles, measured, where=where)


@lru_cache(maxsize=16)
def job_speeds(
    path: str,
    gpu_types: tuple[str, ...],
    given: tuple[tuple[str, float], ...] = (),
    reference: str = REFERENCE,
    gpus_csv: str = "",
) -> JobSpeeds:
    """The speeds by the table in a file, or the project's own, on these types; `reference` must be in it.

    `given`: (type, speed) as a cluster spec has them. `gpus_csv`: generations of your own; their speeds
    then count for every model.
    """
    table = throughputs(path)
    table.of([], [reference])
    return JobSpeeds(table, gpu_types, reference, dict(given), gpus_csv)
