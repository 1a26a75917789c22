"""Cases: the rows of a comparison, each an experiment over one seed or several, and their runs.

A seed is one more setting that is swept: runs that differ in nothing else make up one case. Runs that cannot
differ at all are run once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from blox.experiment.parallel import Outcome, Task
from blox.experiment.settings import Experiment
from blox.experiment.traits import distinct
from blox.results.replications import Replications, as_one, seed_folder
from blox.results.result import Result
from blox.workloads.spec import is_trace


@dataclass(frozen=True)
class Case:
    """One experiment over its seeds; `directory`: where its results go, if anywhere."""

    experiments: tuple[Experiment, ...]
    directory: Path | None = None

    @property
    def experiment(self) -> Experiment:
        """That of its first seed, which stands for all."""
        return self.experiments[0]

    def into(self, directory: Path) -> Case:
        """The same with its results in a directory."""
        return replace(self, directory=directory)

    def tasks(self) -> list[Task]:
        """One per seed: in the directory itself if it is the only one, or else in a folder of its own.

        Without a directory, those of a trace are whole: its intervals need every table.
        """
        if self.directory is None or len(self.experiments) == 1:
            return [Task(each, self.directory, whole=is_trace(each.workload)) for each in self.experiments]
        return [Task(each, seed_folder(self.directory, each.seed)) for each in self.experiments]

    def gathered(self, outcomes: Sequence[Outcome]) -> Result | Replications | None:
        """The runs that have finished: those of several seeds as one, None where there is none."""
        results = [result for outcome in outcomes if (result := outcome.opened()) is not None]
        return as_one(results, [each.seed for each in self.experiments]) if results else None


def cases_of(experiments: Sequence[Experiment]) -> list[Case]:
    """The experiments by everything but their seed, without those whose runs cannot differ from another's."""
    kept = dict.fromkeys(distinct(experiments).values())
    groups: dict[Experiment, list[Experiment]] = {}
    for experiment in kept:
        groups.setdefault(replace(experiment, seed=0), []).append(experiment)
    return [Case(tuple(group)) for group in groups.values()]
