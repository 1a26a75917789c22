"""Labels of many runs: a list in their order, or names for single values of settings.

`base,boosted` are the labels of the runs, one each whatever the seed; of a sweep over workloads and loads as
well, one for each combination of policies. `Philly=/data/cluster_job_log` names a value wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from blox.errors import BloxError
from blox.experiment.settings import Experiment
from blox.results.label import checked_labels
from blox.results.names import short_names

_POLICIES = ("admission", "scheduler", "placement", "compat")
_NOT_POLICIES: dict[str, Any] = {
    "seed": 0,
    "workload": "",
    "cluster": "",
    "round_s": 1.0,
    "window": "",
    "jobs": None,
}


@dataclass(frozen=True)
class Labels:
    """Labels as they were given, sorted out: those of runs in order, and those of values by value."""

    of_runs: tuple[str, ...] = ()
    of_values: tuple[tuple[str, str], ...] = ()  # value, name

    @classmethod
    def of(cls, texts: Iterable[str], experiments: Sequence[Experiment]) -> Labels:
        """Sorts out texts; `NAME=VALUE` is one if VALUE is that of a setting in some experiment."""
        known = {value for each in experiments for value in _texts(each).values()}
        runs: list[str] = []
        values: dict[str, str] = {}
        for text in texts:
            name, equals, value = (piece.strip() for piece in text.partition("="))
            if equals and name and value in known:
                values[value] = name
            else:
                runs += [piece.strip() for piece in text.split(",")] if not equals else [text.strip()]
        names = checked_labels([*runs, *values.values()], where="label")
        return cls(tuple(names[: len(runs)]), tuple(zip(values, names[len(runs) :])))

    def applied(self, experiments: Sequence[Experiment]) -> list[Experiment]:
        """The experiments with their labels."""
        labelled = self._in_order(experiments) if self.of_runs else list(experiments)
        names = dict(self.of_values)
        for at, each in enumerate(labelled):
            told = [names[value] for name in _POLICIES if (value := _texts(each).get(name, "")) in names]
            if told and not each.label:
                labelled[at] = replace(each, label=", ".join(told))
        return labelled

    def names(self, values: Sequence[Any]) -> list[str]:
        """What the values of one setting are called: as labelled, or in short."""
        given = dict(self.of_values)
        texts = [str(value) for value in values]
        short = dict(zip(texts, short_names(texts)))
        return [given.get(text, short[text]) for text in texts]

    def _in_order(self, experiments: Sequence[Experiment]) -> list[Experiment]:
        by_run = [replace(each, seed=0) for each in experiments]
        by_policy = [replace(each, **_NOT_POLICIES) for each in experiments]
        counts = [len(dict.fromkeys(keys)) for keys in (by_run, by_policy)]
        for keys, count in zip((by_run, by_policy), counts):
            if len(self.of_runs) == count:
                label = dict(zip(dict.fromkeys(keys), self.of_runs))
                return [replace(each, label=label[key]) for each, key in zip(experiments, keys)]
        policies = f", of {counts[1]} different policies" if counts[1] not in (1, counts[0]) else ""
        raise BloxError(
            f"{len(self.of_runs)} labels for {counts[0]} runs{policies}",
            where="label",
            fix=f"give {counts[0]}, or name single values: --label NAME=VALUE, such as "
            f"{self.of_runs[0]}={_first_value(experiments[0])}",
        )


def _texts(experiment: Experiment) -> Mapping[str, str]:
    """The settings of an experiment that are texts, by name."""
    found = {field.name: getattr(experiment, field.name) for field in fields(experiment)}
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


def _first_value(experiment: Experiment) -> str:
    return experiment.compat or str(experiment.scheduler)
