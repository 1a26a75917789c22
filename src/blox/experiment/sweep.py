"""Grid: many experiments at once, as every combination of lists of settings. The engine of compare and sweep.

A grid is also a TOML file: a setting with a list of values instead of one, at the top or under `[sweep]`;
`load` there means the `load` of the workload spec, `seeds = 5` as many seeds from `seed` on.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from blox.errors import BloxError, suggestion
from blox.experiment.labelled import Labels
from blox.experiment.parallel import Outcome
from blox.experiment.parts import DECIDED_BY_PRESET, check_seed_count
from blox.experiment.settings import Experiment, check_provenance
from blox.lookahead.auto import LISTS, Auto, auto_names
from blox.optional import declared
from blox.results.flat import flat
from blox.workloads.spec import is_trace, workload_from_spec

MOST_RUNS = 10_000  # of a grid: more take days even where each takes seconds
_POLICIES = ("admission", "scheduler", "placement")
_FIELDS = {field.name: str(field.type).partition(" ")[0] for field in dataclasses.fields(Experiment)}
_NO_AXES = ("workload", "label", "policy_timeout_s")
AXES = ("workload", "load", *(name for name in _FIELDS if name not in _NO_AXES))


@dataclass(frozen=True)
class Grid:
    """Settings that are the same everywhere, and lists of those that are not; labels of the runs.

    `axes`: setting -> values; `load` sets the `load` option of the workload. A compat preset decides the
    policies by itself, so presets stand beside the combinations of policies, not across them. So does a
    synthesizer (`auto`), which chooses the policies that it lists: it runs once for each combination of the
    others.
    """

    base: Experiment = field(default_factory=Experiment)
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    label: tuple[str, ...] = ()  # as `Labels` takes them

    @classmethod
    def from_table(cls, table: Mapping[str, Any], *, where: str) -> Grid:
        """A grid from TOML: lists are axes, wherever they stand."""
        single: dict[str, Any] = {}
        axes: dict[str, Sequence[Any]] = {}
        labels: list[Any] = []
        swept = table.get("sweep", {})
        if not isinstance(swept, Mapping):
            raise BloxError(
                f"sweep is {swept!r}", where=where, fix="write a table: [sweep], then load = [4, 8]"
            )
        if "provenance" in table:
            check_provenance(table["provenance"], where=where)
        top = [(key, value, "") for key, value in table.items() if key not in ("sweep", "provenance")]
        for key, value, place in [*top, *((key, value, "[sweep] ") for key, value in swept.items())]:
            name = {"round": "round_s"}.get(key, key)
            if isinstance(value, Mapping) and name not in _FIELDS:
                raise BloxError(
                    f"settings stand at the top level or under [sweep], not under [{key}]",
                    where=where, fix=f"remove the line [{key}]",
                )  # fmt: skip
            if name not in (*_FIELDS, "load", "seeds"):
                raise BloxError(
                    f"no setting is called {key!r}", where=f"{where}{', ' * bool(place)}{place.strip()}",
                    fix=suggestion(key, (*_FIELDS, "load", "round", "seeds")),
                )  # fmt: skip
            if name in axes or name in single:
                both = " (round is round_s)" if name == "round_s" else ""
                raise BloxError(
                    f"{key} is given twice{both}",
                    where=where,
                    fix="give it once, at the top or under [sweep]",
                )
            if name == "label" and isinstance(value, list):
                labels = value
            elif name == "seeds":
                single[name] = value
            elif isinstance(value, list) or place or name == "load":
                axes[name] = _checked(name, value if isinstance(value, list) else [value], where)
            else:
                single[name] = value
        for text in labels:
            Experiment.from_table({"label": text}, where=where)  # each must be a text
        seeds = single.pop("seeds", None)
        grid = cls(Experiment.from_table(single, where=where), axes, tuple(labels))
        return grid if seeds is None else grid.with_seeds(seeds, where=f"{where}, seeds")

    def with_seeds(self, count: Any, *, where: str) -> Grid:
        """This grid over so many seeds, from its own on; one that has a list of them refuses."""
        check_seed_count(count, where=where)
        first, *others = self.axes.get("seed", [self.base.seed])
        if others:
            raise BloxError(
                "seed is a list already, and seeds says how many follow a first one",
                where=where,
                fix="give one of the two: seed = [3, 7, 9], or seed = 3 and seeds = 5",
            )
        return self.with_axes({"seed": list(range(first, first + count))})

    def with_axes(self, axes: Mapping[str, Sequence[Any]]) -> Grid:
        """This grid with other lists in place of its own; a list of one value is still a list."""
        return replace(self, axes={**self.axes, **axes})

    def to_table(self) -> dict[str, Any]:
        """The grid as TOML keeps it: `from_table` gives it back."""
        swept = {name: list(self.axes[name]) for name in AXES if name in self.axes}
        if self.label:
            swept["label"] = list(self.label)
        settings = {name: value for name, value in self.base.to_table().items() if name not in swept}
        return {**settings, "sweep": swept}

    def experiments(self) -> list[Experiment]:
        """Every combination, each once, in an order that depends on the grid alone."""
        steps: list[list[dict[str, Any]]] = []
        for name in AXES:
            if name == "admission":
                steps.append(self._policies())
            elif name in self.axes and name not in (*_POLICIES, "auto", "compat"):
                steps.append([{name: value} for value in self.axes[name]])
        if (count := math.prod(map(len, steps))) > MOST_RUNS:
            raise BloxError(
                f"{count:,} combinations", where="sweep", fix=f"at most {MOST_RUNS:,}: give shorter lists"
            )
        found: dict[Experiment, None] = {}
        for combination in itertools.product(*steps):
            changes = {name: value for step in combination for name, value in step.items()}
            load = changes.pop("load", None)
            if changes.get("compat"):
                # The preset decides these: a list of them is for the other runs.
                changes = {name: value for name, value in changes.items() if name not in DECIDED_BY_PRESET}
            experiment = replace(self.base, **changes)
            if load is not None:
                experiment = replace(experiment, workload=with_load(experiment.workload, load))
            found[experiment] = None
        return self.labels(list(found)).applied(list(found))

    def labels(self, experiments: Sequence[Experiment]) -> Labels:
        """The labels of the grid, sorted out for its experiments."""
        return Labels.of(self.label, experiments)

    def varying(self) -> list[str]:
        """The settings in which the experiments differ, in order; a swept load stands for the workload."""
        experiments = self.experiments()
        settings = [name for name in _FIELDS if name != "label"]
        differing = [name for name in settings if len({getattr(each, name) for each in experiments}) > 1]
        if "load" in self.axes and "workload" in differing:
            at = differing.index("workload")
            differing[at : at + 1] = (
                ["workload", "load"] if len(self.axes.get("workload", ())) > 1 else ["load"]
            )
        return differing

    def names(self, experiments: Sequence[Experiment]) -> dict[str, dict[Any, str]]:
        """What the values of every setting that varies are called in tables and pictures."""
        labels = self.labels(experiments)
        found = {}
        for name in self.varying():
            values = list(dict.fromkeys(setting_of(each, name) for each in experiments))
            texts = [_short(value) if isinstance(value, float) else str(value) for value in values]
            named = dict(labels.of_values)
            called = auto_names(texts) if name == "auto" else labels.names(texts)
            found[name] = {v: named.get(text, told) for v, text, told in zip(values, texts, called)}
        return found

    def _policies(self) -> list[dict[str, Any]]:
        """The combinations of policies that stand as they are, then synthesizers, then presets."""
        presets = self.axes.get("compat") or ([self.base.compat] if self.base.compat else [])
        autos = self.axes.get("auto") or ([self.base.auto] if self.base.auto else [])
        own = [name for name in _POLICIES if name in self.axes]
        named = [name for name in _POLICIES if getattr(self.base, name) != getattr(Experiment, name)]
        chosen = {auto: chosen_by(auto) for auto in autos if auto}
        beside = own or "" in autos or any(name in kinds for kinds in chosen.values() for name in named)
        found: list[dict[str, Any]] = []
        if beside or not (presets or autos):
            found = [{"compat": "", "auto": "", **policies} for policies in self._combinations(own)]
        for auto, kinds in chosen.items():
            unset = {name: getattr(Experiment, name) for name in kinds if name in named}
            across = self._combinations([name for name in own if name not in kinds])
            found += [{"compat": "", "auto": auto, **unset, **policies} for policies in across]
        return found + [{"compat": preset, "auto": ""} for preset in presets if preset]

    def _combinations(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Every combination of the values of some axes."""
        values = [self.axes[name] for name in names]
        return [dict(zip(names, chosen)) for chosen in itertools.product(*values)]


