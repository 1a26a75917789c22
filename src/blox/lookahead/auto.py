"""Auto: the setting from which a synthesizer is made, as text, as a table of TOML or as an object.

`scheduler=fifo,srtf,las;admission=accept-all,threshold:factor=1.2;every=10,objective=avg_jct`: lists of
policies and options. A kind of policy that has no list is the one that the experiment names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from blox import registry
from blox.durations import HOUR, Seconds, duration_text, parse_duration
from blox.errors import BloxError, suggestion
from blox.lookahead.beliefs import belief_named
from blox.lookahead.objective import objective_from
from blox.workloads.text_files import place_in

LISTS = {"scheduler": "scheduling", "admission": "admission", "placement": "placement"}  # -> kind of part
_OPTION = re.compile(r"\s*[A-Za-z_][\w.-]*=")
MOST_COMBINATIONS = 100
_TEXTS = {
    "belief": 'give a text: "learnt"',
    "arrivals": 'give a text: "again" or "none"',
}
WEEK = Seconds(168 * HOUR)


@dataclass(frozen=True)
class Auto:
    """Which policies to choose among, how often, and by what.

    `objective`: the text that names it; a tuple of texts and functions of a result where a program gives some
    (`objective.py`). Such an object has no text that could be kept: results of its run are not saved.
    `every`: the least number of rounds between choices. `hysteresis`: the ruling combination stays unless
    another is better by more than this share. `belief`: what is taken for durations (`beliefs.py`).
    `arrivals`: `again`, if the jobs of the past come again (`arrivals.py`), or `none`. `horizon`: for how
    long they come, as far as the past goes; after that a look ahead goes on until all jobs are done.
    """

    scheduler: tuple[str, ...] = ()
    admission: tuple[str, ...] = ()
    placement: tuple[str, ...] = ()
    every: int = 10
    objective: str | tuple[str | Callable[[Any], float], ...] = "avg_jct"
    hysteresis: float = 0.0
    belief: str = "learnt"
    arrivals: str = "again"
    horizon: Seconds = WEEK

    def __post_init__(self) -> None:
        count = math.prod(max(1, len(getattr(self, name))) for name in LISTS)
        for name in LISTS:
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise _wrong(f"{name} names {_twice(values)!r} twice", "name it once", name)
        if not any(getattr(self, name) for name in LISTS):
            raise _wrong("it names no policies", "name some to choose among: scheduler=fifo,srtf,las")
        if count == 1:
            fix = "name several of a kind: scheduler=fifo,srtf,las"
            raise _wrong("it names one combination, so there is nothing to choose", fix)
        if count > MOST_COMBINATIONS:
            raise _wrong(f"{count} combinations", f"{MOST_COMBINATIONS} are the most: leave some out")
        if self.every < 1:
            raise _wrong(f"every is {self.every}", "give a whole number of rounds, 1 or more", "every")
        if not 0 <= self.hysteresis < 1:
            fix = "give a share from 0 to below 1: 0.05 is 5 %"
            raise _wrong(f"hysteresis is {self.hysteresis:g}", fix, "hysteresis")
        if not self.horizon > 0:
            raise _wrong("the horizon is 0", "give a duration, such as 24h, or arrivals=none", "horizon")
        if self.arrivals not in ("again", "none"):
            fix = suggestion(self.arrivals, ("again", "none"))
            raise _wrong(f"arrivals is {self.arrivals!r}", fix, "arrivals")
        objective_from(self.objective)
        belief_named(self.belief)

    @classmethod
    def of(cls, value: Auto | str | Mapping[str, Any]) -> Auto:
        """From a text, a table or an object of this class."""
        if isinstance(value, Auto):
            return value
        table = _parsed(value) if isinstance(value, str) else value
        known = [each.name for each in fields(cls)]
        for name in table:
            if name not in known:
                raise _wrong(f"no option is called {name!r}", suggestion(str(name), known), str(name))
        return cls(**{name: _typed(name, given) for name, given in table.items()})

    @classmethod
    def of_file(cls, value: Any, path: str) -> Auto:
        """From the setting of a TOML file: what is wrong with it is told with the file and the line."""
        if not isinstance(value, str | Mapping):
            fix = 'write a table [auto], then scheduler = ["fifo", "srtf", "las"]'
            raise BloxError(f"auto is {value!r}", where=place_in(path, "auto"), fix=fix)
        try:
            found = cls.of(value)
            found._check_policies()
            return found
        except BloxError as error:
            options = [word for word in re.findall(r"[\w.-]+", error.where) if word in value]
            place = place_in(path, "auto", *(options[:1] if isinstance(value, Mapping) else ()))
            raise BloxError(error.what, where=place, fix=error.fix) from None

    def _check_policies(self) -> None:
        """Refuses policies that are none of ours; those of a user's file are read where they are run."""
        for name, kind in LISTS.items():
            for spec in getattr(self, name):
                try:
                    if ".py:" not in spec:
                        registry.build(kind, spec)
                except BloxError as error:
                    raise _wrong(f"{spec}: {error.what}", error.fix, name) from None

    @classmethod
    def replaced(cls, value: Any, by: str) -> dict[str, Any]:
        """The options of a text or table, with those of another text in place of its own, one by one."""
        own = _parsed(value) if isinstance(value, str) else value
        return {**(own if isinstance(own, Mapping) else {}), **_parsed(by)}

    @property
    def has_text(self) -> bool:
        """Whether a text says all of it: no function of a program is among its objectives."""
        return isinstance(self.objective, str)

    def __str__(self) -> str:
        """The text that `of` reads as an equal object: only what differs from the defaults."""
        lists = [f"{name}={','.join(values)}" for name in LISTS if (values := getattr(self, name))]
        default = {each.name: each.default for each in fields(self)}
        options = [
            f"{name}={duration_text(value) if name == 'horizon' else value}"
            for name in default
            if name not in LISTS and (value := getattr(self, name)) != default[name]
        ]
        return ";".join(lists + ([",".join(options)] if options else []))


