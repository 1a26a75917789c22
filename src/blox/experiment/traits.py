"""What the outcome of a run can depend on: durations that policies read, and numbers that the seed draws.

A policy says so itself: `reads_durations = True` where it reads `remaining_s()` or `expected_s`, `uses_seed =
True` where it draws random numbers. Ours that say nothing do neither. A policy from outside that says
nothing may do both; whether it reads durations is then seen in its code.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from blox.backends.shared import SharedSimulation
from blox.beliefs import draws_nothing
from blox.composition import Composition
from blox.experiment.parts import backend_of, compose
from blox.optional import declared
from blox.workloads.spec import workload_from_spec

if TYPE_CHECKING:
    from blox.experiment.settings import Experiment

_DURATIONS = {"remaining_s", "expected_s", "believed_s", "believed_left_s"}
# the settings of which it is known here what the seed draws by them
_KNOWN = {
    *("workload", "cluster", "admission", "scheduler", "placement", "termination", "performance"),
    *("overheads", "belief", "round_s", "clock", "window", "jobs", "seed", "max_rounds", "compat", "label"),
    *("apps", "prices", "power", "metrics", "auto"),
}


def know_durations(belief: str, parts: Composition) -> list[Any]:
    """The policies that decide by true durations, which no real scheduler knows: the run is an oracle's."""
    if belief.strip() != "oracle":
        return []
    found = [part for part in _policies(parts) if _reads_durations(part)]
    known = {id(part): part for part in found if not declared(part, "estimates_durations")}
    return list(known.values())


def distinct(experiments: Sequence[Experiment]) -> dict[Experiment, Experiment]:
    """For each experiment the one that is run in its place: the first of those whose runs cannot differ.

    Beliefs about durations that no policy reads make no difference, nor does a seed that draws nothing.
    """
    first: dict[Experiment, Experiment] = {}
    return {each: first.setdefault(_canonical(each), each) for each in experiments}


def may_read_metrics(parts: Composition) -> bool:
    """Whether a policy reads what jobs report, as it says, or is from outside and says nothing of it."""
    return any(declared(part, "reads_metrics") or not _is_ours(part) for part in _policies(parts))


def _canonical(experiment: Experiment) -> Experiment:
    workload = workload_from_spec(experiment.workload)
    parts = compose(experiment, workload, backend_of(experiment))
    policies = _policies(parts)
    simulation = declared(parts.performance, "simulation") or SharedSimulation
    own_rates = simulation is not SharedSimulation  # rates that may follow what is believed
    if not own_rates and not any(_may(part, declared(part, "reads_durations")) for part in policies):
        experiment = dataclasses.replace(experiment, belief="oracle")
    given = (
        declared(workload, "table") is not None
        and draws_nothing(experiment.belief)
        and _all_known(experiment)
    )
    if given and not any(_may(part, declared(part, "uses_seed")) for part in policies):
        experiment = dataclasses.replace(experiment, seed=0)
    return experiment


def _all_known(experiment: Experiment) -> bool:
    """Whether every setting that is not its default is one of those that are known here."""
    return all(
        field.name in _KNOWN or getattr(experiment, field.name) == field.default
        for field in dataclasses.fields(experiment)
    )


def _policies(parts: Composition) -> list[Any]:
    """The policies themselves, without their guards."""
    from blox.checks.guard import Guard

    found = [parts.admission, parts.scheduler, parts.placement, parts.termination]
    found += [each for part in found for each in declared(part, "chooses_among")]
    return [part.policy if isinstance(part, Guard) else part for part in found]


def _innermost(part: Any) -> Any:
    """The policy that decides: the one that another wraps."""
    inner = declared(part, "wraps")
    return part if inner is None else _innermost(inner)


def _is_ours(part: Any) -> bool:
    return type(_innermost(part)).__module__.startswith("blox.")


def _may(part: Any, said: bool | None) -> bool:
    """Whether a part says so of itself, or is from outside and says nothing."""
    return bool(said) if said is not None else not _is_ours(part)


def _reads_durations(part: Any) -> bool:
    """Whether a part says so of itself, or, from outside and silent, names durations in its code."""
    said = declared(part, "reads_durations")
    if said is not None or _is_ours(part):
        return bool(said)
    part = _innermost(part)
    members = [member for cls in type(part).__mro__[:-1] for member in vars(cls).values()]
    return bool(_DURATIONS & _names_in(members, sys.modules[type(part).__module__]))


def _names_in(members: Iterable[Any], module: Any) -> set[str]:
    """The names and texts in the code of functions, and of those of their module that they call."""
    found: set[str] = set()
    waiting: list[CodeType] = [function.__code__ for function in map(_function, members) if function]
    while waiting:
        code = waiting.pop()
        new = {*code.co_names, *(text for text in code.co_consts if isinstance(text, str))} - found
        found |= new
        waiting += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
        called = (_function(vars(module).get(name)) for name in sorted(new))
        waiting += [function.__code__ for function in called if function]
    return found


def _function(member: Any) -> FunctionType | None:
    """The function behind a member of a class: a method, a property, a class method."""
    for name in ("fget", "func", "__func__"):
        member = getattr(member, name, member)
    return member if isinstance(member, FunctionType) else None