def chosen_by(auto: Any) -> tuple[str, ...]:
    """The kinds of policies that a synthesizer chooses; none for an empty setting."""
    return tuple(name for name in LISTS if auto and getattr(Auto.of(auto), name))


def with_load(workload: str, load: float) -> str:
    """A workload spec with another `load`: `philly:load=4` for `philly`."""
    name, _, options = workload.strip().partition(":")
    python = name.endswith(".py")
    if python:
        class_name, _, options = options.partition(":")
        name = f"{name}:{class_name}"
    pieces = [piece.strip() for piece in options.split(",") if piece.strip()]
    is_trace = not all(re.match(r"[A-Za-z_][\w-]*\s*=", piece) for piece in pieces)
    if is_trace or (not python and re.search(r"[./?]", name)):
        raise BloxError(
            f"the load of {workload!r} cannot be changed: its arrivals are written in the trace",
            where="load",
            fix="give a generator, such as philly or gavel",
        )
    kept = [piece for piece in pieces if piece.partition("=")[0].strip() != "load"]
    return f"{name}:{','.join([f'load={_short(load)}', *kept])}"


def own_load(workload: str) -> str | None:
    """The `load` that a workload spec gives itself, as it is written; None where it gives none."""
    match = re.search(r"[:,]\s*load\s*=\s*([^,]*)", workload)
    return match[1].strip() if match else None


