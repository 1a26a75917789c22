"""Experiment: everything that a run depends on, as a dataclass, a TOML file or command-line options.

The three give the same bytes. Here are the settings alone: what they are made into stands in `prepared.py`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from blox import registry
from blox.containment import POLICY_TIMEOUT_S
from blox.errors import BloxError, suggestion
from blox.experiment.after_round import Progress
from blox.experiment.parts import DECIDED_BY_PRESET, check_seed_count
from blox.experiment.prepared import Prepared
from blox.locale_text import is_text, not_text
from blox.lookahead.auto import Auto
from blox.results.label import checked_label
from blox.results.place import repair
from blox.results.result import Result
from blox.workloads import text_files

if TYPE_CHECKING:
    from blox.results.replications import Replications

T = TypeVar("T")

_WHERE_GIVEN = ("auto", "reports")


def _tells_unknown_settings(cls: type[T]) -> type[T]:
    """The dataclass, whose constructor refuses settings that there are not as every other wrong setting."""
    construct, known = cls.__init__, [field.name for field in dataclasses.fields(cls)]  # type: ignore

    @functools.wraps(construct)
    def checked(self: T, *values: Any, **settings: Any) -> None:
        for name, value in settings.items():
            if name not in known:
                raise _no_setting(name, value, known, where=cls.__name__)
        construct(self, *values, **settings)

    cls.__init__ = checked  # type: ignore
    return cls


@_tells_unknown_settings
@dataclass(frozen=True)
class Experiment:
    """What to run, on what, how. Specs are strings; see `blox policies` and docs/semantics.md.

    `window`: "FIRST-LAST", positions in order of submission from 0, both included: JCT and responsiveness
    are over these jobs while others keep arriving. `jobs`: submit no more than so many. `auto`: policies
    to choose among while the run goes on, as text, a dict or an `Auto`; its objective may be a function.
    `apps`: the column whose values make jobs one app in the figures of fairness; `auto`: the scheduler's
    own, or else `group`; `job`: each is an app. `compat`: a preset that decides admission, scheduling,
    placement and how time is credited. `prices` (dollars per GPU and hour), `power` (watts busy/idle) and
    `metrics` (of your own) add figures and change nothing else. `policy_timeout_s`: how long a call into
    a user's file may take, such as a decision of a policy; it is not kept with results. A policy may also
    be given as an object. One of ours, or of a file, stands for its spec; one of a class of your program
    is used as it is, and results of such a run are not saved, for nothing could run them again.
    """

    workload: str = "philly:load=24,jobs=2000"  # on 128 GPUs more than they can take: schedulers differ
    cluster: str = "32x4"
    admission: str | Any = "accept-all"
    scheduler: str | Any = "fifo"
    placement: str | Any = "first-free"
    auto: str | Any = ""
    termination: str | Any = "completed"
    performance: str | Any = "auto"
    overheads: str = "none"
    failures: str = "none"
    reports: str | Any = "auto"
    belief: str = "oracle"
    round_s: float = 300.0
    clock: str = "rounds"
    window: str = ""
    jobs: int | None = None
    seed: int = 0
    max_rounds: int | None = None
    apps: str = "auto"
    compat: str = ""
    backend: str | Any = "simulation"
    prices: str = ""
    power: str = ""
    metrics: str = ""
    label: str = ""
    policy_timeout_s: float = POLICY_TIMEOUT_S

    def __post_init__(self) -> None:
        """Settings of the wrong type are refused; whole numbers become seconds, policies their specs."""
        if self.auto:
            object.__setattr__(self, "auto", _kept_auto(Auto.of(self.auto)))
        for field in dataclasses.fields(self):
            value = _typed(field.name, getattr(self, field.name), str(field.type), "Experiment")
            object.__setattr__(self, field.name, value)

    @classmethod
    def from_toml(cls, path: str | Path) -> Experiment:
        """An experiment from a TOML file; unknown or ill-typed settings are answered with the valid ones."""
        return cls.from_table(read_toml(Path(path)), where=str(path))

    @classmethod
    def from_table(cls, table: dict[str, Any], *, where: str) -> Experiment:
        fields = {field.name: field for field in dataclasses.fields(cls)}
        values: dict[str, Any] = {}
        for key, value in table.items():
            if key == "provenance":
                check_provenance(value, where=where)
                continue
            name = {"round": "round_s"}.get(key, key)
            if name in values:
                raise BloxError("round and round_s are both given", where=where, fix="give one of them")
            if name not in fields:
                raise _no_setting(key, value, (*fields, "round"), where=where)
            if name == "auto":
                values[name] = _kept_auto(Auto.of_file(value, where)) if value else ""
                continue
            values[name] = _typed(name, value, str(fields[name].type), where)
        return cls(**values)

    def to_table(self) -> dict[str, Any]:
        """The settings as TOML keeps them, less those that a compat preset decides.

        Those of _WHERE_GIVEN are among them only where they are not at their defaults.
        """
        settings = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            key: value
            for key, value in settings.items()
            if value is not None
            and key != "policy_timeout_s"  # which changes no figure
            and not (self.compat and key in DECIDED_BY_PRESET)
            and not (key in _WHERE_GIVEN and value == getattr(Experiment, key))
        }

    def prepare(self) -> Prepared:
        """Builds and checks every part. Raises BloxError before anything runs."""
        return Prepared(self)

    def run(
        self, progress: Progress | None = None, *, skip: bool = True, trace_decisions: bool = False
    ) -> Result:
        """Runs it. `skip=False` executes every round, for checking that skipping changes nothing.

        `trace_decisions`: `result.decisions` has what every executed round decided.
        """
        return self.prepare().run(progress, skip=skip, trace_decisions=trace_decisions)

    def replicate(self, seeds: int = 5) -> Replications:
        """Runs it over two seeds or more, from its own on: figures are then means, with intervals."""
        from blox.results.replications import Replications

        check_seed_count(seeds, where="replicate")
        each = [dataclasses.replace(self, seed=self.seed + step) for step in range(seeds)]
        return Replications(tuple(experiment.run() for experiment in each))


def _no_setting(name: str, value: Any, valid: Iterable[str], *, where: str) -> BloxError:
    """What to say of a setting that there is not."""
    fix = suggestion(name, valid)
    if isinstance(value, dict):
        fix = f"settings stand at the top level, not under [{name}]"
    elif name == "seeds":
        fix = "an experiment is one run: `blox run` takes the file, in Python replicate(seeds=5)"
    return BloxError(f"no setting is called {name!r}", where=where, fix=fix)


def _kept_auto(auto: Auto) -> str | Auto:
    """The setting `auto` as text; as an object where it has a function that only this program knows."""
    return str(auto) if auto.has_text else auto


def check_provenance(value: Any, *, where: str) -> None:
    """Refuses a provenance that no run has written."""
    if not isinstance(value, dict):
        fix = "leave it out: `blox run --out` writes a table [provenance]"
        raise BloxError(f"provenance is {value!r}", where=where, fix=fix)


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as a table; what is wrong with it is told with its line."""
    if not path.exists():
        repair(path.parent)  # the experiment.toml of results whose replacement was killed
    return text_files.read_toml(path, fix='give an experiment in TOML: settings look like scheduler = "las"')


