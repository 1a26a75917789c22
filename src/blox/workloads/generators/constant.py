"""Equal jobs at equal intervals: a workload whose results can be worked out by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.errors import BloxError
from blox.registry import register
from blox.workloads.limits import MOST_JOBS, above_zero, whole, zero_or_more
from blox.workloads.streams import BATCH, Columns, numbered
from blox.workloads.table import JobTable


@register.workload("constant")
@dataclass(frozen=True)
class Constant:
    """Equal jobs: one every `every_s` seconds from 0 on, each of `job_gpus` GPUs for `duration_s` seconds.

    With `every_s=0` all are submitted at 0, and `jobs` must be given. Nothing is random.
    """

    every_s: float = 600.0
    job_gpus: int = 1
    duration_s: float = 3600.0
    jobs: int | None = None

    endless: ClassVar[bool] = True  # unless `jobs` is given

    def __post_init__(self) -> None:
        zero_or_more("every_s", self.every_s, "seconds")
        whole("job_gpus", self.job_gpus, 1)
        above_zero("duration_s", self.duration_s, "seconds")
        whole("jobs", self.jobs, 1, MOST_JOBS)
        if self.every_s == 0 and self.jobs is None:
            raise BloxError("jobs without end, all submitted at 0", fix="give jobs, or every_s above 0")

    @property
    def largest_gpus(self) -> int:
        """The GPUs that each job asks for."""
        return self.job_gpus

    def batches(self, rng: np.random.Generator) -> Iterator[JobTable]:
        """Tables in order of submission; `rng` is not used."""
        return numbered(self._stream(), self.jobs, "constant generator")

    def _stream(self) -> Iterator[Columns]:
        for start in itertools.count(0, BATCH):
            yield {
                "submit_s": self.every_s * np.arange(start, start + BATCH, dtype=np.float64),
                "gpus": np.full(BATCH, self.job_gpus, dtype=np.int64),
                "duration_s": np.full(BATCH, float(self.duration_s)),
            }