def values_of(name: str, texts: Iterable[str]) -> list[Any]:
    """The values of a setting from the command line: joined with commas, `0-4` for a range of whole numbers.

    `las,quota:gpus=4,jobs=2` are two specs.
    """
    kind = "float" if name == "load" else _FIELDS[name]
    found: list[Any] = []
    for text in texts:
        pieces = specs_in(text) if kind == "str" else text.split(",")
        for piece in (piece.strip() for piece in pieces):
            if not piece:
                raise BloxError(
                    f"an empty value in {text!r}", where=f"--{_option(name)}", fix="write one, or a,b,c"
                )
            found += [piece] if kind == "str" else _numbers(name, piece, kind)
    _each_once(found, f"--{_option(name)}")
    return found


def specs_in(text: str) -> list[str]:
    """The specs of a text that joins them with commas. A comma followed by `key=` belongs to a spec."""
    return re.split(r",(?!\s*[A-Za-z_][\w.-]*=)", text)


def check_all(experiments: Sequence[Experiment]) -> None:
    """Builds every part of every run, so that a mistake in the last one is told before the first starts.

    Each trace is read once per cluster and window, each combination of policies is built once.
    """
    jobs_on_cluster = ("workload", "cluster", "window", "jobs")
    default = Experiment()
    light = {"workload": "constant", "window": "", "jobs": 1}
    parts = [name for name in _FIELDS if name not in light]  # on their cluster, whose nodes failures may name
    for names, stand_in in ((jobs_on_cluster, {}), (parts, light)):
        seen = set()
        for experiment in experiments:
            values = {name: getattr(experiment, name) for name in names}
            if stand_in and _takes_its_time(experiment):
                values["performance"] = "duration"
            key = tuple(values.values())
            if key not in seen:
                seen.add(key)
                replace(default, **{**stand_in, **values}).prepare()


def _takes_its_time(experiment: Experiment) -> bool:
    """Whether the jobs of its trace take as long on any GPUs as they took when they were logged."""
    if experiment.compat or experiment.performance != "auto" or not is_trace(experiment.workload):
        return False
    return bool(declared(workload_from_spec(experiment.workload), "default_performance") == "duration")


def sweep_csv(grid: Grid, outcomes: Sequence[Outcome]) -> str:
    """One row per finished run: its directory, the settings that vary, all figures of its summary."""
    varying = grid.varying()
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    rows = [(outcome.task, outcome.result) for outcome in outcomes if outcome.result is not None]
    summaries = [flat(result.summary) for _, result in rows]
    figures = list(dict.fromkeys(key for summary in summaries for key in summary))
    writer.writerow(["run", *varying, *figures])
    for (task, _), summary in zip(rows, summaries):
        name = task.directory.name if task.directory else ""
        settings = [setting_of(task.experiment, key) for key in varying]
        values = [summary.get(key) for key in figures]
        writer.writerow([name, *settings, *("" if value is None else value for value in values)])
    return file.getvalue()


def setting_of(experiment: Experiment, name: str) -> Any:
    """The value of an axis in an experiment; nothing where a preset decides it or a synthesizer chooses."""
    if name == "load":
        return _short(float(declared(workload_from_spec(experiment.workload), "load")))
    decided = DECIDED_BY_PRESET if experiment.compat else chosen_by(experiment.auto)
    return "" if name in decided else getattr(experiment, name)


def _checked(name: str, values: Sequence[Any], where: str) -> list[Any]:
    """The values of an axis with the type of their setting."""
    if not values:
        raise BloxError(f"{name} is an empty list", where=where, fix="give at least one value")
    if name == "load":
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise BloxError(f"load is {value!r}", where=where, fix="give numbers, jobs per hour")
        _each_once(values, f"{where}, {name}")
        return [float(value) for value in values]
    _each_once(values, f"{where}, {name}")
    return [getattr(Experiment.from_table({name: value}, where=where), name) for value in values]


def _each_once(values: Sequence[Any], where: str) -> None:
    seen = set()
    for value in values:
        key = str(value) if isinstance(value, list | dict) else value  # no setting: refused by its type
        if key in seen:
            raise BloxError(f"{value} is given twice", where=where, fix="give every value once")
        seen.add(key)


def _numbers(name: str, text: str, kind: str) -> list[Any]:
    match = re.fullmatch(r"([0-9]{1,15})-([0-9]{1,15})", text)
    if match and int(match[1]) <= int(match[2]):
        first, last = int(match[1]), int(match[2])
        if last - first >= MOST_RUNS:
            what = f"{text} are {last - first + 1:,} values"
            raise BloxError(what, where=f"--{_option(name)}", fix=f"give at most {MOST_RUNS:,}")
        return [(float if kind == "float" else int)(n) for n in range(first, last + 1)]
    try:
        return [float(text) if kind == "float" else int(text)]
    except ValueError:
        words = "numbers" if kind == "float" else "whole numbers"
        raise BloxError(
            f"{text!r} is not a number or a range", where=f"--{_option(name)}", fix=f"{words}: 0,1,2 or 0-4"
        ) from None


def _short(number: float) -> str:
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


def _option(name: str) -> str:
    return {"round_s": "round"}.get(name, name).replace("_", "-")
