"""What a part may also say: every optional attribute of every kind of part, declared once.

A part needs its verb and nothing else. Whatever else the toolkit asks of a part is a line of OPTIONAL, with
the kinds that may say it, its form, the default of a part that does not say it, and its meaning. It is
read by `declared()` and in no other way; a test finds any other reading. `blox.protocols` has the verbs.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from blox.errors import BloxError
from blox.foreign import entered, is_foreign, watched
from blox.registry import name_of

POLICIES = ("admission", "scheduling", "placement", "termination")


@dataclass(frozen=True)
class Form:
    """What an attribute has to be: in words, and as a test of a value."""

    words: str
    fits: Callable[[Any], bool]
    arguments: tuple[str, ...] | None = None  # of a method

    def written(self, name: str) -> str:
        """A method of this form as it is written in a class."""
        return f"{name}({', '.join(('self', *(self.arguments or ())))})"


@dataclass(frozen=True)
class Attribute:
    """One optional attribute: a method, or a class attribute, a property or a field of the part."""

    name: str
    kinds: tuple[str, ...]
    form: Form
    default: Any
    meaning: str


def _method(*arguments: str) -> Form:
    return Form(f"a method({', '.join(arguments)})", callable, arguments)


def _is_count(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


_FLAG = Form("true or false", lambda value: isinstance(value, bool))
_TEXT = Form("a text", lambda value: isinstance(value, str))
_NUMBER = Form("a number", _is_number)
_SECONDS = Form(
    "a number of seconds above 0", lambda value: _is_number(value) and 0 < float(value) < math.inf
)
_MEAN_TIME = Form("a number above 0", lambda value: _is_number(value) and float(value) > 0)
_ABOVE_0 = Form("a number above 0", lambda value: _is_number(value) and 0 < float(value) < math.inf)
_COUNT = Form("a whole number above 0", _is_count)
_TABLE = Form("a JobTable", lambda value: any(cls.__name__ == "JobTable" for cls in type(value).__mro__))
_WORDS = Form("a dict of texts", lambda value: isinstance(value, Mapping))
_PART = Form("a part", lambda value: not isinstance(value, type))
_PARTS = Form("a tuple of parts", lambda value: isinstance(value, tuple))
_CLASS = Form("a class", lambda value: isinstance(value, type))

_NAMES = Form(
    "a tuple of texts",
    lambda value: isinstance(value, tuple) and all(isinstance(name, str) for name in value),
)
_REASON = Form(
    "a text, or a method(rows, job_state) that gives one text per row",
    lambda value: isinstance(value, str) or callable(value),
)

_ATTRIBUTES = (
    Attribute(
        "stable_until",
        POLICIES,
        _method("job_state", "cluster_state"),
        None,
        "until when its answer is sure to change nothing, if nothing happens before; without it the part is "
        "asked every round. `stable_until = blox.protocols.for_ever`: its answer never changes by itself",
    ),
    Attribute(
        "wraps",
        ("scheduling",),
        _PART,
        None,
        "the policy whose answers it changes; attributes that it leaves out are read from that policy, "
        "except `stable_until` and `check_with`",
    ),
    Attribute(
        "chooses_among",
        ("admission", "scheduling", "placement"),
        _PARTS,
        (),
        "the policies whose answers it may give: a run depends on what each of them reads",
    ),
    Attribute(
        "wait_reasons",
        ("admission", "scheduling", "placement"),
        _method("rows", "job_state", "cluster_state"),
        None,
        "why rows wait, for `blox explain`: one short text for all of them or a list with one per row, words "
        "that go on after *because* (empty: nothing to tell). Asked when a round is recorded, once its plan "
        "is carried out: an admission policy about the rows that it holds, a scheduling policy about the "
        "waiting rows that it did not list, a placement policy about listed rows that wait although enough "
        "GPUs are free",
    ),
    Attribute(
        "check_with",
        POLICIES,
        _TEXT,
        "",
        "options with which `blox check` builds it, where its defaults are not enough: `user_jobs=3`",
    ),
    Attribute(
        "default_performance",
        ("scheduling", "placement", "workload", "reader"),
        _TEXT,
        "",
        "the performance model that `--performance auto` takes; a workload's goes before a placement's, and "
        "that before a scheduler's",
    ),
    Attribute(
        "figures",
        ("scheduling", "placement"),
        _method("job_state"),
        None,
        "name -> number, added to the summary at the end of a run; a name that the summary has is refused",
    ),
    Attribute(
        "job_columns",
        ("scheduling",),
        _method("job_state"),
        None,
        "name -> array with one value per submitted job, added to `jobs.csv` at the end of a run; a name "
        "that a column of jobs has is refused",
    ),
    Attribute(
        "choices",
        ("scheduling",),
        _method("job_state"),
        None,
        "name -> array, all of one length: what it weighed and chose over time, for the table "
        "`choices.csv` of results. `time_s`, `combination`, `rules` and `score` are drawn",
    ),
    Attribute(
        "timings",
        ("scheduling",),
        _method("job_state"),
        None,
        "name -> seconds that its choices took, added to `timing.json` at the end of a run",
    ),
    Attribute(
        "app_column",
        ("scheduling",),
        _TEXT,
        "group",
        "the column whose values make jobs one app where fairness is measured; `job`: every job is one",
    ),
    Attribute(
        "resizes",
        ("scheduling",),
        _FLAG,
        False,
        "whether it gives elastic jobs other numbers of GPUs than they ask for, so that a job may ask for "
        "more than the cluster has if it can do with less",
    ),
    Attribute(
        "rigid_too",
        ("scheduling",),
        _FLAG,
        False,
        "whether one that resizes is made for rigid jobs as well: omits the note when no job can be resized",
    ),
    Attribute(
        "wakes_every_s",
        ("scheduling",),
        _SECONDS,
        None,
        "`quantum_s` of the events clock where none is given: long for a policy that is expensive to ask, "
        "short for one whose answer changes at few, exact times",
    ),
    Attribute(
        "ignores_nodes",
        ("placement",),
        _FLAG,
        False,
        "whether it takes the cluster as one pool of GPUs, so that no job counts as spread",
    ),
    Attribute(
        "node_rule",
        ("placement",),
        _method("cluster_state", "job_state"),
        None,
        "by which rule it picks nodes, `rule(row).choose(pool, need)`, or None where any GPUs will do: asked "
        "by scheduling policies that plan where jobs will fit (`backfill`); without it they count GPUs",
    ),
    Attribute(
        "needs_columns",
        POLICIES,
        _NAMES,
        (),
        "columns of the workload's own that it reads with `job_state.column()`: a trace without them is "
        "refused before the run, and `blox check` makes some up, of numbers",
    ),
    Attribute(
        "reads_metrics",
        POLICIES,
        _NAMES,
        (),
        "metrics that it reads with `job_state.metric()`: in a simulation some source has to report them "
        "(`--reports`), and `blox check` has jobs report them",
    ),
    Attribute(
        "reports",
        ("performance", "reports"),
        _NAMES,
        (),
        "the metrics that jobs report by it",
    ),
    Attribute(
        "reason",
        ("termination",),
        _REASON,
        None,
        "why it ends jobs, for the column `end_reason` of `jobs.csv`; without it, the spec of the policy",
    ),
    Attribute(
        "reads_durations",
        POLICIES,
        _FLAG,
        None,
        "whether it reads `remaining_s()` or `expected_s`: with the true durations its runs are an oracle's; "
        "of a policy from outside that does not say it, its code is read",
    ),
    Attribute(
        "estimates_durations",
        POLICIES,
        _FLAG,
        False,
        "whether it puts an error of its own on the durations that it reads, so that it never knows the true "
        "ones and its runs are no oracle's",
    ),
    Attribute(
        "uses_seed",
        POLICIES,
        _FLAG,
        None,
        "whether it draws random numbers, so that its runs differ by seed; a policy from outside that does "
        "not say it may",
    ),
    Attribute(
        "simulation",
        ("performance",),
        _CLASS,
        None,
        "the subclass of `blox.backends.simulation.Simulation` that follows its rates, where rates change "
        "while a job runs; `blox.backends.shared.SharedSimulation` for one that knows how fast two jobs are "
        "on the same GPUs",
    ),
    Attribute(
        "check_jobs",
        ("performance",),
        _method("jobs"),
        None,
        "raises BloxError for the first job of a JobTable that it has no speed for, before anything runs",
    ),
    Attribute(
        "check_cluster",
        ("performance", "scheduling", "placement"),
        _method("spec"),
        None,
        "raises BloxError for a ClusterSpec that it cannot work with, before anything runs",
    ),
    Attribute(
        "reference",
        ("performance",),
        _TEXT,
        "",
        "the GPU type that durations hold for, which results name",
    ),
    Attribute(
        "by_gpu_type",
        ("performance",),
        _FLAG,
        True,
        "whether jobs are faster on some GPU types than on others: results tell where they are not",
    ),
    Attribute(
        "by_nodes",
        ("performance",),
        _FLAG,
        True,
        "whether being spread over nodes costs jobs anything: results tell where it does not",
    ),
    Attribute(
        "unknown_models",
        ("performance",),
        _method("job_state"),
        None,
        "the names of models that it does not know, joined with commas, for a note at the end of a run",
    ),
    Attribute(
        "table", ("workload",), _TABLE, None, "all its jobs, where they are known before the run: a trace"
    ),
    Attribute("jobs", ("workload",), _COUNT, None, "how many jobs it has, if it says so and has no `table`"),
    Attribute(
        "endless",
        ("workload",),
        _FLAG,
        None,
        "whether it has no end unless `jobs` is given; one that does not say it, and has neither `table` nor "
        "`jobs`, is drawn to its end before the run",
    ),
    Attribute(
        "largest_gpus",
        ("workload",),
        _COUNT,
        None,
        "the most GPUs that one of its jobs can ask for: a smaller cluster is refused before the run",
    ),
    Attribute(
        "needed_gpus",
        ("workload",),
        _COUNT,
        None,
        "the most GPUs that one of its jobs needs where jobs are resized; without it, `largest_gpus`",
    ),
    Attribute("load", ("workload",), _NUMBER, math.nan, "jobs per hour, for the column `load` of a sweep"),
    Attribute(
        "checksum",
        ("workload",),
        _TEXT,
        "",
        "SHA-256 of the files that its jobs come from; without it, that of the jobs drawn is recorded",
    ),
    Attribute(
        "files",
        ("reader",),
        _method(),
        None,
        "the files that its jobs are made from, as paths; without it, the one at `path`",
    ),
    Attribute(
        "changes",
        ("compat",),
        _WORDS,
        None,
        "name -> words: what the preset does as the other system does, for `blox compat`",
    ),
    Attribute(
        "speedup",
        ("backend",),
        _ABOVE_0,
        None,
        "simulated seconds per real second, of one that runs in real time: performance models, overheads and "
        "presets do not apply to it, and it cannot be run again up to a time",
    ),
    Attribute(
        "windows",
        ("failures",),
        _method("cluster"),
        None,
        "the times in which nodes are kept for some jobs, or for none (`blox.state.windows.Window`), of a "
        "ClusterSpec: they are planned around",
    ),
    Attribute(
        "known_events",
        ("failures",),
        _method("cluster", "seed", "now"),
        None,
        "its node events as known at `now` (s), in order of time: all up to then, and after it those that "
        "are announced or expected by then. Looks ahead read them; without it they know those up to then "
        "alone",
    ),
    Attribute(
        "job_mtbf",
        ("failures",),
        _MEAN_TIME,
        math.inf,
        "the mean GPU time (GPU-seconds) until a job fails by itself; without it, none does",
    ),
    Attribute(
        "check_round",
        ("failures",),
        _method("round_s"),
        None,
        "raises BloxError for rounds of so many seconds that it cannot work with, before anything runs; not "
        "asked under the events clock",
    ),
)

OPTIONAL: dict[str, Attribute] = {attribute.name: attribute for attribute in _ATTRIBUTES}

_OF_ITS_OWN = ("wraps", "stable_until", "check_with")  # what no other part can say for a part


def declared(part: object, name: str) -> Any:
    """What `part`, an object or a class, says under `name`, or the part that it wraps; or the default.

    Raises BloxError for a value of another form than the declared one, and for a property that fails. A
    method of a user's file is watched.
    """
    attribute, foreign = OPTIONAL[name], is_foreign(part)
    try:
        if foreign:
            with entered(name):
                value = getattr(part, name)
        else:
            value = getattr(part, name)
    except AttributeError as error:
        if not _defines(part, name):
            inner = None if name in _OF_ITS_OWN else declared(part, "wraps")
            return attribute.default if inner is None else declared(inner, name)
        raise _fault(part, f"{name} fails: {error}", attribute) from None
    if value is None or value is attribute.default:
        return attribute.default
    if not attribute.form.fits(value):
        raise _fault(part, f"{name} is {value!r}", attribute)
    return watched(value, name) if foreign and attribute.form.arguments is not None else value


def of_kind(kind: str) -> dict[str, Attribute]:
    """The optional attributes of a kind of part."""
    return {name: attribute for name, attribute in OPTIONAL.items() if kind in attribute.kinds}


def _defines(part: object, name: str) -> bool:
    """Whether a part's class has the attribute, so that its absence is a failure of its own code."""
    cls = part if isinstance(part, type) else type(part)
    return any(name in vars(base) for base in cls.__mro__)


def _fault(part: object, what: str, attribute: Attribute) -> BloxError:
    cls = part if isinstance(part, type) else type(part)
    return BloxError(
        what, where=name_of(cls), fix=f"{attribute.name} must be {attribute.form.words}, or be left out"
    )