def auto_names(texts: Sequence[str]) -> list[str]:
    """What synthesizers are called: `auto`, with the options in which several differ: `auto [belief=none]`.

    An empty text, of a run without one, has an empty name.
    """
    options = [_parsed(text) if text else {} for text in texts]
    given = [each for each in options if each]
    apart = [
        field.name
        for field in fields(Auto)
        if any(o.get(field.name) != given[0].get(field.name) for o in given)
    ]
    words = [[f"{name}={_joined(each[name])}" for name in apart if name in each] for each in options]
    return [
        ("auto" + (f" [{'; '.join(told)}]" if told else "")) if each else ""
        for each, told in zip(options, words)
    ]


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ",".join(value)


def _parsed(text: str) -> dict[str, Any]:
    """Option -> its text, or a list of texts. A comma before `key=` that is no option belongs to a policy."""
    known = [each.name for each in fields(Auto)]
    found: dict[str, Any] = {}
    for clause in filter(None, (each.strip() for each in text.split(";"))):
        current = ""
        for piece in clause.split(","):
            name, equals, value = piece.strip().partition("=")
            if equals and name in known:
                if name in found:
                    raise _wrong(f"{name} is given twice", "give it once")
                current, found[name] = name, [value]
            elif not current or (_OPTION.match(piece) and ":" not in found[current][-1]):
                raise _wrong(f"no option is called {name!r}", suggestion(name, known))
            elif _OPTION.match(piece):
                found[current][-1] += f",{piece.strip()}"
            else:
                found[current].append(piece.strip())
    listed = (*LISTS, "objective")
    return {name: values if name in listed else ",".join(values) for name, values in found.items()}


def _typed(name: str, value: Any) -> Any:
    """A value as the option keeps it."""
    if name in LISTS:
        several = [value] if isinstance(value, str) else value
        if not isinstance(several, list | tuple) or not all(isinstance(each, str) for each in several):
            raise _wrong(f"{name} is {value!r}", f'give a list of policies: {name} = ["a", "b"]', name)
        if not all(each.strip() for each in several):
            raise _wrong(f"an empty policy in {name}", f"write {name}=a,b", name)
        return tuple(each.strip() for each in several)
    if name == "objective":
        return _objective(value)
    if name in _TEXTS:
        if not isinstance(value, str):
            raise _wrong(f"{name} is {value!r}", _TEXTS[name], name)
        return value.strip()
    if name == "horizon":
        return parse_duration(str(value), where="auto, horizon")
    kind, words = (int, "a whole number") if name == "every" else (float, "a number")
    try:
        number = kind(value)
        if isinstance(value, bool) or number != float(value):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise _wrong(f"{name} is {value!r}", f"give {words}", name) from None
    return number


def _objective(value: Any) -> str | tuple[str | Callable[[Any], float], ...]:
    """One text where texts name all of it; a tuple where a function is among them."""
    several = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not several or not all(isinstance(each, str) or callable(each) for each in several):
        fix = 'give "avg_jct", ["avg_jct", "avg_responsiveness"], "./mine.py:function" or a function'
        raise _wrong(f"objective is {value!r}", fix, "objective")
    texts = tuple(each.strip() for each in several if isinstance(each, str))
    if len(texts) == len(several):
        return "+".join(texts)
    flat = (each.split("+") if isinstance(each, str) else [each] for each in several)
    return tuple(each.strip() if isinstance(each, str) else each for pieces in flat for each in pieces)


def _twice(values: Sequence[str]) -> str:
    return next(value for value in values if values.count(value) > 1)


def _wrong(what: str, fix: str, option: str = "") -> BloxError:
    return BloxError(what, where=f"auto, {option}" if option else "auto", fix=fix)