def _typed(name: str, value: Any, wanted: str, where: str) -> Any:
    """The value as the setting keeps it. A policy object stands for its spec."""
    if value is None and "None" in wanted:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if wanted.startswith("float") and isinstance(value, int) and not isinstance(value, bool):
        return float(value) if abs(value) < 10**300 else math.inf
    if name == "label" and isinstance(value, str):
        return checked_label(value, where=where)
    if isinstance(value, str) and not is_text(value):
        raise not_text(name, value, where=where)
    if wanted == "str | Any" and not isinstance(
        value, (str, list, tuple, dict, type, int, float, type(None))
    ):
        return registry.spec_of(value) if registry.spec_named(type(value)) else value
    if wanted.startswith("str") and isinstance(value, Path):
        return str(value)
    kinds = {"str": (str, "a text in quotes"), "float": (float, "a number"), "int": (int, "a whole number")}
    kind, words = kinds[wanted.partition(" ")[0]]
    if not isinstance(value, kind) or isinstance(value, bool):
        if name == "window":
            words = 'written as "FIRST-LAST", e.g. "3000-4000"'
        elif isinstance(value, type):
            words += f", or a policy: {value.__name__}()"
        elif isinstance(value, (list, tuple)):
            words += "; several are for blox compare and blox sweep"
        elif isinstance(value, dict):
            words += "; settings stand at the top level, not in a table"
        raise BloxError(f"{name} is {value!r}", where=where, fix=f"{name} must be {words}")
    return value
